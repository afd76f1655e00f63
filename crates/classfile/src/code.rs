//! The `Code` attribute (JVMS 4.7.3) and its instructions.

use crate::bytes::{Cursor, u2_at, u4_at};
use crate::class::{Attributes, ClassFile, Member};
use crate::constant_pool::Index;
use crate::error::{Error, ErrorKind, Result};
use crate::opcode::{self, Opcode};

/// A bytecode index (bci): offset of an instruction in its method's code.
pub type Bci = u32;

/// A method's checked code: every instruction is complete, every jump and table entry leads to an
/// instruction.
#[derive(Debug, Clone)]
pub struct Code<'a> {
    /// `max_stack`.
    pub max_stack: u16,
    /// `max_locals`.
    pub max_locals: u16,
    /// The instructions' bytes.
    pub bytes: &'a [u8],
    /// The exception table in its order.
    pub handlers: Vec<Handler>,
    /// Attributes of the code: line numbers, frames, ...
    pub attributes: Attributes<'a>,
    /// The targets of jumps and switches.
    pub targets: BciSet,
    /// Bytecode indices of the invocations, in order.
    pub invocations: Vec<Bci>,
    /// Whether it calls subroutines: `jsr`, `jsr_w`.
    pub calls_subroutines: bool,
    /// Whether it returns from them: `ret`.
    pub has_ret: bool,
    /// Whether it stores into local variable 0.
    pub stores_first_local: bool,
}

/// Results of checking the instructions of code.
struct CodeCheck {
    /// The starts of instructions.
    starts: BciSet,
    targets: BciSet,
    invocations: Vec<Bci>,
    calls_subroutines: bool,
    has_ret: bool,
    stores_first_local: bool,
}

/// An entry of the exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// First covered bci.
    pub start: Bci,
    /// First bci that is no longer covered; may be the code's length.
    pub end: Bci,
    /// First bci of the handler.
    pub handler: Bci,
    /// `CONSTANT_Class` of the caught class; 0 catches everything.
    pub catch_type: Index,
}

/// An instruction, borrowed from the code. Its methods read the operands; `Code::parse` has checked
/// that they exist.
#[derive(Debug, Clone, Copy)]
pub struct Instruction<'a> {
    /// Bytecode index of the instruction.
    pub bci: Bci,
    /// Opcode; for `wide` forms the opcode after `wide`.
    pub opcode: Opcode,
    /// Bytes of the instruction, `wide` included.
    pub bytes: &'a [u8],
}

impl<'a> Instruction<'a> {
    /// The bci after it.
    pub fn end(&self) -> Bci {
        self.bci + self.bytes.len() as Bci
    }

