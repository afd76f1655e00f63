//! Hooks in bodies of the class library (docs/internals/runtime.md, docs/ci/reproducible.md):
//! bodies must call the runtime at these locations, and nowhere else.

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{ClassFile, Code, MemberName, MemberRef, opcode};
use cct_jdk::body_hooks::{self, BodyHook, Place};

use crate::convention::mode;
use crate::expectation::Expectation;

/// The hooks of a method's bodies, each with whether it must be there. Hooks of `--reproducible`
/// outputs are optional if the kind of output is unknown.
pub fn of_body(
    method: MemberRef<'_>,
    expectation: &Expectation,
) -> impl Iterator<Item = (&'static BodyHook, bool)> {
    let reproducible = expectation.reproducible;
    let special = if reproducible == Some(false) { &[] } else { body_hooks::REPRODUCIBLE };
    let is_certain = reproducible == Some(true);
    let usual = body_hooks::usual(mode(expectation)).map(|hook| (hook, true));
    let all = usual.chain(special.iter().map(move |hook| (hook, is_certain)));
    all.filter(move |(hook, _)| hook.method == method.member_name() && fits(hook, method.descriptor))
}

/// Whether the arguments of the method are those that the call takes in addition to `this`.
fn fits(hook: &BodyHook, descriptor: &[u8]) -> bool {
    let arguments = |of: &[u8]| MethodDescriptor::parse(of).map(|parsed| parsed.arguments().count()).ok();
    !matches!(hook.place, Place::Argument(_))
        || arguments(hook.call.member.descriptor) == arguments(descriptor).map(|count| count + 1)
}

/// Whether a method that stayed unchanged has a location where it must call the runtime.
pub fn has_place(hook: &BodyHook, class: &ClassFile<'_>, code: &Code<'_>) -> bool {
    let is_read = |index: u16, field| {
        class.pool.member_ref(index).is_ok_and(|m| m.member_name() == MemberName::new(class.name(), field))
    };
    match hook.place {
        Place::Entry | Place::EntryWith(_) | Place::Argument(_) => true,
        Place::Return | Place::ReturnWithThis => code.instructions().any(|i| opcode::is_return(i.opcode)),
        Place::Read(field) => code.instructions().any(|i| {
            i.opcode == opcode::GETFIELD && i.pool_index().is_some_and(|index| is_read(index, field))
        }),
    }
}
