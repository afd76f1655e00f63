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

use cct_classfile::edit::Asm;
use cct_classfile::{Code, Instruction, Result, opcode};
use cct_columns::Column;
use cct_settings::Settings;

use crate::pass::{BodyWriter, Level, MethodContext, MethodPass, Pass};

/// The pass that counts entries into monitors.
pub struct Monitors;

impl Pass for Monitors {
    fn column(&self, settings: &Settings, code: &Code<'_>) -> Option<Column> {
        let counts = settings.counts(Column::Monitors) && entries(code).next().is_some();
        counts.then_some(Column::Monitors)
    }

    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        let counts = level.objects && method.columns.contains(&Column::Monitors);
        Ok(counts.then(|| Box::new(MethodMonitors { code: method.code }) as _))
    }
}

/// The monitors that one method enters.
struct MethodMonitors<'m> {
    code: &'m Code<'m>,
}

impl MethodPass for MethodMonitors<'_> {
    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let mut asm = Asm::new();
        body.count(&mut asm, Column::Monitors)?;
        if !asm.bytes.is_empty() {
            entries(self.code).for_each(|entry| body.edit.before(entry.bci, &asm));
        }
        Ok(())
    }
}

fn entries<'a>(code: &Code<'a>) -> impl Iterator<Item = Instruction<'a>> {
    code.instructions().filter(|instruction| instruction.opcode == opcode::MONITORENTER)
}
