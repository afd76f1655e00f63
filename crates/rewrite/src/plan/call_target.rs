//! Call targets: the signature by which a call site calls, and the side that counts the callee.

use cct_classfile::{MemberName, MemberRef, NameAndType, access, opcode};
use cct_index::mid::Mid;
use cct_index::record::ForeignRecord;
use cct_index::treatment::Treatment;
use cct_jdk::convention::OBJECT;
use cct_jdk::method_handles;
use cct_jdk::natives;
use cct_jdk::object_methods;

use super::rows::Plan;
use crate::survey::{ClassSummary, MethodSummary};
use crate::world::{ClassId, ResolvedMethod, Role, World};

/// A method without an instrumented body that its caller counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign<'x> {
    /// The method, with its declaring class.
    pub method: MemberRef<'x>,
    /// Bytecodes that it executes itself.
    pub bytecodes: u8,
    /// Whether it may call back, so that its context goes into the thread.
    pub calls_back: bool,
}

impl Foreign<'_> {
    /// Id of the method, with a slot for its callees if it may call back.
    pub fn mid(&self) -> Mid {
        Mid::foreign(self.method, u8::from(self.calls_back))
    }
}

impl From<Foreign<'_>> for ForeignRecord {
    fn from(f: Foreign<'_>) -> Self {
        let MemberRef { class, name, descriptor } = f.method;
        ForeignRecord { mid: f.mid(), class: class.into(), name: name.into(), descriptor: descriptor.into() }
    }
}

/// The signature and the counting of a call site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallTarget<'x> {
    /// The extended signature.
    Extended,
    /// The original signature. The caller stores the slot into the thread before the call. `known`
    /// is whether the owner was in the world.
    Stored {
        /// Whether the callee was found.
        known: bool,
    },
    /// The original signature, for a native that is not represented. The caller stores the thread's
    /// root into the thread before the call.
    Rooted,
    /// The original signature. The caller counts the callee before the call.
    Counted(Foreign<'x>),
    /// The original signature, where only the receiver's class shows whether the call leads to this
    /// method, which only the caller can count. So the caller stores the slot, and counts the
    /// callee if it is this method.
    Dispatched(Foreign<'x>),
    /// The last step of a method handle, which calls the method that its last argument names. The
    /// caller stores the slot, and counts the method if it is a native, which has no other caller.
    Linked,
    /// The last step of a method handle that calls a virtual method without arguments and with an
    /// `int` as result. Among these, `hashCode` is the only native that can be overridden.
    LinkedToHashCode,
}

impl Plan {
    /// The target of a call site in `caller` with this opcode and reference.
    pub fn call_target<'x>(
        &self,
        world: &'x World,
        caller: ClassId,
        op: opcode::Opcode,
        callee: MemberRef<'x>,
    ) -> CallTarget<'x> {
        let MemberRef { class: owner, name, descriptor } = callee;
        if let Some(target) = counted_by_name(world, op, callee) {
            return target;
        }
        if op == opcode::INVOKESTATIC && owner == method_handles::METHOD_HANDLE {
            match (name, descriptor) {
                (b"linkToStatic" | b"linkToSpecial", _) => return CallTarget::Linked,
                (b"linkToVirtual", method_handles::LINKED_HASH_CODE) => return CallTarget::LinkedToHashCode,
                _ => (),
            }
        }
        let resolved = match super_class_searched(world, caller, op, callee) {
            Some(class) => world.resolve_in(class, callee.name_and_type()),
            None => world.resolve(callee),
        };
        let may_be_hash_code =
            callee.name_and_type() == HASH_CODE && op != opcode::INVOKESPECIAL && op != opcode::INVOKESTATIC;
        let hash_code = || {
            let method = callee.name_and_type().of_class(OBJECT);
            CallTarget::Dispatched(Foreign { method, bytecodes: 0, calls_back: false })
        };
        let ResolvedMethod::Method(method) = resolved else {
            if may_be_hash_code {
                return hash_code();
            }
            // A reference to a signature-polymorphic method has any descriptor that its caller
            // likes.
            let known = method_handles::has_signature_polymorphic_methods(owner)
                && world.class_named(owner).is_some();
            return CallTarget::Stored { known };
        };
        let (class, summary) = world.method(method);
        let is_super_call = op == opcode::INVOKESPECIAL && name != b"<init>" && !summary.is(access::PRIVATE);
        let stored = CallTarget::Stored { known: true };
        // Selection starts at the direct superclass (JVMS 6.5, `invokespecial`). If that class is
        // unknown, the selection cannot be followed.
        if is_super_call && !class.is(access::INTERFACE) && world[caller].superclass.is_none() {
            return stored;
        }
        let is_certain = world[method.class].role == Role::Input
            || class.is_rewritten()
            || natives::FRAME_LISTING_NATIVES.contains(&MemberName::new(&class.name, name));
        match self.get(method).map(|p| p.treatment) {
            // It counts itself for every caller.
            Some(Treatment::Prefixed) => stored,
            // The form of the method in the other run is not certain, but its original exists, and
            // only one method can be meant.
            Some(_) if is_super_call && !is_certain => {
                if summary.is(access::NATIVE) {
                    counted(class, summary)
                } else {
                    stored
                }
            }
            Some(t) if is_super_call && t.is_redispatch() => stored,
            Some(t) if t.has_extended_form() => CallTarget::Extended,
            Some(Treatment::CallerCounted) => {
                if monomorphic(world, op, owner, class, summary) {
                    counted(class, summary)
                } else if may_be_hash_code && *class.name == *OBJECT {
                    hash_code()
                } else {
                    stored
                }
            }
            Some(_) => stored,
            None if summary.is(access::NATIVE)
                && monomorphic(world, op, owner, class, summary)
                && !method_handles::is_signature_polymorphic(class.member(summary), summary.access) =>
            {
                counted(class, summary)
            }
            None => stored,
        }
    }
}

