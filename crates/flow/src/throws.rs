//! Instructions that may throw.
//!
//! The precise block rule ends a block after each of them, and edges of the graph to exception
//! handlers start at them. The source is the specification of each instruction ("Run-time
//! Exceptions" and "Linking Exceptions" in JVMS 6.5):
//!
//! | instructions | why |
//! |---|---|
//! | `iaload` ... `saload`, `iastore` ... `sastore` | `NullPointerException`, `ArrayIndexOutOfBoundsException`; `aastore` also `ArrayStoreException` |
//! | `idiv`, `ldiv`, `irem`, `lrem` | `ArithmeticException`; the floating-point forms never throw |
//! | `getstatic`, `putstatic` | field resolution (5.4.3.2), initialisation of the class (5.5) |
//! | `getfield`, `putfield` | field resolution, `NullPointerException` |
//! | `invokevirtual`, `invokespecial`, `invokestatic`, `invokeinterface` | method resolution (5.4.3.3, 5.4.3.4), selection (5.4.6), `NullPointerException`, class initialisation, and exceptions of the callee |
//! | `invokedynamic` | call-site resolution (5.4.3.6), and exceptions of the callee |
//! | `new` | class resolution (5.4.3.1), `InstantiationError`, class initialisation |
//! | `newarray`, `anewarray`, `multianewarray` | `NegativeArraySizeException`; class resolution, except for `newarray` |
//! | `arraylength`, `athrow` | `NullPointerException`; `athrow` by its purpose |
//! | `checkcast`, `instanceof` | class resolution; `checkcast` also `ClassCastException` |
//! | `monitorenter`, `monitorexit` | `NullPointerException`; `monitorexit` also `IllegalMonitorStateException` |
//! | `ldc`, `ldc_w`, `ldc2_w` | depends on the constant: resolution of a class, method handle, method type or dynamically computed constant (5.4.3.1, 5.4.3.5, 5.4.3.6) |
//!
//! Deliberately not in the table:
//!
//! - **Errors of the virtual machine** (`VirtualMachineError`, JVMS 6.3), which may occur at any
//!   instruction. No instruction is in the table for them alone. Therefore `ldc` of a string is
//!   not: its first execution enters the string into the pool of strings (5.1), which can fail only
//!   for lack of memory. `ldc` of a number cannot fail at all.
//! - **Asynchronous exceptions** (2.10), for the same reason.
//! - **Returns.** Their `IllegalMonitorStateException` requires unstructured locking (2.11.10).
//!   Even then they end their block, so nothing after them is counted.
//! - **`jsr`, `ret`.** They only move addresses; exceptions of the subroutine are those of its own
//!   instructions.

use cct_classfile::constant_pool::tag;
use cct_classfile::{ConstantPool, Instruction, opcode};

/// Whether an instruction may throw, by the table of this module. `pool` is the constant pool of
/// its class.
#[inline]
pub fn may_throw(instruction: &Instruction<'_>, pool: &ConstantPool<'_>) -> bool {
    match instruction.opcode {
        opcode::LDC | opcode::LDC_W | opcode::LDC2_W => !matches!(
            instruction.pool_index().and_then(|index| pool.tag(index)),
            Some(tag::INTEGER | tag::FLOAT | tag::LONG | tag::DOUBLE | tag::STRING)
        ),
        op => opcode::may_throw(op),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use crate::throws::may_throw;
    use cct_classfile::opcode::*;

    #[test]
    fn constants_decide_whether_ldc_throws() {
        let throws = |bytes: &[u8]| {
            Fixture::new(&[op(bytes)], &[])
                .with(|code, pool| may_throw(&code.instruction_at(0).unwrap(), pool))
        };
        for constant in [INTEGER, STRING] {
            assert!(!throws(&[LDC, constant]) && !throws(&[LDC_W, 0, constant]));
        }
        assert!(!throws(&[LDC2_W, 0, LONG]));
        for constant in [CLASS, METHOD_TYPE, METHOD_HANDLE, DYNAMIC] {
            assert!(throws(&[LDC, constant]) && throws(&[LDC_W, 0, constant]), "{constant}");
        }
        assert!(throws(&[LDC2_W, 0, DYNAMIC]));
        assert!(throws(&[LDC, 99]), "what is no constant is not trusted");
    }

    #[test]
    fn instructions_of_the_table_throw_and_others_do_not() {
        let mnemonics = "iaload laload faload daload aaload baload caload saload iastore lastore fastore dastore aastore bastore \
            castore sastore idiv ldiv irem lrem getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic \
            invokeinterface invokedynamic new newarray anewarray multianewarray arraylength athrow checkcast instanceof \
            monitorenter monitorexit";
        let table: Vec<&str> = mnemonics.split_whitespace().collect();
        for op in (0..=LAST).filter(|&op| !matches!(op, LDC | LDC_W | LDC2_W)) {
            assert_eq!(
                opcode::may_throw(op),
                table.contains(&MNEMONICS[op as usize]),
                "{}",
                MNEMONICS[op as usize]
            );
        }
        let indy = op(&[INVOKEDYNAMIC, 0, INVOKE_DYNAMIC, 0, 0]);
        Fixture::new(&[indy], &[])
            .with(|code, pool| assert!(may_throw(&code.instruction_at(0).unwrap(), pool)));
    }
}
