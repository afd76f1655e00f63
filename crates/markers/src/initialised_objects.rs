//! Points at which the object of a `new` is initialised and on top of the stack: after the call of
//! its constructor, if it was duplicated first, as compilers do.

use std::collections::BTreeMap;

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{Bci, Code, ConstantPool, Instruction, opcode};

/// The constructor call after which the object of the `new` at `at` is on top of the stack; `None`
/// if that is not certain.
///
/// Follows the stack's depth from the `dup` on, along the code and forward jumps. As long as
/// nothing takes the values below, the first `<init>` that takes the duplicate is this object's: no
/// other path leads there, since a verifier distinguishes uninitialised objects by their `new`.
pub(crate) fn initialised<'a>(
    code: &Code<'a>,
    pool: &ConstantPool<'_>,
    at: &Instruction<'_>,
) -> Option<Instruction<'a>> {
    let dup = code.instruction_at(at.end()).filter(|i| i.opcode == opcode::DUP)?;
    let mut depths: BTreeMap<Bci, u32> = BTreeMap::new();
    let mut depth = Some(0u32);
    let mut bci = dup.end();
    while bci < code.length() {
        let instruction = code.instruction_at(bci)?;
        let here = match (depth, depths.get(&bci)) {
            (Some(depth), Some(other)) if depth != *other => return None,
            (Some(depth), _) => depth,
            (None, Some(depth)) => *depth,
            (None, None) => return None,
        };
        let (pops, pushes) = effect(&instruction, pool)?;
        if instruction.opcode == opcode::INVOKESPECIAL && pops == here + 1 {
            let callee = pool.member_ref(instruction.pool_index()?).ok()?;
            return (callee.name == b"<init>").then_some(instruction);
        }
        let after = here.checked_sub(pops)? + pushes;
        let mut is_backward = false;
        instruction.for_each_target(|target| {
            is_backward |= target <= bci;
            depths.entry(target).or_insert(after);
        });
        if is_backward || opcode::is_subroutine_call(instruction.opcode) {
            return None;
        }
        depth = (!opcode::ends_flow(instruction.opcode)).then_some(after);
        bci = instruction.end();
    }
    None
}

/// The slots that an instruction takes from the stack and pushes; `None` for those that are not
/// followed.
fn effect(instruction: &Instruction<'_>, pool: &ConstantPool<'_>) -> Option<(u32, u32)> {
    use opcode::*;
    let two = |kind: u8| if kind == 1 || kind == 3 { 2 } else { 1 };
    let op = instruction.opcode;
    Some(match op {
        NOP | IINC | GOTO | GOTO_W => (0, 0),
        ACONST_NULL..=ICONST_5 | FCONST_0..=FCONST_2 | BIPUSH | SIPUSH | LDC | LDC_W => (0, 1),
        LCONST_0 | LCONST_1 | DCONST_0 | DCONST_1 | LDC2_W => (0, 2),
        ILOAD..=ALOAD => (0, two(op - ILOAD)),
        ILOAD_0..=ALOAD_3 => (0, two((op - ILOAD_0) / 4)),
        LALOAD | DALOAD => (2, 2),
        IALOAD..=SALOAD => (2, 1),
        ISTORE..=ASTORE => (two(op - ISTORE), 0),
        ISTORE_0..=ASTORE_3 => (two((op - ISTORE_0) / 4), 0),
        LASTORE | DASTORE => (4, 0),
        IASTORE..=SASTORE => (3, 0),
        POP => (1, 0),
        POP2 => (2, 0),
        DUP => (1, 2),
        DUP_X1 => (2, 3),
        DUP_X2 => (3, 4),
        DUP2 => (2, 4),
        DUP2_X1 => (3, 5),
        DUP2_X2 => (4, 6),
        SWAP => (2, 2),
        LSHL | LSHR | LUSHR => (3, 2),
        // int, long, float, double in turn.
        IADD..=DREM if (op - IADD) % 2 == 1 => (4, 2),
        IADD..=DREM => (2, 1),
        LAND | LOR | LXOR => (4, 2),
        IAND | IOR | IXOR => (2, 1),
        INEG | FNEG => (1, 1),
        LNEG | DNEG => (2, 2),
        ISHL | ISHR | IUSHR => (2, 1),
        I2L | I2D | F2L | F2D => (1, 2),
        L2I | L2F | D2I | D2F => (2, 1),
        L2D | D2L => (2, 2),
        I2F | F2I | I2B | I2C | I2S => (1, 1),
        LCMP | DCMPL | DCMPG => (4, 1),
        FCMPL | FCMPG => (2, 1),
        IFEQ..=IFLE | IFNULL | IFNONNULL => (1, 0),
        IF_ICMPEQ..=IF_ACMPNE => (2, 0),
        TABLESWITCH | LOOKUPSWITCH | ATHROW => (1, 0),
        IRETURN..=RETURN => (0, 0),
        NEW => (0, 1),
        NEWARRAY | ANEWARRAY | ARRAYLENGTH | CHECKCAST | INSTANCEOF => (1, 1),
        MULTIANEWARRAY => (u32::from(*instruction.bytes.get(3)?), 1),
        MONITORENTER | MONITOREXIT => (1, 0),
        GETSTATIC..=PUTFIELD => {
            let field = pool.member_ref(instruction.pool_index()?).ok()?;
            let slots = u32::from(cct_classfile::descriptor::field_type(field.descriptor).ok()?.slots());
            match op {
                GETSTATIC => (0, slots),
                PUTSTATIC => (slots, 0),
                GETFIELD => (1, slots),
                _ => (1 + slots, 0),
            }
        }
        INVOKEDYNAMIC => {
            let descriptor = pool.dynamic(instruction.pool_index()?).ok()?.1.descriptor;
            call(descriptor, 0)?
        }
        INVOKEVIRTUAL..=INVOKEINTERFACE => {
            let callee = pool.member_ref(instruction.pool_index()?).ok()?;
            call(callee.descriptor, u32::from(op != INVOKESTATIC))?
        }
        _ => return None,
    })
}

fn call(descriptor: &[u8], receiver: u32) -> Option<(u32, u32)> {
    let parsed = MethodDescriptor::parse(descriptor).ok()?;
    Some((u32::from(parsed.argument_slots()) + receiver, u32::from(parsed.result.slots())))
}
