//! Editing a method's code: what may be inserted where, and writing the result.
//!
//! The places of one instruction at bci `b`, in order:
//!
//! 1. *after the instruction before* ([`CodeEdit::after`]; for `b` = 0 the prologue): reached by falling through, not by jumps to `b`;
//! 2. the label `b`: jumps, exception ranges, line numbers and frames of `b` are here;
//! 3. *before `b`* ([`CodeEdit::before`]): reached either way, the beginning of a block;
//! 4. the instruction, or what replaces it.
//!
//! Inserted code contains no jumps, and frames are patched as [`super::frames`] explains.

use crate::bytes::PutBytes;
use crate::code::{Bci, Code, Handler, Instruction};
use crate::constant_pool::{Index, PoolAdditions};
use crate::edit::asm::Asm;
use crate::edit::frames::{self, Frame, Signature, VerificationType};
use crate::edit::layout::{self, Layout};
use crate::edit::moves::{self, Move};
use crate::edit::near;
use crate::edit::tables;
use crate::error::{Error, ErrorKind, Result};
use crate::mutf8;
use crate::opcode;

/// Locals with an index of `from` or more move up by `by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalShift {
    from: u16,
    by: u16,
}

impl LocalShift {
    /// The new index of a local of one or two slots.
    #[inline]
    pub(crate) fn apply(self, local: u16, two: bool) -> Result<u16> {
        if local >= self.from {
            return local.checked_add(self.by).ok_or_else(|| ErrorKind::TooMany("local variables").into());
        }
        if two && local + 1 >= self.from && self.by > 0 {
            return Err(ErrorKind::StraddlingLocal(local).into());
        }
        Ok(local)
    }
}

/// Code inserted at a place: `key` is twice the bci, plus one behind the label.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) key: u64,
    start: u32,
    end: u32,
}

impl Piece {
    pub(crate) fn length(&self) -> u32 {
        self.end - self.start
    }
}

/// An instruction's replacement.
#[derive(Debug)]
pub(crate) struct Replacement {
    pub(crate) bci: Bci,
    start: u32,
    end: u32,
}

impl Replacement {
    pub(crate) fn length(&self) -> u32 {
        self.end - self.start
    }
}

/// All edits of a method, sorted before layout.
#[derive(Debug)]
pub(crate) struct Edits {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) shift: LocalShift,
    bytes: Vec<u8>,
}

impl Edits {
    pub(crate) fn piece(&self, piece: &Piece) -> &[u8] {
        &self.bytes[piece.start as usize..piece.end as usize]
    }

    pub(crate) fn replacement(&self, replacement: &Replacement) -> &[u8] {
        &self.bytes[replacement.start as usize..replacement.end as usize]
    }
}

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
    /// Names of attributes that had to be dropped because they are unknown and may hold bytecode indices.
    pub dropped: Vec<String>,
    /// Where instructions have gone, if [asked for](CodeEdit::tell_moves).
    pub moves: Vec<Move>,
    /// Bytes of instructions.
    pub length: u32,
}

