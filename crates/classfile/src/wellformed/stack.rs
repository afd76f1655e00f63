//! Code that needs more of the operand stack than it declares. Instrumented bodies declare more,
//! for their probes, and would hide that fault.

use std::cmp::Reverse;

use crate::attributes::frames::bcis;
use crate::attributes::{AttributeInfo, FrameKind, VerificationType};
use crate::class::ClassFile;
use crate::code::{Bci, BciSet, Code, Instruction};
use crate::error::{Error, ErrorKind, Result};
use crate::opcode;
use crate::stack::Effects;

/// From this version on, each instruction is verified, from frame to frame. Below it only reached
/// instructions are; the same holds for version 50 if the frames are wrong.
const EVERY_INSTRUCTION: u16 = 51;

/// Maximum number of searches for handlers whose range has just been reached. Handlers of handlers
/// of handlers would need more, and no compiler generates them; then fewer faults are found.
const ROUNDS: usize = 8;

/// Depth of the operand stack, instruction by instruction, in code that is verified from frame to
/// frame.
pub struct Depth {
    most: u32,
    /// Depths at frames and handlers: their index, and the number of slots. Only those still to
    /// come, the next one last.
    stated: Vec<(Bci, u32)>,
    /// Depth before the next instruction; `None` after a jump without a frame, which the verifier
    /// refuses.
    now: Option<u32>,
}

impl Depth {
    /// Whether code of a class is verified from frame to frame.
    pub fn is_followed(class: &ClassFile<'_>) -> bool {
        class.major_version >= EVERY_INSTRUCTION
    }

    /// The depth on entry.
    pub fn of<'a>(class: &ClassFile<'a>, code: &Code<'a>) -> Result<Self> {
        let mut stated = Vec::new();
        for attribute in code.attributes.iter().filter(|a| a.name == b"StackMapTable") {
            if let AttributeInfo::StackMapTable(frames) = AttributeInfo::parse(attribute, &class.pool)? {
                stated.extend(bcis(&frames).zip(frames.iter().map(|frame| slots(&frame.kind))));
            }
        }
        stated.extend(code.handlers.iter().map(|handler| (handler.handler, 1)));
        stated.sort_unstable_by_key(|&(bci, _)| Reverse(bci));
        Ok(Depth { most: u32::from(code.max_stack), stated, now: Some(0) })
    }

    /// Advances over the next instruction. Fails where the verifier must: at an instruction or a
    /// frame with more slots than `max_stack`.
    pub fn step(&mut self, instruction: &Instruction<'_>, effects: &mut Effects<'_, '_>) -> Result<()> {
        while let Some(&(bci, slots)) = self.stated.last()
            && bci <= instruction.bci
        {
            self.now = Some(slots);
            self.stated.pop();
            self.check(slots)?;
        }
        let Some(depth) = self.now else { return Ok(()) };
        // A constant of another kind: its reader reports it.
        let after = effects
            .of(instruction)
            .map(|(pops, pushes)| depth.saturating_sub(pops).saturating_add(pushes))
            .filter(|_| !opcode::ends_flow(instruction.opcode));
        self.check(depth.max(after.unwrap_or_default()))?;
        self.now = after;
        Ok(())
    }

    fn check(&self, depth: u32) -> Result<()> {
        if depth > self.most {
            Err(Error::new(ErrorKind::Malformed("code that needs more stack than it states")))
        } else {
            Ok(())
        }
    }
}

/// Follows older code, of which only reached instructions are verified. Fails where the verifier
/// must. Not for code with subroutines, since their returns are not followed.
pub fn check<'a>(code: &Code<'a>, effects: &mut Effects<'_, 'a>) -> Result<()> {
    let mut walk = Walk { code, effects, seen: BciSet::new(code.bytes.len()), work: vec![(0, 0)] };
    walk.on()?;
    for _ in 0..ROUNDS {
        let reached =
            code.handlers.iter().filter(|h| walk.seen.contains(h.start) && !walk.seen.contains(h.handler));
        walk.work = reached.map(|handler| (handler.handler, 1)).collect();
        if walk.work.is_empty() {
            break;
        }
        walk.on()?;
    }
    Ok(())
}

/// Number of slots on the stack of a frame.
fn slots(kind: &FrameKind) -> u32 {
    let of = |item: &VerificationType| match item {
        VerificationType::Long | VerificationType::Double => 2,
        _ => 1,
    };
    match kind {
        FrameKind::Same | FrameKind::SameExtended | FrameKind::Chop(_) | FrameKind::Append(_) => 0,
        FrameKind::SameLocals1(item) | FrameKind::SameLocals1Extended(item) => of(item),
        FrameKind::Full { stack, .. } => stack.iter().map(of).sum(),
    }
}

/// Walks code from positions with a known depth.
struct Walk<'w, 'p, 'a> {
    code: &'w Code<'a>,
    effects: &'w mut Effects<'p, 'a>,
    seen: BciSet,
    /// Positions to continue from, and their number of slots.
    work: Vec<(Bci, u32)>,
}

