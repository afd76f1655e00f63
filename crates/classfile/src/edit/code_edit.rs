//! Editing a method's code: what may be inserted where, and writing the result.
//!
//! The places of one instruction at bci `b`, in order:
//!
//! 1. *after the instruction before* ([`CodeEdit::after`]; for `b` = 0 the prologue): reached by
//!    falling through, not by jumps to `b`;
//! 2. the label `b`: jumps, exception ranges, line numbers and frames of `b` are here;
//! 3. *before `b`* ([`CodeEdit::before`]): reached either way, the beginning of a block;
//! 4. the instruction, or what replaces it.
//!
//! Inserted code contains no jumps, and frames are patched as [`super::frames`] explains.

use crate::bytes::PutBytes;
use crate::code::{Bci, Code, Handler, Instruction};
use crate::constant_pool::{Index, PoolAdditions};
use crate::edit::asm::Asm;
use crate::edit::attribute_names::{AttributeNames, patch_length};
use crate::edit::edits::Edits;
use crate::edit::frames::{self, Frame, Signature, VerificationType};
use crate::edit::layout::{self, Layout};
use crate::edit::locals::LocalShift;
use crate::edit::moves::{self, Move};
use crate::edit::{far, near, tables};
use crate::error::{ErrorKind, Result};
use crate::mutf8;

/// A handler in the appended code, to be named by [`CodeEdit::catch_all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerId(usize);

/// Edits of one method's code.
#[derive(Debug)]
pub struct CodeEdit<'c, 'a> {
    code: &'c Code<'a>,
    edits: Edits,
    /// Types of the added locals at every frame of the original code.
    added_locals: Vec<VerificationType>,
    handlers: Vec<(Asm, Frame)>,
    ranges: Vec<(Bci, Bci, HandlerId)>,
    extra_stack: u16,
    extra_locals: u16,
    /// Locals that get names all over the code: original slot, name, descriptor.
    named: Vec<(u16, Index, Index)>,
    tells_moves: bool,
}

/// What there is to say of code that was written.
#[derive(Debug, Default)]
pub struct Finished {
    /// Names of attributes that had to be dropped because they are unknown and may hold bytecode
    /// indices.
    pub dropped: Vec<String>,
    /// Where instructions have gone, if [asked for](CodeEdit::tell_moves).
    pub moves: Vec<Move>,
    /// Bytes of instructions.
    pub length: u32,
}

impl<'c, 'a> CodeEdit<'c, 'a> {
    /// Edits of `code`. All locals from slot `at` on move up to make room for `added_locals`, which
    /// every frame then states.
    pub fn new(code: &'c Code<'a>, at: u16, added_locals: &[VerificationType]) -> Self {
        let by = added_locals
            .iter()
            .map(|t| if matches!(t, VerificationType::Long | VerificationType::Double) { 2 } else { 1 })
            .sum();
        CodeEdit {
            code,
            edits: Edits::new(LocalShift { from: at, by }, code.bytes.len()),
            added_locals: added_locals.to_vec(),
            handlers: Vec::new(),
            ranges: Vec::new(),
            extra_stack: 0,
            extra_locals: by,
            named: Vec::new(),
            tells_moves: false,
        }
    }

    /// Has [`CodeEdit::finish`] say where instructions have gone.
    pub fn tell_moves(&mut self) {
        self.tells_moves = true;
    }

    /// Stack slots that inserted code needs above what the original code has on the stack there.
    pub fn need_stack(&mut self, slots: u16) {
        self.extra_stack = self.extra_stack.max(slots);
    }

    /// Locals for inserted code alone, behind all others: no frame states them, so they hold what
    /// they got no further than the next one. The first slot.
    pub fn scratch(&mut self, slots: u16) -> Result<u16> {
        let by = self.edits.shift.by;
        let first = self.code.max_locals.max(self.edits.shift.from).checked_add(by);
        let first = first.filter(|first| first.checked_add(slots).is_some());
        let first = first.ok_or(ErrorKind::TooMany("local variables"))?;
        self.extra_locals = self.extra_locals.max(by + slots);
        Ok(first)
    }

