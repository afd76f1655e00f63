//! A pass for a column that counts instructions: all that such passes share.

use cct_classfile::edit::Asm;
use cct_classfile::{Code, Instruction, Result};
use cct_columns::Column;
use cct_settings::Settings;

use super::{BodyWriter, Level, MethodContext, MethodPass, Pass};

/// A pass that counts each execution of some instructions in a column, before the instruction runs.
#[derive(Clone, Copy)]
pub struct ColumnPass {
    /// The column.
    pub column: Column,
    /// Whether an instruction counts.
    pub counts: fn(&Instruction<'_>) -> bool,
}

impl ColumnPass {
    fn instructions<'a>(&self, code: &Code<'a>) -> impl Iterator<Item = Instruction<'a>> + use<'a> {
        let counts = self.counts;
        code.instructions().filter(move |instruction| counts(instruction))
    }
}

impl Pass for ColumnPass {
    fn column(&self, settings: &Settings, code: &Code<'_>) -> Option<Column> {
        let counts = settings.counts(self.column) && self.instructions(code).next().is_some();
        counts.then_some(self.column)
    }

    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        let counts = level.objects && method.columns.contains(&self.column);
        Ok(counts.then(|| Box::new(MethodColumn { pass: *self, code: method.code }) as _))
    }
}

/// The counted instructions of one method.
struct MethodColumn<'m> {
    pass: ColumnPass,
    code: &'m Code<'m>,
}

impl MethodPass for MethodColumn<'_> {
    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let mut asm = Asm::new();
        body.count(&mut asm, self.pass.column)?;
        if !asm.bytes.is_empty() {
            self.pass.instructions(self.code).for_each(|i| body.edit.before(i.bci, &asm));
        }
        Ok(())
    }
}