    /// Whether it has a `wide` prefix.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.bytes[0] == opcode::WIDE
    }

    /// The constant-pool index; `None` for instructions without one.
    #[inline]
    pub fn pool_index(&self) -> Option<Index> {
        match opcode::INDEX_BYTES[usize::from(self.opcode)] {
            0 => None,
            1 => Some(Index::from(self.bytes[1])),
            _ => Some(u2_at(self.bytes, 1)),
        }
    }

    /// The local variable that it reads or writes, and whether it takes two slots.
    #[inline]
    pub fn local(&self) -> Option<(u16, bool)> {
        if opcode::has_local(self.opcode) { self.its_local() } else { None }
    }

    /// The local variable of an instruction that has one, and whether it takes two slots.
    fn its_local(&self) -> Option<(u16, bool)> {
        use opcode::*;
        let operand = || if self.is_wide() { u2_at(self.bytes, 2) } else { u16::from(self.bytes[1]) };
        let two = |kind: u8| kind == 1 || kind == 3; // order of the kinds: int, long, float, double, reference
        match self.opcode {
            op @ ILOAD..=ALOAD => Some((operand(), two(op - ILOAD))),
            op @ ISTORE..=ASTORE => Some((operand(), two(op - ISTORE))),
            op @ ILOAD_0..=ALOAD_3 => Some((u16::from((op - ILOAD_0) % 4), two((op - ILOAD_0) / 4))),
            op @ ISTORE_0..=ASTORE_3 => Some((u16::from((op - ISTORE_0) % 4), two((op - ISTORE_0) / 4))),
            IINC | RET => Some((operand(), false)),
            _ => None,
        }
    }

    /// The target of jumps (conditional ones, `goto`, `jsr` and the wide forms).
    #[inline]
    pub fn target(&self) -> Option<Bci> {
        if opcode::has_targets(self.opcode) { self.its_target() } else { None }
    }

    /// The target of an instruction that names other instructions.
    fn its_target(&self) -> Option<Bci> {
        let offset = match self.opcode {
            opcode::GOTO_W | opcode::JSR_W => u4_at(self.bytes, 1) as i32,
            op if opcode::is_conditional(op) || opcode::is_unconditional_jump(op) => {
                i32::from(u2_at(self.bytes, 1) as i16)
            }
            _ => return None,
        };
        Some(self.bci.wrapping_add_signed(offset))
    }

    /// The operands of a switch.
    pub fn switch(&self) -> Option<Switch<'a>> {
        let aligned = 1 + (3 - self.bci as usize % 4);
        match self.opcode {
            opcode::TABLESWITCH => Some(Switch {
                bci: self.bci,
                default: u4_at(self.bytes, aligned) as i32,
                low: Some(u4_at(self.bytes, aligned + 4) as i32),
                table: &self.bytes[aligned + 12..],
            }),
            opcode::LOOKUPSWITCH => Some(Switch {
                bci: self.bci,
                default: u4_at(self.bytes, aligned) as i32,
                low: None,
                table: &self.bytes[aligned + 8..],
            }),
            _ => None,
        }
    }

    /// Calls `f` with all targets of a jump or switch, the default first.
    #[inline]
    pub fn for_each_target(&self, f: impl FnMut(Bci)) {
        if opcode::has_targets(self.opcode) {
            self.for_each_of_its_targets(f);
        }
    }

    /// Calls `f` with all targets of an instruction that has some.
    fn for_each_of_its_targets(&self, mut f: impl FnMut(Bci)) {
        if let Some(t) = self.target() {
            f(t);
        } else if let Some(s) = self.switch() {
            f(s.default_target());
            s.cases().for_each(|(_, t)| f(t));
        }
    }
}

/// A switch's operands.
#[derive(Debug, Clone, Copy)]
pub struct Switch<'a> {
    bci: Bci,
    default: i32,
    /// The lowest case of a `tableswitch`; `None` for a `lookupswitch`.
    pub low: Option<i32>,
    table: &'a [u8],
}

impl<'a> Switch<'a> {
    /// The target if no case matches.
    pub fn default_target(&self) -> Bci {
        self.bci.wrapping_add_signed(self.default)
    }

    /// Number of cases.
    pub fn len(&self) -> usize {
        self.table.len() / if self.low.is_some() { 4 } else { 8 }
    }

    /// Whether there is no case.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cases and their targets.
    pub fn cases(&self) -> impl Iterator<Item = (i32, Bci)> + use<'a> {
        let (bci, low, table) = (self.bci, self.low, self.table);
        (0..self.len()).map(move |i| match low {
            Some(low) => (low.wrapping_add(i as i32), bci.wrapping_add(u4_at(table, i * 4))),
            None => (u4_at(table, i * 8) as i32, bci.wrapping_add(u4_at(table, i * 8 + 4))),
        })
    }
}

