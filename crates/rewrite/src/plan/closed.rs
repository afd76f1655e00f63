//! Original bodies of intrinsics that run no instrumented code.

use cct_classfile::{ClassFile, Code, access, opcode};
use cct_index::treatment::Treatment;
use cct_jdk::convention::OBJECT;
use cct_jdk::vm_calls;

use super::call_target::monomorphic;
use super::rows::Plan;
use crate::survey::trait_bits;
use crate::world::{ResolvedMethod, World};

/// Whether an original body runs no instrumented code. Then recording below it need not be
/// suppressed.
pub(crate) fn is_closed(
    world: &World,
    plan: &Plan,
    class: &ClassFile<'_>,
    code: &Code<'_>,
) -> cct_classfile::Result<bool> {
    for instruction in code.invocations() {
        let callee = match instruction.pool_index() {
            Some(index) if instruction.opcode != opcode::INVOKEDYNAMIC => class.pool.member_ref(index)?,
            _ => return Ok(false),
        };
        // The VM creates these exceptions too: docs/internals/scheme.md says where their calls
        // appear.
        if callee.name == b"<init>" && vm_calls::is_thrown_by_vm(callee.class) {
            continue;
        }
        let resolved = world.resolve(callee);
        let ResolvedMethod::Method(method) = resolved else { return Ok(false) };
        let (owner, summary) = world.method(method);
        let is_native_of_object = *owner.name == *OBJECT && summary.is(access::NATIVE);
        let is_leaf = match plan.get(method).map(|p| p.treatment) {
            Some(Treatment::LeafNative) => true,
            Some(Treatment::Intrinsic) => summary.has(trait_bits::CALLS_NOTHING),
            _ => is_native_of_object,
        };
        if !is_leaf || !monomorphic(world, instruction.opcode, callee.class, owner, summary) {
            return Ok(false);
        }
    }
    Ok(true)
}
