//! Where bodies of the class library call the runtime (docs/internals/runtime.md,
//! docs/ci/reproducible.md): at these places they must, and nowhere else they may.

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{ClassFile, Code, opcode};
use cct_jdk::body_hooks::{self, BodyHook, Place};

use crate::convention::mode;
use crate::expectation::Expectation;

/// The hooks of a method's bodies, and whether each of them must be there: those of outputs that
/// are `--reproducible` may be there where that is not known.
pub fn of_body(
    class: &[u8],
    method: &[u8],
    descriptor: &[u8],
    expectation: &Expectation,
) -> impl Iterator<Item = (&'static BodyHook, bool)> {
    let reproducible = expectation.reproducible;
    let special = if reproducible == Some(false) { &[] } else { body_hooks::REPRODUCIBLE };
    let is_certain = reproducible == Some(true);
    let usual = body_hooks::usual(mode(expectation)).map(|hook| (hook, true));
    let all = usual.chain(special.iter().map(move |hook| (hook, is_certain)));
    all.filter(move |(hook, _)| (hook.class, hook.name) == (class, method) && fits(hook, descriptor))
}

/// Whether the arguments of the method are those that the call takes beside `this`.
fn fits(hook: &BodyHook, descriptor: &[u8]) -> bool {
    let arguments = |of: &[u8]| MethodDescriptor::parse(of).map(|parsed| parsed.arguments().count()).ok();
    !matches!(hook.place, Place::Argument(_))
        || arguments(hook.call.descriptor) == arguments(descriptor).map(|count| count + 1)
}

/// Whether a method that was left as it is has a place where the runtime is to be called.
pub fn has_place(hook: &BodyHook, class: &ClassFile<'_>, code: &Code<'_>) -> bool {
    let is_read = |index: u16, field| {
        class.pool.member_ref(index).is_ok_and(|m| (m.class, m.name) == (class.name(), field))
    };
    match hook.place {
        Place::Entry | Place::EntryWith(_) | Place::Argument(_) => true,
        Place::Return | Place::ReturnWithThis => code.instructions().any(|i| opcode::is_return(i.opcode)),
        Place::Read(field) => code.instructions().any(|i| {
            i.opcode == opcode::GETFIELD && i.pool_index().is_some_and(|index| is_read(index, field))
        }),
    }
}
