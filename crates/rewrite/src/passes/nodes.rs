//! Nodes as contexts (CCCP Fig. 4): a body gets its node on entry. Each call site passes a slot of
//! it to the callee, as an argument or in the thread, or counts the callee.

use cct_classfile::edit::Asm;
use cct_classfile::{Bci, Result, opcode};
use cct_index::mid::MAX_ON_ENTRY;
use cct_jdk::helpers::Helper;
use cct_tables::CostModel;

use crate::carrier::{Context, Emitter};
use crate::pass::{BodyWriter, Entry, Level, MethodContext, MethodPass, Pass};
use crate::plan::CallTarget;

/// The pass that passes nodes to callees.
pub struct Nodes;

impl Pass for Nodes {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        _level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        if method.number.is_some() || method.part.is_some() {
            return Ok(None);
        }
        // Each bytecode of a callee that its caller counts costs the same: such a callee has at
        // most its `return`.
        let return_cost = method.settings.cost_model.map_or(1, CostModel::bare_return);
        Ok(Some(Box::new(MethodNodes { calls: method.calls, return_cost })))
    }
}

/// The call sites of one method.
struct MethodNodes<'m> {
    calls: &'m [(Bci, CallTarget<'m>)],
    return_cost: u32,
}

impl MethodPass for MethodNodes<'_> {
    fn context(
        &self,
        body: &mut BodyWriter<'_, '_, '_>,
        prologue: &mut Asm,
        incoming: u16,
        entry: Entry<'_>,
    ) -> Result<Option<Context>> {
        let Some(mid) = body.mid else { return Ok(None) };
        let node = body.locals.node;
        // The id of the method carries the rest.
        let count = if count_by_id(entry.count) == 0 { entry.count } else { 0 };
        body.emitter.enter(prologue, incoming, node, mid, count, entry.update)?;
        Ok(Some(Context::Node(node)))
    }

    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let mut asm = Asm::new();
        for (site, &(bci, target)) in self.calls.iter().enumerate() {
            asm.clear();
            self.call(body, &mut asm, site, bci, target)?;
            match target {
                CallTarget::Extended => body.edit.replace(bci, &asm),
                _ => body.edit.before(bci, &asm),
            }
        }
        Ok(())
    }
}

impl MethodNodes<'_> {
    fn call(
        &self,
        body: &mut BodyWriter<'_, '_, '_>,
        asm: &mut Asm,
        site: usize,
        bci: Bci,
        target: CallTarget<'_>,
    ) -> Result<()> {
        match target {
            // The receiver, for its class; there are no arguments above it.
            CallTarget::Dispatched(_) => asm.op(opcode::DUP),
            // The last argument, which names the callee.
            CallTarget::Linked => asm.op(opcode::DUP),
            // Both of these, so one word more than elsewhere.
            CallTarget::LinkedToHashCode => {
                body.edit.need_stack(6);
                asm.op(opcode::DUP2)
            }
            _ => &mut *asm,
        };
        let store = match target {
            CallTarget::Stored { .. } | CallTarget::Rooted => Emitter::push_thread(asm, body.thread()),
            _ => Helper::Store,
        };
        body.push_context(asm, site, bci)?;
        let emitter = &mut body.emitter;
        match target {
            CallTarget::Extended => {
                asm.op(opcode::ACONST_NULL);
                body.invoke_extended(asm, bci)
            }
            CallTarget::Rooted => {
                emitter.helper(asm, Helper::RootOf)?;
                emitter.helper(asm, store)
            }
            CallTarget::Stored { .. } => emitter.helper(asm, store),
            CallTarget::Linked => emitter.helper(asm, Helper::Link),
            CallTarget::LinkedToHashCode => emitter.helper(asm, Helper::LinkHashCode),
            CallTarget::Dispatched(callee) => {
                emitter.mid(asm, callee.mid())?;
                emitter.helper(asm, Helper::HashCode)
            }
            CallTarget::Counted(callee) => {
                emitter.mid(asm, callee.mid())?;
                emitter.int(asm, u32::from(callee.bytecodes) * self.return_cost)?;
                emitter.helper(asm, if callee.calls_back { Helper::Call } else { Helper::Leaf })
            }
        }
    }
}

/// The part of an entry's count that the method's id carries, so that the node needs no update: the
/// whole count, or 0 if it exceeds [`MAX_ON_ENTRY`].
pub fn count_by_id(count: u32) -> u8 {
    u8::try_from(count).ok().filter(|all| *all <= MAX_ON_ENTRY).unwrap_or(0)
}