/// Length of the instruction at `bci`, which must be complete.
fn instruction_length(code: &[u8], bci: usize) -> Result<usize, ErrorKind> {
    let opcode = code[bci];
    let truncated = |needed| ErrorKind::Truncated { needed, available: code.len() - bci };
    let need = |n: usize| if code.len() - bci >= n { Ok(n) } else { Err(truncated(n)) };
    let aligned = (bci & !3) + 4;
    let operand =
        |at: usize| code.get(at..at + 4).map(|b| u4_at(b, 0) as i32).ok_or_else(|| truncated(at + 4 - bci));
    match opcode {
        opcode::TABLESWITCH => {
            let (low, high) = (i64::from(operand(aligned + 4)?), i64::from(operand(aligned + 8)?));
            if high < low {
                return Err(ErrorKind::Malformed("a tableswitch whose high is below its low"));
            }
            need(aligned + 12 - bci + 4 * (high - low + 1) as usize)
        }
        opcode::LOOKUPSWITCH => {
            let pairs = operand(aligned + 4)?;
            let pairs = usize::try_from(pairs)
                .map_err(|_| ErrorKind::Malformed("a lookupswitch with npairs below 0"))?;
            need((aligned + 8 - bci).saturating_add(pairs.saturating_mul(8)))
        }
        opcode::WIDE => match code.get(bci + 1) {
            Some(&opcode::IINC) => need(6),
            Some(&(opcode::ILOAD..=opcode::ALOAD | opcode::ISTORE..=opcode::ASTORE | opcode::RET)) => need(4),
            Some(&other) => Err(ErrorKind::BadOpcode(other)),
            None => Err(truncated(2)),
        },
        _ => match opcode::LENGTHS[usize::from(opcode)] {
            0 => Err(ErrorKind::BadOpcode(opcode)),
            n => need(usize::from(n)),
        },
    }
}

/// Iterator over the instructions of checked code.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    bci: usize,
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    // The loops over all instructions are where most time goes.
    #[inline(always)]
    fn next(&mut self) -> Option<Instruction<'a>> {
        let first = *self.code.get(self.bci)?;
        match opcode::LENGTHS[usize::from(first)] {
            0 => self.next_irregular(),
            length => self.advance(first, usize::from(length)),
        }
    }
}

impl<'a> Instructions<'a> {
    /// The next instruction, if it is a switch or has a `wide` prefix.
    fn next_irregular(&mut self) -> Option<Instruction<'a>> {
        // Code::parse has checked it; unchecked code simply ends at the first fault.
        let length = instruction_length(self.code, self.bci).ok()?;
        let is_wide = self.code[self.bci] == opcode::WIDE;
        self.advance(self.code[self.bci + usize::from(is_wide)], length)
    }

    #[inline(always)]
    fn advance(&mut self, opcode: Opcode, length: usize) -> Option<Instruction<'a>> {
        let end = self.bci + length;
        let bytes = self.code.get(self.bci..end)?;
        let bci = std::mem::replace(&mut self.bci, end) as Bci;
        Some(Instruction { bci, opcode, bytes })
    }
}

/// A set of bytecode indices.
#[derive(Debug, Clone, Default)]
pub struct BciSet(Vec<u64>);

impl BciSet {
    /// An empty set for code of this length (the end itself included).
    pub fn new(length: usize) -> Self {
        BciSet(vec![0; length / 64 + 1])
    }

