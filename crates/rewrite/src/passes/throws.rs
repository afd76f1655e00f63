//! Throws (`--throws`): each executed `athrow` adds one to the column of the context that executes
//! it.
//!
//! The probe comes before the instruction, as no code runs after it. So it also counts an `athrow`
//! of null, which throws a `NullPointerException` (JVMS 6.5). Rethrows count: javac ends the
//! handler for a `finally` or a `synchronized` block with an `athrow`.
//!
//! Exceptions that the JVM or native code throws execute no `athrow`. The `athrow` in a handler
//! that the rewriter adds has no probe.

use cct_classfile::opcode;
use cct_columns::Column;

use crate::pass::ColumnPass;

/// The pass that counts executed `athrow` instructions.
pub const THROWS: ColumnPass =
    ColumnPass { column: Column::Throws, counts: |instruction| instruction.opcode == opcode::ATHROW };
