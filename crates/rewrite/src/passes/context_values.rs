//! Call sites where contexts are values (docs/pcc.md): what a callee gets is computed from what its caller has, and from the place of the call.

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Bci, Result, opcode};

use super::call_sites::invoke_extended;
use crate::body::Body;
use crate::carrier::Emitter;
use crate::convention;
use crate::pcc::{self, Part};
use crate::plan::CallTarget;

/// Rewrites all invocations. The body's context is three times its value where it takes part, and its value where it does not.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    calls: &[(Bci, CallTarget<'_>)],
    part: &Part,
) -> Result<()> {
    for &(bci, target) in calls {
        // Code has at most 65535 bytes.
        let site = part.site(u16::try_from(bci).ok());
        let mut asm = Asm::new();
        let callees = |emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm| {
            asm.load(Kind::Long, body.context.local());
            site.map_or(Ok(()), |site| pcc::add(emitter, asm, site))
        };
        match target {
            CallTarget::Extended => {
                callees(emitter, &mut asm)?;
                asm.op(opcode::ACONST_NULL);
                invoke_extended(emitter, &mut asm, body, bci)?;
                code_edit.replace(bci, &asm);
                continue;
            }
            // Natives are always represented here.
            CallTarget::Stored { .. } | CallTarget::Rooted | CallTarget::LinkedToHashCode => {
                callees(emitter, &mut asm)?;
                emitter.helper(&mut asm, convention::STORE)?;
            }
            CallTarget::Linked => {
                // The last argument, which names the callee.
                asm.op(opcode::DUP);
                callees(emitter, &mut asm)?;
                emitter.helper(&mut asm, convention::LINK)?;
            }
            CallTarget::Counted(callee) => {
                let of_callee = pcc::of_foreign(part.chosen, &callee);
                if let Some(place) = of_callee.place {
                    callees(emitter, &mut asm)?;
                    emitter.mid(&mut asm, place)?;
                    emitter.helper(&mut asm, convention::PCC_AT)?;
                }
                if callee.calls_back {
                    callees(emitter, &mut asm)?;
                    pcc::call(emitter, &mut asm, of_callee.site)?;
                    emitter.helper(&mut asm, convention::STORE)?;
                }
            }
            CallTarget::Dispatched(callee) => match pcc::of_foreign(part.chosen, &callee).place {
                // The receiver, for its class; there are no arguments above it.
                Some(place) => {
                    asm.op(opcode::DUP);
                    callees(emitter, &mut asm)?;
                    emitter.mid(&mut asm, place)?;
                    emitter.helper(&mut asm, convention::PCC_HASH_CODE)?;
                }
                None => {
                    callees(emitter, &mut asm)?;
                    emitter.helper(&mut asm, convention::STORE)?;
                }
            },
        }
        code_edit.before(bci, &asm);
    }
    Ok(())
}
