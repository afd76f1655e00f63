//! Values as contexts (docs/research/pcc.md): a caller computes the callee's value from its own and
//! from the location of the call.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Bci, Result, opcode};
use cct_jdk::helpers::Helper;
use cct_pcc::value::Site;

use crate::carrier::Context;
use crate::pass::{BodyWriter, Entry, Level, MethodContext, MethodPass, Pass};
use crate::pcc::{self, Part};
use crate::plan::CallTarget;

/// The pass that passes values to callees.
pub struct Values;

impl Pass for Values {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        _level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        let part = method.part.as_ref();
        Ok(part.map(|part| Box::new(MethodValues { part, calls: method.calls }) as _))
    }
}

/// One method's part in values.
struct MethodValues<'m> {
    part: &'m Part,
    calls: &'m [(Bci, CallTarget<'m>)],
}

impl MethodPass for MethodValues<'_> {
    /// Records the value of the context here, or triples it for all calls.
    fn context(
        &self,
        body: &mut BodyWriter<'_, '_, '_>,
        prologue: &mut Asm,
        incoming: u16,
        _entry: Entry<'_>,
    ) -> Result<Option<Context>> {
        let node = body.locals.node;
        pcc::record(&mut body.emitter, prologue, incoming, self.part.place)?;
        if self.part.caller.is_none() || self.calls.is_empty() {
            return Ok(None);
        }
        prologue.load(Kind::Long, incoming);
        pcc::triple(&mut body.emitter, prologue)?;
        prologue.store(Kind::Long, node);
        Ok(Some(Context::PassedThrough(node)))
    }

    /// Rewrites all invocations. The body's context is three times its value if the method takes
    /// part, otherwise its value.
    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        for &(bci, target) in self.calls {
            // Code has at most 65535 bytes.
            let site = self.part.site(u16::try_from(bci).ok());
            let mut asm = Asm::new();
            self.call(body, &mut asm, site, bci, target)?;
            match target {
                CallTarget::Extended => body.edit.replace(bci, &asm),
                _ => body.edit.before(bci, &asm),
            }
        }
        Ok(())
    }
}

impl MethodValues<'_> {
    fn call(
        &self,
        body: &mut BodyWriter<'_, '_, '_>,
        asm: &mut Asm,
        site: Option<Site>,
        bci: Bci,
        target: CallTarget<'_>,
    ) -> Result<()> {
        let chosen = self.part.chosen;
        match target {
            CallTarget::Extended => {
                push_value(body, asm, site)?;
                asm.op(opcode::ACONST_NULL);
                body.invoke_extended(asm, bci)
            }
            // Under this tool natives are always represented.
            CallTarget::Stored { .. } | CallTarget::Rooted | CallTarget::LinkedToHashCode => {
                push_value(body, asm, site)?;
                body.emitter.helper(asm, Helper::Store)
            }
            CallTarget::Linked => {
                // The last argument, which names the callee.
                asm.op(opcode::DUP);
                push_value(body, asm, site)?;
                body.emitter.helper(asm, Helper::Link)
            }
            CallTarget::Counted(callee) => {
                let part = pcc::of_foreign(chosen, &callee);
                if let Some(place) = part.place {
                    push_value(body, asm, site)?;
                    body.emitter.mid(asm, place)?;
                    body.emitter.helper(asm, Helper::At)?;
                }
                if callee.calls_back {
                    push_value(body, asm, site)?;
                    pcc::call(&mut body.emitter, asm, part.site)?;
                    body.emitter.helper(asm, Helper::Store)?;
                }
                Ok(())
            }
            CallTarget::Dispatched(callee) => match pcc::of_foreign(chosen, &callee).place {
                // The receiver, for its class; there are no arguments above it.
                Some(place) => {
                    asm.op(opcode::DUP);
                    push_value(body, asm, site)?;
                    body.emitter.mid(asm, place)?;
                    body.emitter.helper(asm, Helper::AtHashCode)
                }
                None => {
                    push_value(body, asm, site)?;
                    body.emitter.helper(asm, Helper::Store)
                }
            },
        }
    }
}

/// Pushes the value for the callee of this call site.
fn push_value(body: &mut BodyWriter<'_, '_, '_>, asm: &mut Asm, site: Option<Site>) -> Result<()> {
    asm.load(Kind::Long, body.context.local());
    site.map_or(Ok(()), |site| pcc::add(&mut body.emitter, asm, site))
}
