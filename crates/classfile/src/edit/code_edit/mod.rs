//! The edit of a method's code: the positions for inserted code, and the writing of the result.
//!
//! The positions of one instruction at bci `b`, in order:
//!
//! 1. *after the instruction before* ([`CodeEdit::after`]; for `b` = 0 the prologue): reached by
//!    falling through, not by jumps to `b`;
//! 2. the label `b`: jumps, exception ranges, line numbers and frames of `b` refer to it;
//! 3. *before `b`* ([`CodeEdit::before`]): reached either way, the beginning of a block;
//! 4. the instruction, or its replacement.
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

/// A handler in the appended code, for [`CodeEdit::catch_all`].
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
    /// Locals that get names throughout the code: original slot, name, descriptor.
    named: Vec<(u16, Index, Index)>,
    reports_moves: bool,
}

/// Results of writing edited code.
#[derive(Debug, Default)]
pub struct CodeChanges {
    /// Names of omitted attributes: unknown ones that may hold bytecode indices.
    pub dropped: Vec<String>,
    /// New positions of instructions, if [requested](CodeEdit::report_moves).
    pub moves: Vec<Move>,
    /// Length of the instructions in bytes.
    pub length: u32,
}

impl<'c, 'a> CodeEdit<'c, 'a> {
    /// An edit of `code`. All locals from slot `at` on move up to make room for `added_locals`,
    /// which every frame then states.
    pub fn new(code: &'c Code<'a>, at: u16, added_locals: &[VerificationType]) -> Self {
        let by = added_locals
            .iter()
            .map(|t| if matches!(t, VerificationType::Long | VerificationType::Double) { 2 } else { 1 })
            .sum();
        CodeEdit {
            code,
            edits: Edits::new(LocalShift { from: at, by }, code),
            added_locals: added_locals.to_vec(),
            handlers: Vec::new(),
            ranges: Vec::new(),
            extra_stack: 0,
            extra_locals: by,
            named: Vec::new(),
            reports_moves: false,
        }
    }

    /// Makes [`CodeEdit::finish`] report the new positions of instructions.
    pub fn report_moves(&mut self) {
        self.reports_moves = true;
    }

    /// Declares the number of stack slots that inserted code needs on top of the original code's.
    pub fn need_stack(&mut self, slots: u16) {
        self.extra_stack = self.extra_stack.max(slots);
    }

    /// Reserves locals for inserted code alone, after all others. No frame states them, so their
    /// values last only up to the next frame. Returns the first slot.
    pub fn scratch(&mut self, slots: u16) -> Result<u16> {
        let by = self.edits.shift.by;
        let first = self.code.max_locals.max(self.edits.shift.from).checked_add(by);
        let first = first.filter(|first| first.checked_add(slots).is_some());
        let first = first.ok_or(ErrorKind::TooMany("local variables"))?;
        self.extra_locals = self.extra_locals.max(by + slots);
        Ok(first)
    }

    /// Names an original local throughout the code, in a `LocalVariableTable` after the existing
    /// ones, whose entries searches find first.
    pub fn name_local(&mut self, slot: u16, name: Index, descriptor: Index) {
        self.named.push((slot, name, descriptor));
    }

    /// Inserts code that runs once on entry, before the label of bci 0.
    pub fn prologue(&mut self, asm: &Asm) {
        self.edits.insert(0, asm);
    }

    /// Inserts code that runs each time before the instruction at `bci`.
    pub fn before(&mut self, bci: Bci, asm: &Asm) {
        self.edits.insert(u64::from(bci) * 2 + 1, asm);
    }

    /// Inserts code that runs when the instruction has completed and control falls through.
    pub fn after(&mut self, instruction: &Instruction<'_>, asm: &Asm) {
        self.edits.insert(u64::from(instruction.end()) * 2, asm);
    }

    /// Replaces an instruction, which must not be a jump or switch.
    pub fn replace(&mut self, bci: Bci, asm: &Asm) {
        self.edits.replace(bci, asm);
    }

    /// Appends a handler to the code. Control reaches it only through [`CodeEdit::catch_all`].
    /// `frame` is its whole state (with the thrown object's class on the stack), and its code must
    /// not fall off the end.
    pub fn handler(&mut self, asm: Asm, frame: Frame) -> HandlerId {
        self.handlers.push((asm, frame));
        HandlerId(self.handlers.len() - 1)
    }

    /// Leads every exception between two original labels that the method itself does not catch to a
    /// handler. `end` may be the code's length.
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
    ) -> Result<CodeChanges> {
        self.edits.sort();
        // Its head states its length, which is known only afterwards.
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
        // Tables get slightly longer, and handlers and frames are added.
        out.reserve(code.len() + 2 * self.code.attributes.raw.len() + 8 * self.ranges.len() + 128);
        names.version.put_code_head(stack, locals, length, out)?;
        out.extend_from_slice(&code);
        self.write_exception_table(&layout, &entries, out)?;
        let dropped =
            self.write_attributes(old, signature, &layout, &entries, length, names, additions, out)?;
        let moves = if self.reports_moves { moves::of(self.code, &self.edits, &layout)? } else { Vec::new() };
        Ok(CodeChanges { dropped, moves, length })
    }

    fn write_exception_table(&self, layout: &Layout, entries: &[Bci], out: &mut Vec<u8>) -> Result<()> {
        let count_at = out.len();
        out.put2(0);
        let trampolines = layout.trampolines();
        let mut count = 0u16;
        let mut range =
            |start: Bci, end: Bci, handler: Bci, catch_type: Index, out: &mut Vec<u8>| -> Result<()> {
                layout::ranges_without(&trampolines, start, end, |from, to| {
                    // Fail at once: thousands of ranges with thousands of holes each would be
                    // gigabytes.
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
        // After the method's own entries: the first entry that matches wins (JVMS 2.10).
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
                // Before version 50 the attribute has no meaning.
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
                    dropped.push(mutf8::lossy(unknown));
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
        // Handlers follow all other code.
        for ((_, frame), &at) in self.handlers.iter().zip(entries) {
            writer.frame(at, &frame.locals, &frame.stack, additions)?;
        }
        Ok(writer.finish())
    }

    /// The handlers that resume after the code inserted before them if that code throws, ascending.
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

    /// Moves frames in code without far jumps: they stay in order.
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

    /// Places frames, and those of trampolines, which have the state of their targets.
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

/// Whether an entry covers code that was inserted before its own handler. Compilers let the handler
/// of a `finally` cover its first instruction, and that of a `synchronized` block cover everything
/// up to the unlocking. Inserted code calls methods: near the end of the stack it throws, and the
/// JVM would return to it with no more room than before, forever. So after such an exception the
/// handler resumes after the inserted code.
fn is_resumed(entry: &Handler, layout: &Layout) -> Result<bool> {
    let covers_itself = (entry.start..entry.end).contains(&entry.handler);
    Ok(covers_itself && layout.label(entry.handler)? < layout.instruction(entry.handler)?)
}

#[cfg(test)]
mod tests;