    /// Names an original local all over the code, in a `LocalVariableTable` behind those that there
    /// are: their entries come first to whoever searches.
    pub fn name_local(&mut self, slot: u16, name: Index, descriptor: Index) {
        self.named.push((slot, name, descriptor));
    }

    /// Code that runs once on entry, in front of the label of bci 0.
    pub fn prologue(&mut self, asm: &Asm) {
        self.edits.insert(0, asm);
    }

    /// Code that runs whenever the instruction at `bci` does.
    pub fn before(&mut self, bci: Bci, asm: &Asm) {
        self.edits.insert(u64::from(bci) * 2 + 1, asm);
    }

    /// Code that runs when the instruction has completed and control falls through.
    pub fn after(&mut self, instruction: &Instruction<'_>, asm: &Asm) {
        self.edits.insert(u64::from(instruction.end()) * 2, asm);
    }

    /// Puts something else in place of an instruction, which must not be a jump or switch.
    pub fn replace(&mut self, bci: Bci, asm: &Asm) {
        self.edits.replace(bci, asm);
    }

    /// Appends a handler behind the code. Control gets there only by [`CodeEdit::catch_all`];
    /// `frame` is its whole state (with the thrown object's class on the stack) and its code must
    /// not fall off the end.
    pub fn handler(&mut self, asm: Asm, frame: Frame) -> HandlerId {
        self.handlers.push((asm, frame));
        HandlerId(self.handlers.len() - 1)
    }

    /// Sends every exception thrown between two (original) labels and not caught by the method
    /// itself to a handler. `end` may be the code's length.
    pub fn catch_all(&mut self, start: Bci, end: Bci, handler: HandlerId) {
        self.ranges.push((start, end, handler));
    }

    /// Writes the content of the new `Code` attribute. `signature` is the new method's, whose
    /// initial state may differ from the old one's by added parameters; `old` is the original's.
    pub fn finish(
        mut self,
        old: &Signature<'a>,
        signature: &Signature<'_>,
        names: &mut AttributeNames,
        additions: &mut PoolAdditions,
        out: &mut Vec<u8>,
    ) -> Result<Finished> {
        self.edits.sort();
        // Its head says how long it is, which is known behind it.
        let mut code = Vec::with_capacity(2 * self.code.bytes.len() + self.edits.length() + 16);
        let layout = match near::write(self.code, &self.edits, &mut code)? {
            Some(layout) => layout,
            None => {
                let layout = Layout::compute(self.code, &self.edits)?;
                far::write(self.code, &self.edits, &layout, &mut code)?;
                layout
            }
        };
        debug_assert_eq!(code.len(), layout.length as usize);
        let mut entries = Vec::with_capacity(self.handlers.len());
        for (asm, _) in &self.handlers {
            entries.push(code.len() as Bci);
            code.extend_from_slice(&asm.bytes);
        }
        if code.len() > 65535 {
            return Err(ErrorKind::MethodTooLarge(code.len()).into());
        }
        let length = code.len() as u32;
        let stack =
            self.code.max_stack.checked_add(self.extra_stack).ok_or(ErrorKind::TooMany("stack slots"))?;
        let locals = self.code.max_locals.max(self.edits.shift.from).checked_add(self.extra_locals);
        let locals = locals.ok_or(ErrorKind::TooMany("local variables"))?;
        // Tables get a little longer, handlers come in, and frames.
        out.reserve(code.len() + 2 * self.code.attributes.raw.len() + 8 * self.ranges.len() + 128);
        names.version.put_code_head(stack, locals, length, out)?;
        out.extend_from_slice(&code);
        self.write_exception_table(&layout, &entries, out)?;
        let dropped =
            self.write_attributes(old, signature, &layout, &entries, length, names, additions, out)?;
        let moves = if self.tells_moves { moves::of(self.code, &self.edits, &layout)? } else { Vec::new() };
        Ok(Finished { dropped, moves, length })
    }

