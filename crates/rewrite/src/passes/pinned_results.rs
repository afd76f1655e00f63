//! Pinned results: a constant replaces a clock's answer, after the call or the read of the field.
//! That instruction stays and is counted ([`crate::pins`]).

use cct_classfile::edit::Asm;
use cct_classfile::{Bci, Result, opcode};
use cct_jdk::pins::Clock;

use crate::pass::{BodyWriter, Level, MethodContext, MethodPass, Pass};

/// The pass that replaces the results of clocks.
pub struct PinnedResults;

impl Pass for PinnedResults {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        _level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        Ok((!method.pinned.is_empty()).then(|| Box::new(MethodPins(&method.pinned)) as _))
    }
}

/// The instructions of one method whose results are replaced.
struct MethodPins<'m>(&'m [(Bci, Clock)]);

impl MethodPass for MethodPins<'_> {
    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        for &(bci, clock) in self.0 {
            let mut asm = Asm::new();
            asm.op(opcode::POP2);
            asm.indexed(opcode::LDC2_W, body.emitter.edit.additions.long(clock.constant())?);
            body.after(bci, &asm)?;
        }
        Ok(())
    }
}