impl Walk<'_, '_, '_> {
    fn on(&mut self) -> Result<()> {
        let most = u32::from(self.code.max_stack);
        while let Some((mut bci, mut depth)) = self.work.pop() {
            // The JVM refuses a depth that differs between paths in any case.
            while bci < self.code.length() && self.seen.insert(bci) {
                let Some(instruction) = self.code.instruction_at(bci) else { break };
                // A constant of another kind: its reader reports it.
                let Some((pops, pushes)) = self.effects.of(&instruction) else { break };
                let after = depth.saturating_sub(pops).saturating_add(pushes);
                if depth.max(after) > most {
                    return Err(Error::new(ErrorKind::Malformed(
                        "code that needs more stack than it states",
                    )));
                }
                instruction.for_each_target(|target| self.work.push((target, after)));
                if opcode::ends_flow(instruction.opcode) {
                    break;
                }
                (bci, depth) = (instruction.end(), after);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::ClassFile;

    /// Whether a class with one static method of this code is refused.
    fn refused(version: u16, max_stack: u16, code: &[u8], handlers: &[[u16; 3]]) -> bool {
        let bytes = class(version, max_stack, code, handlers);
        let class = ClassFile::parse(&bytes).unwrap();
        super::super::code(&class, &class.methods[0], &mut Effects::new(&class.pool)).is_err()
    }

    fn class(version: u16, max_stack: u16, code: &[u8], handlers: &[[u16; 3]]) -> Vec<u8> {
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0];
        let put = |out: &mut Vec<u8>, number: u16| out.extend(number.to_be_bytes());
        put(&mut out, version);
        put(&mut out, 8);
        for text in ["A", "java/lang/Object", "m", "()V", "Code"] {
            out.push(1);
            put(&mut out, text.len() as u16);
            out.extend(text.bytes());
        }
        for name in [1, 2] {
            out.push(7);
            put(&mut out, name);
        }
        for number in [1, 6, 7, 0, 0, 1, 8, 3, 4, 1, 5] {
            put(&mut out, number);
        }
        out.extend((12 + code.len() as u32 + 8 * handlers.len() as u32).to_be_bytes());
        put(&mut out, max_stack);
        put(&mut out, 4);
        out.extend((code.len() as u32).to_be_bytes());
        out.extend(code);
        put(&mut out, handlers.len() as u16);
        for [start, end, handler] in handlers {
            [*start, *end, *handler, 0].iter().for_each(|&number| put(&mut out, number));
        }
        put(&mut out, 0);
        put(&mut out, 0);
        out
    }

    #[test]
    fn the_deepest_place_must_fit() {
        // iconst_0; lconst_0; pop2; pop; return
        let code = [3, 9, 88, 87, 177];
        for version in [48, 50, 52] {
            assert!(refused(version, 2, &code, &[]), "{version}");
            assert!(!refused(version, 3, &code, &[]), "{version}");
        }
    }

    #[test]
    fn every_way_counts() {
        // 0: iconst_0; 1: ifeq 6; 4: iconst_0; 5: pop; 6: goto 9; 9: iconst_0; 10: iconst_0; 11:
        // pop2; 12: return
        let code = [3, 153, 0, 5, 3, 87, 167, 0, 3, 3, 3, 88, 177];
        assert!(refused(49, 1, &code, &[]));
        assert!(!refused(49, 2, &code, &[]));
    }

    #[test]
    fn handlers_begin_with_what_they_caught() {
        // 0: return; 1: athrow, the handler of 0
        let code = [177, 191];
        assert!(refused(49, 0, &code, &[[0, 1, 1]]));
        assert!(!refused(49, 1, &code, &[[0, 1, 1]]));
        // 1: iconst_0; 2: return, which nothing reaches; 3: its handler
        let dead = [177, 3, 177, 191];
        assert!(!refused(49, 0, &dead, &[[1, 2, 3]]), "it is not verified");
        assert!(refused(52, 0, &dead, &[[1, 2, 3]]), "every instruction is");
    }

    #[test]
    fn a_handler_of_a_handler_is_reached() {
        // 0: return; 1: pop, the handler of 0; 2: return; 3: dup, the handler of 1; 4: pop; 5:
        // athrow
        let code = [177, 87, 177, 89, 87, 191];
        assert!(refused(49, 1, &code, &[[1, 2, 3], [0, 1, 1]]));
        assert!(!refused(49, 2, &code, &[[1, 2, 3], [0, 1, 1]]));
    }

    #[test]
    fn damaged_instructions_have_no_effect_assigned() {
        // 0: aconst_null; 1: invokestatic of a text; 4: aconst_null; 5: return
        assert!(!refused(52, 1, &[1, 184, 0, 1, 1, 177], &[]));
    }

    #[test]
    fn subroutines_are_left_to_the_verifier() {
        let is_accepted = |code: &[u8]| {
            let bytes = class(48, 0, code, &[]);
            crate::wellformed::check(&ClassFile::parse(&bytes).unwrap()).is_ok()
        };
        // 0: jsr 4; 3: return; 4: astore_0; 5: ret 0
        assert!(is_accepted(&[168, 0, 4, 177, 75, 169, 0]));
        // 0: iconst_0; 1: pop; 2: return
        assert!(!is_accepted(&[3, 87, 177]));
    }
}
