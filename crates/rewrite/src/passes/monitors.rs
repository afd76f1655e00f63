//! Entries into monitors (`--monitors`): each executed `monitorenter` adds one to the column of the
//! context that executes it.
//!
//! The probe comes before the instruction, not after it. Like bytecode counts, it counts an
//! instruction that began, even if it waits, or throws because the object is null. No probe can
//! throw between a `monitorenter` and the range that guarantees its `monitorexit`, which javac
//! begins at the very next instruction. A stack overflow there would leave the monitor locked.
//!
//! Synchronized methods (JVMS 2.11.10) have no such instruction and no probe. Each of their calls
//! enters a monitor, so readers of profiles add their calls to the column
//! ([`method_flags::SYNCHRONIZED`](cct_index::method_flags::SYNCHRONIZED)). This includes natives.

use cct_classfile::opcode;
use cct_columns::Column;

use crate::pass::ColumnPass;

/// The pass that counts entries into monitors.
pub const MONITORS: ColumnPass =
    ColumnPass { column: Column::Monitors, counts: |instruction| instruction.opcode == opcode::MONITORENTER };