impl<'c, 'a> CodeEdit<'c, 'a> {
    /// Edits of `code`. All locals from slot `at` on move up to make room for `added_locals`, which every frame then states.
    pub fn new(code: &'c Code<'a>, at: u16, added_locals: &[VerificationType]) -> Self {
        let by = added_locals
            .iter()
            .map(|t| if matches!(t, VerificationType::Long | VerificationType::Double) { 2 } else { 1 })
            .sum();
        CodeEdit {
            code,
            edits: Edits {
                pieces: Vec::with_capacity(8),
                replacements: Vec::new(),
                shift: LocalShift { from: at, by },
                bytes: Vec::with_capacity(64 + code.bytes.len()),
            },
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

    /// Locals for inserted code alone, behind all others: no frame states them, so they hold what they got no further than the next one. The first slot.
    pub fn scratch(&mut self, slots: u16) -> Result<u16> {
        let by = self.edits.shift.by;
        let first = self.code.max_locals.max(self.edits.shift.from).checked_add(by);
        let first = first.filter(|first| first.checked_add(slots).is_some());
        let first = first.ok_or(ErrorKind::TooMany("local variables"))?;
        self.extra_locals = self.extra_locals.max(by + slots);
        Ok(first)
    }

    /// Names an original local all over the code, in a `LocalVariableTable` behind those that there are: their entries come first to whoever
    /// searches.
    pub fn name_local(&mut self, slot: u16, name: Index, descriptor: Index) {
        self.named.push((slot, name, descriptor));
    }

    fn keep(&mut self, asm: &Asm) -> (u32, u32) {
        let start = self.edits.bytes.len() as u32;
        self.edits.bytes.extend_from_slice(&asm.bytes);
        (start, self.edits.bytes.len() as u32)
    }

    fn insert(&mut self, key: u64, asm: &Asm) {
        let (start, end) = self.keep(asm);
        self.edits.pieces.push(Piece { key, start, end });
    }

    /// Code that runs once on entry, in front of the label of bci 0.
    pub fn prologue(&mut self, asm: &Asm) {
        self.insert(0, asm);
    }

    /// Code that runs whenever the instruction at `bci` does.
    pub fn before(&mut self, bci: Bci, asm: &Asm) {
        self.insert(u64::from(bci) * 2 + 1, asm);
    }

    /// Code that runs when the instruction has completed and control falls through.
    pub fn after(&mut self, instruction: &Instruction<'_>, asm: &Asm) {
        self.insert(u64::from(instruction.end()) * 2, asm);
    }

    /// Puts something else in place of an instruction, which must not be a jump or switch.
    pub fn replace(&mut self, bci: Bci, asm: &Asm) {
        let (start, end) = self.keep(asm);
        self.edits.replacements.push(Replacement { bci, start, end });
    }

    /// Appends a handler behind the code. Control gets there only by [`CodeEdit::catch_all`]; `frame` is its whole state (with the thrown
    /// object's class on the stack) and its code must not fall off the end.
    pub fn handler(&mut self, asm: Asm, frame: Frame) -> HandlerId {
        self.handlers.push((asm, frame));
        HandlerId(self.handlers.len() - 1)
    }

    /// Sends every exception thrown between two (original) labels and not caught by the method itself to a handler. `end` may be the
    /// code's length.
    pub fn catch_all(&mut self, start: Bci, end: Bci, handler: HandlerId) {
        self.ranges.push((start, end, handler));
    }

    /// Writes the content of the new `Code` attribute. `signature` is the new method's, whose initial state may differ from the
    /// old one's by added parameters; `old` is the original's.
    pub fn finish(
        mut self,
        old: &Signature<'a>,
        signature: &Signature<'_>,
        names: &mut AttributeNames,
        additions: &mut PoolAdditions,
        out: &mut Vec<u8>,
    ) -> Result<Finished> {
        // Stable: pieces of one place stay in the order in which they were inserted.
        self.edits.pieces.sort_by_key(|p| p.key);
        self.edits.replacements.sort_by_key(|r| r.bci);
        // Its head says how long it is, which is known behind it.
        let mut code = Vec::with_capacity(2 * self.code.bytes.len() + self.edits.bytes.len() + 16);
        let layout = match near::write(self.code, &self.edits, &mut code)? {
            Some(layout) => layout,
            None => {
                let layout = Layout::compute(self.code, &self.edits)?;
                self.write_instructions(&layout, &mut code)?;
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

    fn write_instructions(&self, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
        let begin = out.len();
        let mut pieces = self.edits.pieces.iter().peekable();
        let mut replaced = self.edits.replacements.iter().peekable();
        let bytes = &self.edits.bytes;
        let mut write_pieces = |out: &mut Vec<u8>, key: u64| {
            while let Some(p) = pieces.next_if(|p| p.key <= key) {
                out.extend_from_slice(&bytes[p.start as usize..p.end as usize]);
            }
        };
        for instruction in self.code.instructions() {
            let bci = instruction.bci;
            write_pieces(out, u64::from(bci) * 2);
            self.write_trampolines(bci, layout, out)?;
            write_pieces(out, u64::from(bci) * 2 + 1);
            match replaced.next_if(|r| r.bci == bci) {
                Some(r) => out.extend_from_slice(&bytes[r.start as usize..r.end as usize]),
                None => self.write_instruction(&instruction, layout, begin, out)?,
            }
        }
        let end = self.code.length();
        write_pieces(out, u64::from(end) * 2);
        self.write_trampolines(end, layout, out)
    }

    fn write_trampolines(&self, gap: Bci, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
        for far in &layout.far {
            if let Some((place, at)) = far.trampoline
                && place == gap
            {
                let jump = self.code.instruction_at(far.bci).and_then(|i| i.target());
                let target = layout.label(jump.ok_or(ErrorKind::BadTarget(far.bci))?)?;
                out.put1(opcode::GOTO_W);
                out.put4(target.wrapping_sub(at));
            }
        }
        Ok(())
    }

    fn write_instruction(
        &self,
        instruction: &Instruction<'_>,
        layout: &Layout,
        begin: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let at = (out.len() - begin) as u32;
        if let Some((local, two)) = instruction.local() {
            let new = self.edits.shift.apply(local, two)?;
            if new != local {
                write_shifted(instruction, new, out);
                return Ok(());
            }
        } else if let Some(target) = instruction.target() {
            return self.write_jump(instruction, target, at, layout, out);
        } else if let Some(switch) = instruction.switch() {
            out.put1(instruction.opcode);
            out.extend(std::iter::repeat_n(0, 3 - at as usize % 4));
            out.put4(layout.label(switch.default_target())?.wrapping_sub(at));
            match switch.low {
                Some(low) => {
                    out.put4(low as u32);
                    out.put4(low.wrapping_add(switch.len() as i32 - 1) as u32);
                }
                None => out.put4(switch.len() as u32),
            }
            for (case, target) in switch.cases() {
                if switch.low.is_none() {
                    out.put4(case as u32);
                }
                out.put4(layout.label(target)?.wrapping_sub(at));
            }
            return Ok(());
        }
        out.extend_from_slice(instruction.bytes);
        Ok(())
    }

    fn write_jump(
        &self,
        instruction: &Instruction<'_>,
        target: Bci,
        at: u32,
        layout: &Layout,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut to = layout.label(target)?;
        let mut opcode = instruction.opcode;
        if let Some(far) = layout.far_jump(instruction.bci) {
            match far.trampoline {
                Some((_, trampoline)) => to = trampoline,
                None => opcode = if opcode == opcode::GOTO { opcode::GOTO_W } else { opcode::JSR_W },
            }
        }
        out.put1(opcode);
        let offset = i64::from(to) - i64::from(at);
        if matches!(opcode, opcode::GOTO_W | opcode::JSR_W) {
            out.put4(offset as i32 as u32);
        } else {
            out.put2(i16::try_from(offset).map_err(|_| ErrorKind::JumpTooFar(instruction.bci))? as u16);
        }
        Ok(())
    }

    fn write_exception_table(&self, layout: &Layout, entries: &[Bci], out: &mut Vec<u8>) -> Result<()> {
        let count_at = out.len();
        out.put2(0);
        let trampolines = layout.trampolines();
        let mut count = 0u16;
        let mut range =
            |start: Bci, end: Bci, handler: Bci, catch_type: Index, out: &mut Vec<u8>| -> Result<()> {
                let (start, end) = (layout.label(start)?, layout.label(end)?);
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
        for &Handler { start, end, handler, catch_type } in &self.code.handlers {
            range(start, end, layout.label(handler)?, catch_type, out)?;
        }
        // Behind the method's own: the first entry that matches is taken (JVMS 2.10).
        for &(start, end, handler) in &self.ranges {
            range(start, end, entries[handler.0], 0, out)?;
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
        let table = match names.version.has_frames() {
            true => self.frames(old, signature, layout, entries, old_frames, additions)?,
            false => None,
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
        if let Some(attribute) = table {
            let mut states = frames::States::of(attribute.cursor(), old.initial_locals())?;
            match layout.far.is_empty() {
                true => self.move_frames(states, &mut writer, layout, additions)?,
                false => {
                    let mut all = Vec::new();
                    while let Some(bci) = states.next()? {
                        all.push((bci, states.frame.clone()));
                    }
                    self.place_frames(all, &mut writer, layout, additions)?;
                }
            }
        }
        // Handlers are behind everything else.
        for ((_, frame), &at) in self.handlers.iter().zip(entries) {
            writer.frame(at, &frame.locals, &frame.stack, additions)?;
        }
        Ok(writer.finish())
    }

    /// Frames where no jump is far: they stay in their order.
    fn move_frames(
        &self,
        mut states: frames::States<'_>,
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
        }
        Ok(())
    }

    /// Frames, and those of trampolines, which have the state of what they lead to.
    fn place_frames(
        &self,
        mut states: Vec<(Bci, Frame)>,
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
            placed.push((layout.label(bci)?, frame));
        }
        placed.sort_by_key(|(at, _)| *at);
        for (at, frame) in placed {
            writer.frame(at, &frame.locals, &frame.stack, additions)?;
        }
        Ok(())
    }
}

/// An instruction with another local variable.
pub(crate) fn write_shifted(instruction: &Instruction<'_>, new: u16, out: &mut Vec<u8>) {
    use opcode::*;
    let short = |general: Opcode, short: Opcode, op: Opcode| {
        if op >= short { general + (op - short) / 4 } else { op }
    };
    let general = match instruction.opcode {
        op @ ILOAD..=ALOAD_3 => short(ILOAD, ILOAD_0, op),
        op @ ISTORE..=ASTORE_3 => short(ISTORE, ISTORE_0, op),
        op => op,
    };
    match general {
        IINC => {
            let constant = if instruction.is_wide() {
                i16::from_be_bytes([instruction.bytes[4], instruction.bytes[5]])
            } else {
                i16::from(instruction.bytes[2] as i8)
            };
            if new <= 255 && layout::iinc_is_short(instruction) {
                out.extend([IINC, new as u8, constant as i8 as u8]);
            } else {
                out.extend([WIDE, IINC]);
                out.put2(new);
                out.put2(constant as u16);
            }
        }
        _ if new <= 3 && general != RET => {
            let (base, first) = if general >= ISTORE { (ISTORE, ISTORE_0) } else { (ILOAD, ILOAD_0) };
            out.put1(first + 4 * (general - base) + new as u8);
        }
        _ if new <= 255 => out.extend([general, new as u8]),
        _ => {
            out.extend([WIDE, general]);
            out.put2(new);
        }
    }
}

/// Fills in the length of an attribute that begins at `start` and ends with `out`.
pub(crate) fn patch_length(out: &mut [u8], start: usize) {
    let length = (out.len() - start - 6) as u32;
    out[start + 2..start + 6].copy_from_slice(&length.to_be_bytes());
}

/// The version of a class file, as far as code is written differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Version {
    /// `major_version`.
    pub major: u16,
    /// `minor_version`.
    pub minor: u16,
}

impl Version {
    /// Whether code has a StackMapTable (JVMS 4.10.1: since version 50).
    pub fn has_frames(self) -> bool {
        self.major >= 50
    }

    /// Writes `max_stack`, `max_locals` and `code_length`, which are narrower before version 45.3.
    pub fn put_code_head(
        self,
        max_stack: u16,
        max_locals: u16,
        length: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if (self.major, self.minor) >= (45, 3) {
            out.put2(max_stack);
            out.put2(max_locals);
            out.put4(length);
            return Ok(());
        }
        let narrow = |n: u16, what| u8::try_from(n).map_err(|_| Error::new(ErrorKind::TooMany(what)));
        out.put1(narrow(max_stack, "stack slots for a class file before version 45.3")?);
        out.put1(narrow(max_locals, "local variables for a class file before version 45.3")?);
        out.put2(u16::try_from(length).map_err(|_| Error::new(ErrorKind::MethodTooLarge(length as usize)))?);
        Ok(())
    }
}

/// What writing code must know of its class: the version, and the indices of attribute names.
#[derive(Debug, Default)]
pub struct AttributeNames {
    /// The version the class will have.
    pub version: Version,
    /// `StackMapTable`, once it was met or made.
    pub(crate) stack_map_table: Option<Index>,
    /// `Code`.
    pub(crate) code: Option<Index>,
    /// `LineNumberTable`, once it was met or made.
    pub(crate) line_number_table: Option<Index>,
}

impl AttributeNames {
    /// The index of `StackMapTable`.
    pub fn stack_map_table(&mut self, additions: &mut PoolAdditions) -> Result<Index> {
        cached(&mut self.stack_map_table, || additions.utf8(b"StackMapTable"))
    }

    /// The index of `Code`.
    pub fn code(&mut self, additions: &mut PoolAdditions) -> Result<Index> {
        cached(&mut self.code, || additions.utf8(b"Code"))
    }

    /// The index of `LineNumberTable`.
    pub fn line_number_table(&mut self, additions: &mut PoolAdditions) -> Result<Index> {
        cached(&mut self.line_number_table, || additions.utf8(b"LineNumberTable"))
    }
}

fn cached(slot: &mut Option<Index>, make: impl FnOnce() -> Result<Index>) -> Result<Index> {
    match *slot {
        Some(index) => Ok(index),
        None => Ok(*slot.insert(make()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::ClassFile;
    use crate::edit::asm::Kind;
    use crate::opcode::*;

    /// A class with one static method of this code.
    fn class(code: &[u8]) -> Vec<u8> {
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49];
        out.put2(8);
        for text in ["A", "java/lang/Object", "m", "()V", "Code"] {
            out.put1(1);
            out.put2(text.len() as u16);
            out.extend(text.bytes());
        }
        for name in [1, 2] {
            out.put1(7);
            out.put2(name);
        }
        [1, 6, 7, 0, 0, 1, 8, 3, 4, 1, 5].iter().for_each(|&number| out.put2(number));
        out.put4(12 + code.len() as u32);
        out.put2(9);
        out.put2(400);
        out.put4(code.len() as u32);
        out.extend(code);
        [0, 0, 0].iter().for_each(|&number| out.put2(number));
        out
    }

    /// What is written in one go is what a layout made beforehand gives, wherever something is inserted.
    #[test]
    fn near_code_is_written_as_far_code_is() {
        let mut code = vec![GOTO, 0, 4, NOP, ILOAD_0, IFEQ, 0xFF, 0xFE, LSTORE_2, WIDE, IINC, 1, 0, 0, 9];
        // A tableswitch of two, padded, at 16, and a lookupswitch of one behind it, at 40; both lead to the beginning and the end.
        code.extend([NOP, TABLESWITCH, 0, 0, 0]);
        [60 - 16, 3, 4, 16_u32.wrapping_neg(), 60 - 16].iter().for_each(|&word| code.put4(word));
        code.extend([LOOKUPSWITCH, 0, 0, 0]);
        [40_u32.wrapping_neg(), 1, 7, 60 - 40].iter().for_each(|&word| code.put4(word));
        code.extend([ALOAD, 200, GOTO_W, 0, 0, 0, 5, RETURN]);
        let bytes = class(&code);
        let class = ClassFile::parse(&bytes).unwrap();
        let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        let starts: Vec<Bci> = code.instructions().map(|i| i.bci).collect();
        for at in 0..=4 {
            for &bci in &starts {
                let mut edit = CodeEdit::new(&code, at, &[VerificationType::Long]);
                let mut asm = Asm::new();
                asm.load(Kind::Long, at).op(POP2);
                edit.prologue(&asm);
                edit.before(bci, &asm);
                edit.after(&code.instruction_at(bci).unwrap(), &asm);
                if !opcode::has_targets(code.instruction_at(bci).unwrap().opcode) {
                    edit.replace(bci, asm.op(NOP));
                }
                edit.edits.pieces.sort_by_key(|p| p.key);
                let (mut near, mut far) = (vec![1, 2, 3], Vec::new());
                let laid_out = Layout::compute(&code, &edit.edits)
                    .and_then(|layout| edit.write_instructions(&layout, &mut far).map(|()| layout));
                let written = near::write(&code, &edit.edits, &mut near);
                match (written, laid_out) {
                    (Ok(Some(written)), Ok(laid_out)) => {
                        assert_eq!(near[3..], far, "{at} {bci}");
                        assert_eq!(format!("{written:?}"), format!("{laid_out:?}"), "{at} {bci}");
                    }
                    (Err(near), Err(far)) => assert_eq!(near, far),
                    other => panic!("{at} {bci}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn what_is_too_long_for_short_jumps_is_left_to_the_layout() {
        let bytes = class(&[NOP, RETURN]);
        let class = ClassFile::parse(&bytes).unwrap();
        let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        let length = |inserted: usize| {
            let mut edit = CodeEdit::new(&code, 0, &[]);
            edit.before(0, &Asm { bytes: vec![NOP; inserted] });
            let mut out = vec![7];
            let layout = near::write(&code, &edit.edits, &mut out).unwrap();
            assert_eq!(out.len(), 1 + layout.as_ref().map_or(0, |layout| layout.length as usize));
            layout.map(|layout| layout.length as usize)
        };
        assert_eq!(length(near::REACH - 2), Some(near::REACH));
        assert_eq!(length(near::REACH - 1), None);
    }

    #[test]
    fn code_before_version_45_3_has_a_narrow_head() {
        let head = |minor, locals| {
            let mut out = Vec::new();
            Version { major: 45, minor }.put_code_head(1, locals, 3, &mut out).map(|()| out)
        };
        assert_eq!(head(3, 2).unwrap(), [0, 1, 0, 2, 0, 0, 0, 3]);
        assert_eq!(head(2, 2).unwrap(), [1, 2, 0, 3]);
        assert!(head(2, 256).is_err());
    }
}