    /// Adds an index; returns whether it was new.
    pub fn insert(&mut self, bci: Bci) -> bool {
        let word = &mut self.0[bci as usize / 64];
        let bit = 1 << (bci % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Whether the index is in the set; false beyond its range.
    pub fn contains(&self, bci: Bci) -> bool {
        self.0.get(bci as usize / 64).is_some_and(|w| w & (1 << (bci % 64)) != 0)
    }
}

impl<'a> Code<'a> {
    /// The code of a method; `None` for native and abstract methods.
    pub fn of(class: &ClassFile<'a>, method: &Member<'a>) -> Result<Option<Self>> {
        let Some(attribute) = method.attributes.find(b"Code") else { return Ok(None) };
        let parsed = match method.attributes.iter().filter(|a| a.name == b"Code").count() {
            1 => Self::parse(class, attribute.cursor()),
            _ => Err(Error::at(ErrorKind::Malformed("a method has two of them"), attribute.offset)),
        };
        parsed.map(Some).map_err(|e| class.locate(method.locate(e.in_attribute("Code"))))
    }

    fn parse(class: &ClassFile<'a>, mut cursor: Cursor<'a>) -> Result<Self> {
        let (max_stack, max_locals);
        let length;
        if (class.major_version, class.minor_version) < (45, 3) {
            // JDK 1.0 wrote narrower fields (HotSpot's ClassFileParser still reads them).
            (max_stack, max_locals) = (u16::from(cursor.u1()?), u16::from(cursor.u1()?));
            length = cursor.u2()? as usize;
        } else {
            (max_stack, max_locals) = (cursor.u2()?, cursor.u2()?);
            length = cursor.u4()? as usize;
        }
        if length == 0 || length > 65535 {
            return Err(cursor.error(ErrorKind::Malformed("code_length is not between 1 and 65535")));
        }
        let base = cursor.offset();
        let bytes = cursor.take(length)?;
        let checked = Self::check_instructions(bytes).map_err(|(kind, bci)| Error::at(kind, base + bci))?;
        let CodeCheck { starts, targets, invocations, calls_subroutines, has_ret, stores_first_local } =
            checked;
        let at = cursor.offset();
        let handlers =
            Self::parse_handlers(&mut cursor, length as Bci, &starts).map_err(|e| Error::at(e, at))?;
        let attributes = Attributes::parse(&mut cursor, class.bytes, &class.pool)?;
        cursor.finish()?;
        Ok(Code {
            max_stack,
            max_locals,
            bytes,
            handlers,
            attributes,
            targets,
            invocations,
            calls_subroutines,
            has_ret,
            stores_first_local,
        })
    }

    fn check_instructions(code: &[u8]) -> Result<CodeCheck, (ErrorKind, usize)> {
        let mut starts = BciSet::new(code.len());
        let (mut calls_subroutines, mut has_ret, mut stores_first_local) = (false, false, false);
        // The jumps; their targets can be checked once all instructions are known.
        let mut jumps = Vec::new();
        let mut invocations = Vec::new();
        let mut bci = 0;
        while bci < code.len() {
            starts.insert(bci as Bci);
            let op = code[bci];
            let length = match usize::from(opcode::LENGTHS[usize::from(op)]) {
                n if n > 0 && n <= code.len() - bci => n,
                _ => instruction_length(code, bci).map_err(|e| (e, bci))?,
            };
            match op {
                opcode::INVOKEVIRTUAL..=opcode::INVOKEDYNAMIC => invocations.push(bci as Bci),
                opcode::RET => has_ret = true,
                opcode::ISTORE..=opcode::ASTORE => stores_first_local |= code[bci + 1] == 0,
                opcode::ISTORE_0..=opcode::ASTORE_3 => {
                    stores_first_local |= (op - opcode::ISTORE_0).is_multiple_of(4);
                }
                opcode::WIDE => {
                    has_ret |= code[bci + 1] == opcode::RET;
                    stores_first_local |= matches!(code[bci + 1], opcode::ISTORE..=opcode::ASTORE)
                        && code[bci + 2..bci + 4] == [0, 0];
                }
                _ if opcode::has_targets(op) => jumps.push(bci),
                _ => {}
            }
            bci += length;
        }
        let mut targets = BciSet::new(code.len());
        for bci in jumps {
            let mut bad = None;
            let Some(instruction) = (Instructions { code, bci }).next() else { continue };
            calls_subroutines |= opcode::is_subroutine_call(instruction.opcode);
            instruction.for_each_target(|t| {
                if t as usize >= code.len() || !starts.contains(t) {
                    bad = Some(t);
                } else {
                    targets.insert(t);
                }
            });
            if let Some(t) = bad {
                return Err((ErrorKind::BadTarget(t), bci));
            }
        }
        Ok(CodeCheck { starts, targets, invocations, calls_subroutines, has_ret, stores_first_local })
    }

    fn parse_handlers(
        cursor: &mut Cursor<'a>,
        length: Bci,
        starts: &BciSet,
    ) -> Result<Vec<Handler>, ErrorKind> {
        let simple = |e: Error| e.kind().clone();
        let count = cursor.u2().map_err(simple)? as usize;
        let table = cursor.take(count * 8).map_err(simple)?;
        let mut handlers = Vec::with_capacity(count);
        for entry in table.chunks_exact(8) {
            let at = |i| Bci::from(u2_at(entry, i));
            let h = Handler { start: at(0), end: at(2), handler: at(4), catch_type: u2_at(entry, 6) };
            if h.start >= h.end || h.end > length || !starts.contains(h.start) {
                return Err(ErrorKind::Malformed("an exception range is empty or leaves the code"));
            }
            if h.end != length && !starts.contains(h.end) {
                return Err(ErrorKind::BadTarget(h.end));
            }
            if !starts.contains(h.handler) {
                return Err(ErrorKind::BadTarget(h.handler));
            }
            handlers.push(h);
        }
        Ok(handlers)
    }

    /// The instructions in order.
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions { code: self.bytes, bci: 0 }
    }

    /// The invocations in order.
    pub fn invocations(&self) -> impl Iterator<Item = Instruction<'a>> + use<'_, 'a> {
        self.invocations.iter().filter_map(|&bci| self.instruction_at(bci))
    }