    fn write_exception_table(&self, layout: &Layout, entries: &[Bci], out: &mut Vec<u8>) -> Result<()> {
        let count_at = out.len();
        out.put2(0);
        let trampolines = layout.trampolines();
        let mut count = 0u16;
        let mut range =
            |start: Bci, end: Bci, handler: Bci, catch_type: Index, out: &mut Vec<u8>| -> Result<()> {
                layout::ranges_without(&trampolines, start, end, |from, to| {
                    // At once: thousands of ranges with thousands of holes each would be gigabytes.
                    count = count.checked_add(1).ok_or(ErrorKind::TooMany("exception handlers"))?;
                    out.put2(from as u16);
                    out.put2(to as u16);
                    out.put2(handler as u16);
                    out.put2(catch_type);
                    Ok(())
                })
            };
        for entry in &self.code.handlers {
            let [start, end, handler] =
                [layout.label(entry.start)?, layout.label(entry.end)?, layout.label(entry.handler)?];
            if is_resumed(entry, layout)? {
                let behind = layout.instruction(entry.handler)?;
                range(start, handler, handler, entry.catch_type, out)?;
                range(handler, behind, behind, entry.catch_type, out)?;
                range(behind, end, handler, entry.catch_type, out)?;
            } else {
                range(start, end, handler, entry.catch_type, out)?;
            }
        }
        // Behind the method's own: the first entry that matches is taken (JVMS 2.10).
        for &(start, end, handler) in &self.ranges {
            range(layout.label(start)?, layout.label(end)?, entries[handler.0], 0, out)?;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn write_attributes(
        &self,
        old: &Signature<'a>,
        signature: &Signature<'_>,
        layout: &Layout,
        entries: &[Bci],
        length: u32,
        names: &mut AttributeNames,
        additions: &mut PoolAdditions,
        out: &mut Vec<u8>,
    ) -> Result<Vec<String>> {
        let count_at = out.len();
        out.put2(0);
        let mut count = 0u16;
        let mut dropped = Vec::new();
        let mut old_frames = None;
        for attribute in self.code.attributes.iter() {
            if attribute.name == b"StackMapTable" {
                // Before version 50 the attribute means nothing, whatever it holds.
                if names.version.has_frames() {
                    names.stack_map_table = Some(attribute.name_index);
                    old_frames = Some(attribute);
                }
                continue;
            }
            let start = out.len();
            out.put2(attribute.name_index);
            out.put4(0);
            let shift = self.edits.shift;
            match attribute.name {
                b"LineNumberTable" => {
                    names.line_number_table = Some(attribute.name_index);
                    tables::line_numbers(attribute, layout, out)?;
                }
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    tables::local_variables(attribute, layout, shift, out)?;
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    tables::type_annotations(attribute, layout, shift, out)?;
                }
                unknown => {
                    out.truncate(start);
                    dropped.push(mutf8::decode_lossy(unknown).into_owned());
                    continue;
                }
            }
            patch_length(out, start);
            count += 1;
        }
        if !self.named.is_empty() {
            let start = out.len();
            out.put2(additions.utf8(b"LocalVariableTable")?);
            out.put4(0);
            out.put2(self.named.len() as u16);
            for &(slot, name, descriptor) in &self.named {
                for part in [0, length as u16, name, descriptor, self.edits.shift.apply(slot, false)?] {
                    out.put2(part);
                }
            }
            patch_length(out, start);
            count += 1;
        }
        let table = if names.version.has_frames() {
            self.frames(old, signature, layout, entries, old_frames, additions)?
        } else {
            None
        };
        if let Some(table) = table {
            out.put2(names.stack_map_table(additions)?);
            out.put4(table.len() as u32);
            out.extend_from_slice(&table);
            count += 1;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(dropped)
    }

    /// The new StackMapTable.
    fn frames(
        &self,
        old: &Signature<'a>,
        signature: &Signature<'_>,
        layout: &Layout,
        entries: &[Bci],
        table: Option<&crate::class::Attribute<'a>>,
        additions: &mut PoolAdditions,
    ) -> Result<Option<Vec<u8>>> {
        if table.is_none() && self.handlers.is_empty() {
            return Ok(None);
        }
        let mut writer = frames::Writer::new(signature, layout);
        let resumed = self.resumed(layout)?;
        if let Some(attribute) = table {
            let mut states = frames::States::of(attribute.cursor(), old.initial_locals())?;
            if layout.far.is_empty() {
                self.move_frames(states, &resumed, &mut writer, layout, additions)?
            } else {
                let mut all = Vec::new();
                while let Some(bci) = states.next()? {
                    all.push((bci, states.frame.clone()));
                }
                self.place_frames(all, &resumed, &mut writer, layout, additions)?;
            }
        }
        // Handlers are behind everything else.
        for ((_, frame), &at) in self.handlers.iter().zip(entries) {
            writer.frame(at, &frame.locals, &frame.stack, additions)?;
        }
        Ok(writer.finish())
    }

    /// The handlers that go on behind what was inserted in front of them, where that throws:
    /// ascending.
    fn resumed(&self, layout: &Layout) -> Result<Vec<Bci>> {
        let mut resumed = Vec::new();
        for entry in &self.code.handlers {
            if is_resumed(entry, layout)? {
                resumed.push(entry.handler);
            }
        }
        resumed.sort_unstable();
        resumed.dedup();
        Ok(resumed)
    }

    /// Frames where no jump is far: they stay in their order.
    fn move_frames(
        &self,
        mut states: frames::States<'_>,
        resumed: &[Bci],
        writer: &mut frames::Writer<'_, '_>,
        layout: &Layout,
        additions: &mut PoolAdditions,
    ) -> Result<()> {
        let mut locals = Vec::new();
        while let Some(bci) = states.next()? {
            locals.clear();
            let before = &states.frame.locals;
            frames::with_locals(before, self.edits.shift.from, &self.added_locals, &mut locals)?;
            writer.frame(layout.label(bci)?, &locals, &states.frame.stack, additions)?;
            if resumed.binary_search(&bci).is_ok() {
                writer.frame(layout.instruction(bci)?, &locals, &states.frame.stack, additions)?;
            }
        }
        Ok(())
    }

    /// Frames, and those of trampolines, which have the state of what they lead to.
    fn place_frames(
        &self,
        mut states: Vec<(Bci, Frame)>,
        resumed: &[Bci],
        writer: &mut frames::Writer<'_, '_>,
        layout: &Layout,
        additions: &mut PoolAdditions,
    ) -> Result<()> {
        for (_, frame) in &mut states {
            frames::insert_locals(&mut frame.locals, self.edits.shift.from, &self.added_locals)?;
        }
        let mut placed = Vec::with_capacity(states.len());
        for far in &layout.far {
            let Some((_, at)) = far.trampoline else { continue };
            let target = self.code.instruction_at(far.bci).and_then(|i| i.target());
            let target = target.ok_or(ErrorKind::BadTarget(far.bci))?;
            let state = states.binary_search_by_key(&target, |(bci, _)| *bci);
            let state = state.map_err(|_| ErrorKind::JumpTooFar(far.bci))?;
            placed.push((at, states[state].1.clone()));
        }
        for (bci, frame) in states {
            if resumed.binary_search(&bci).is_ok() {
                placed.push((layout.instruction(bci)?, frame.clone()));
            }
            placed.push((layout.label(bci)?, frame));
        }
        placed.sort_by_key(|(at, _)| *at);
        for (at, frame) in placed {
            writer.frame(at, &frame.locals, &frame.stack, additions)?;
        }
        Ok(())
    }
}

/// Whether an entry covers code that was inserted in front of its own handler. Compilers have the
/// handler of a `finally` cover its first instruction, and that of a `synchronized` block cover
/// everything up to the unlocking. What is inserted calls: near the end of the stack it throws, and
/// the JVM would come back to it, and make room by no more than before, for ever. So what it throws
/// goes on behind it.
fn is_resumed(entry: &Handler, layout: &Layout) -> Result<bool> {
    let covers_itself = (entry.start..entry.end).contains(&entry.handler);
    Ok(covers_itself && layout.label(entry.handler)? < layout.instruction(entry.handler)?)
}

#[cfg(test)]
mod tests;
