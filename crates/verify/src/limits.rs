//! The operand stack and the locals that code needs (JVMS 4.7.3), from following its paths.

use cct_classfile::edit::frames::Signature;
use cct_classfile::{ClassFile, Code, Member, opcode, stack};

use crate::faults::LimitFault;
use crate::finding::{Check, Finding, Problem};

/// A method and its code.
#[derive(Clone, Copy)]
pub struct MethodCode<'m, 'a> {
    /// The class of the method.
    pub class: &'m ClassFile<'a>,
    /// The method.
    pub method: &'m Member<'a>,
    /// The method's code.
    pub code: &'m Code<'a>,
}

/// Checks that rewritten code declares large enough limits, if the original does.
pub fn check(original: MethodCode<'_, '_>, rewritten: MethodCode<'_, '_>) -> Check {
    if !has_stack(rewritten.class, rewritten.code) && has_stack(original.class, original.code) {
        return Err(Finding::of(Problem::Limit(LimitFault::Stack)));
    }
    if !has_locals(rewritten) && has_locals(original) {
        return Err(Finding::of(Problem::Limit(LimitFault::Locals)));
    }
    Ok(())
}

/// Whether code declares large enough limits.
pub fn suffice(coded: MethodCode<'_, '_>) -> bool {
    has_stack(coded.class, coded.code) && has_locals(coded)
}

fn has_stack<'a>(class: &ClassFile<'a>, code: &Code<'a>) -> bool {
    stack(class, code) <= u32::from(code.max_stack)
}

fn has_locals(coded: MethodCode<'_, '_>) -> bool {
    locals(coded) <= u32::from(coded.code.max_locals)
}

/// Number of locals: those that instructions name, and those of the arguments, used or not.
fn locals(MethodCode { class, method, code }: MethodCode<'_, '_>) -> u32 {
    let ends =
        code.instructions().filter_map(|i| i.local()).map(|(l, two)| u32::from(l) + 1 + u32::from(two));
    let arguments = argument_slots(class, method).map_or(0, u32::from);
    ends.max().unwrap_or(0).max(arguments)
}

/// The deepest stack on any path.
fn stack<'a>(class: &ClassFile<'a>, code: &Code<'a>) -> u32 {
    let mut depths: Vec<Option<u32>> = vec![None; code.bytes.len() + 1];
    let mut work = vec![(0, 0)];
    work.extend(code.handlers.iter().map(|h| (h.handler, 1)));
    let mut deepest = 0;
    while let Some((bci, depth)) = work.pop() {
        let Some(slot) = depths.get_mut(bci as usize).filter(|slot| slot.is_none()) else { continue };
        *slot = Some(depth);
        let Some(i) = code.instruction_at(bci) else { continue };
        let (pops, pushes) = stack::effect(&class.pool, &i).unwrap_or_default();
        let after = depth.saturating_sub(pops) + pushes;
        deepest = deepest.max(depth).max(after);
        i.for_each_target(|t| work.push((t, after)));
        if opcode::is_subroutine_call(i.opcode) {
            work.push((i.end(), depth));
        } else if !opcode::ends_flow(i.opcode) {
            work.push((i.end(), after));
        }
    }
    deepest
}

/// Slots of a method's arguments, `this` included.
pub fn argument_slots(class: &ClassFile<'_>, member: &Member<'_>) -> Option<u16> {
    Signature::of(class, member).ok().map(|s| s.argument_slots())
}