/// The only native of `Object` that classes override and that every class may call.
const HASH_CODE: NameAndType<'_> = NameAndType::new(b"hashCode", b"()I");

/// Target of a reference to a method of `Object` that can only lead to one method, even if the
/// owner is unknown.
fn counted_by_name<'x>(world: &World, op: opcode::Opcode, callee: MemberRef<'x>) -> Option<CallTarget<'x>> {
    let method = callee.name_and_type();
    let leaf = |bytecodes| {
        let method = method.of_class(OBJECT);
        Some(CallTarget::Counted(Foreign { method, bytecodes, calls_back: false }))
    };
    if callee.class == OBJECT && callee.name == b"<init>" {
        return leaf(1);
    }
    if op == opcode::INVOKEVIRTUAL {
        if object_methods::OBJECT_FINAL_NATIVES.contains(&method) && !has_body(world, method) {
            return leaf(0);
        }
        if callee.class.first() == Some(&b'[') && callee.name == b"clone" {
            return leaf(0);
        }
    }
    None
}

/// Whether a former native of `Object` has a body in this world and counts itself: `wait(long)`
/// since JDK 19.
fn has_body(world: &World, native: NameAndType<'_>) -> bool {
    let object = world.class_named(OBJECT).map(|id| &world[id].summary);
    let method = object.and_then(|class| Some(&class.methods[class.find(native)?]));
    method.is_some_and(|method| !method.is(access::NATIVE))
}

/// The class from which a super call is selected: the direct superclass, even if the reference
/// names a class above it (JVMS 6.5, `invokespecial`).
fn super_class_searched(
    world: &World,
    caller: ClassId,
    op: opcode::Opcode,
    callee: MemberRef<'_>,
) -> Option<ClassId> {
    if op != opcode::INVOKESPECIAL || callee.name == b"<init>" {
        return None;
    }
    let named = world.class_named(callee.class)?;
    let is_super_call = named != caller
        && !world[named].summary.is(access::INTERFACE)
        && world.superclasses(caller).any(|c| c == named);
    world[caller].superclass.filter(|_| is_super_call)
}

/// Whether a call site can only reach the method its reference resolves to.
pub(crate) fn monomorphic(
    world: &World,
    op: opcode::Opcode,
    owner: &[u8],
    class: &ClassSummary,
    method: &MethodSummary,
) -> bool {
    matches!(op, opcode::INVOKESTATIC | opcode::INVOKESPECIAL)
        || method.access & (access::FINAL | access::PRIVATE) != 0
        || class.is(access::FINAL)
        || world.class_named(owner).is_some_and(|c| world[c].summary.is(access::FINAL))
}

/// A native or an intrinsic, counted by its caller.
fn counted<'x>(class: &'x ClassSummary, method: &MethodSummary) -> CallTarget<'x> {
    CallTarget::Counted(foreign(class, method))
}

fn foreign<'x>(class: &'x ClassSummary, method: &MethodSummary) -> Foreign<'x> {
    let member = class.member(method);
    let calls_back =
        method.is(access::NATIVE) && *class.name != *OBJECT && !natives::is_leaf(member.member_name());
    Foreign { method: member, bytecodes: 0, calls_back }
}

/// The `k`-th method of a class as its callers count it, if it is a native.
pub fn counted_native(class: &ClassSummary, k: usize) -> Option<Foreign<'_>> {
    class.methods.get(k).filter(|method| method.is(access::NATIVE)).map(|method| foreign(class, method))
}