    /// The instruction at `bci`, which must be the beginning of one.
    #[inline]
    pub fn instruction_at(&self, bci: Bci) -> Option<Instruction<'a>> {
        Instructions { code: self.bytes, bci: bci as usize }.next()
    }

    /// Length of the code in bytes.
    pub fn length(&self) -> Bci {
        self.bytes.len() as Bci
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::*;

    fn checked(code: &[u8]) -> CodeCheck {
        Code::check_instructions(code).unwrap_or_else(|(kind, bci)| panic!("{kind} at {bci}"))
    }

    #[test]
    fn stores_into_the_first_local_are_seen_in_every_form() {
        for code in [
            &[ASTORE, 0][..],
            &[ISTORE_0],
            &[DSTORE_0],
            &[ASTORE_0],
            &[WIDE, ASTORE, 0, 0],
            &[NOP, LSTORE, 0],
        ] {
            assert!(checked(code).stores_first_local, "{code:?}");
        }
        for code in [&[ASTORE, 1][..], &[ASTORE_1], &[ALOAD_0], &[WIDE, ASTORE, 1, 0], &[IINC, 0, 1]] {
            assert!(!checked(code).stores_first_local, "{code:?}");
        }
    }

    #[test]
    fn invocations_are_found() {
        let code = [INVOKESTATIC, 0, 1, NOP, NEW, 0, 1, INVOKEDYNAMIC, 0, 1, 0, 0, INVOKEVIRTUAL, 0, 1];
        assert_eq!(checked(&code).invocations, [0, 7, 12]);
    }

    #[test]
    fn targets_and_subroutines_are_found() {
        // 0: goto 4; 3: nop; 4: jsr 7; 7: astore_1; 8: ret 1
        let code = checked(&[GOTO, 0, 4, NOP, JSR, 0, 3, ASTORE_1, RET, 1]);
        let is_target = |bci| code.targets.contains(bci);
        assert!(is_target(4) && is_target(7) && !is_target(0) && !is_target(3));
        assert!(code.calls_subroutines && code.has_ret);
        let wide = checked(&[WIDE, RET, 1, 0]);
        assert!(wide.has_ret && !wide.calls_subroutines);
        assert!(!checked(&[RETURN]).has_ret);
    }
}
