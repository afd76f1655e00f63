//! The plan: every method gets exactly one treatment, with a reason.
//!
//! The rules of one method on its own come first ([`Planner::base`]), then what the hierarchy demands ([`crate::closure`]).

use std::sync::Arc;

use cct_classfile::{MemberRef, access, opcode};
use rustc_hash::FxHashMap;

use crate::closure;
use crate::convention::{self, EXTENSION_SLOTS, MAX_ARGUMENT_SLOTS, OBJECT};
use crate::error::{Error, Result};
use crate::mid::Mid;
use crate::rules;
use crate::settings::Intrinsics;
use crate::survey::{ClassSummary, MethodSummary, trait_bits};
use crate::world::{ClassId, MethodId, Resolved, Role, World};

/// What happens to a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Treatment {
    /// The body under the extended signature (ESI); the original one becomes a native-to-bytecode wrapper (N2B).
    Wrapped,
    /// The body under both signatures (ESI and OSI), so that no frame comes between it and its caller.
    Duplicated,
    /// The body under the original signature (OSI); the extended one stores the context and calls the original one virtually.
    Redispatched,
    /// No body; the extended signature stores the context and calls the original one virtually.
    AbstractRedispatched,
    /// The body under the original signature only (OSI).
    OriginalOnly,
    /// A native; the extended signature is a bytecode-to-native wrapper (B2N).
    Native,
    /// A native that never calls back; the extended signature counts and calls it.
    LeafNative,
    /// The original stays untouched for the VM's sake; the extended signature counts and calls it.
    Magic,
    /// Untouched; callers that can prove whom they call count it.
    CallerCounted,
    /// Untouched, and called without extension.
    Untouched,
    /// Untouched, so that the VM may replace it by code of its own; the extended signature counts and calls it.
    Intrinsic,
}

impl Treatment {
    /// Whether there is an extended form.
    pub fn has_extended_form(self) -> bool {
        !matches!(self, Treatment::OriginalOnly | Treatment::CallerCounted | Treatment::Untouched)
    }

    /// Whether the extended form calls the original one virtually; `super.m()` must not go through it.
    pub fn is_redispatch(self) -> bool {
        matches!(self, Treatment::Redispatched | Treatment::AbstractRedispatched)
    }

    /// All treatments, in the order of their codes.
    pub const ALL: [Treatment; 11] = [
        Treatment::Wrapped,
        Treatment::Duplicated,
        Treatment::Redispatched,
        Treatment::AbstractRedispatched,
        Treatment::OriginalOnly,
        Treatment::Native,
        Treatment::LeafNative,
        Treatment::Magic,
        Treatment::CallerCounted,
        Treatment::Untouched,
        Treatment::Intrinsic,
    ];

    /// The code that stands for it in indexes and class attributes (docs/formats/index.md).
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The treatment with this code.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Treatment::Wrapped => "wrapped",
            Treatment::Duplicated => "duplicated",
            Treatment::Redispatched => "redispatched",
            Treatment::AbstractRedispatched => "abstract-redispatched",
            Treatment::OriginalOnly => "original-only",
            Treatment::Native => "native",
            Treatment::LeafNative => "leaf-native",
            Treatment::Magic => "magic",
            Treatment::CallerCounted => "caller-counted",
            Treatment::Untouched => "untouched",
            Treatment::Intrinsic => "intrinsic",
        }
    }
}

/// A method's treatment and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// The treatment.
    pub treatment: Treatment,
    /// Why, for people; empty where the treatment is the ordinary one for such a method.
    pub reason: &'static str,
}

impl Planned {
    /// What was done in an earlier run, whose reasons are not known any more.
    pub const fn settled(treatment: Treatment) -> Self {
        Planned { treatment, reason: "" }
    }
}

pub(crate) const fn planned(treatment: Treatment, reason: &'static str) -> Planned {
    Planned { treatment, reason }
}

/// A method without a body of ours that its caller counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign<'x> {
    /// Declaring class.
    pub class: &'x [u8],
    /// Name.
    pub name: &'x [u8],
    /// Descriptor.
    pub descriptor: &'x [u8],
    /// Bytecodes it executes itself.
    pub bytecodes: u8,
    /// Whether it may call back, so that its context goes into the thread.
    pub calls_back: bool,
}

impl Foreign<'_> {
    /// Its id: with a slot for what it calls, if it may.
    pub fn mid(&self) -> Mid {
        Mid::foreign(self.class, self.name, self.descriptor, u8::from(self.calls_back))
    }
}

/// How a call site calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallTarget<'x> {
    /// By the extended signature.
    Extended,
    /// By the original one, the slot being stored into the thread before. `known` is whether the owner was in the world.
    Stored {
        /// Whether the callee was found.
        known: bool,
    },
    /// By the original one, the caller counting the callee before.
    Counted(Foreign<'x>),
    /// By the original one, and only the receiver's class tells whether it leads to this method, which nobody but the caller can count. So the
    /// slot is stored, and the callee counted if it is this one.
    Dispatched(Foreign<'x>),
    /// A method handle's last step, which goes to the method that its last argument names. The slot is stored, and the method counted if it
    /// is a native: it has no other caller.
    Linked,
    /// The same for virtual methods without arguments and with an `int` as result. The only native among them that can be overridden is
    /// `hashCode`.
    LinkedToHashCode,
}

/// The plan for all inputs.
#[derive(Debug)]
pub struct Plan {
    /// By class; empty for library classes that stay as they are.
    treatments: Vec<Arc<[Planned]>>,
    /// Extended forms to be added to classes that inherit two of them from unrelated interfaces.
    tie_breaks: FxHashMap<ClassId, Vec<MethodId>>,
}

impl Plan {
    /// Plans all inputs of a world.
    pub fn new(world: &World, intrinsics: Intrinsics) -> Result<Plan> {
        let mut treatments = Vec::with_capacity(world.len());
        for id in world.ids() {
            let class = &world[id];
            let summary = &class.summary;
            let rows = match (class.role, &summary.settled) {
                (Role::Input, Some(_)) => return Err(Error::AlreadyRewritten(lossy(&summary.name))),
                (_, Some(settled)) => settled.clone(),
                (Role::Library, None) => Arc::default(),
                (Role::Input | Role::Companion, None) => {
                    summary.methods.iter().map(|m| base(summary, m, intrinsics)).collect::<Result<_>>()?
                }
            };
            treatments.push(rows);
        }
        let mut plan = Plan { treatments, tie_breaks: FxHashMap::default() };
        closure::close(world, &mut plan);
        Ok(plan)
    }

    /// A method's treatment; `None` for methods of classes that are not rewritten, neither now nor before.
    pub fn get(&self, method: MethodId) -> Option<Planned> {
        self.treatments[method.class.0 as usize].get(usize::from(method.index)).copied()
    }

    pub(crate) fn set(&mut self, method: MethodId, to: Planned) {
        Arc::make_mut(&mut self.treatments[method.class.0 as usize])[usize::from(method.index)] = to;
    }

    /// The rows of a class.
    pub fn of_class(&self, class: ClassId) -> &[Planned] {
        &self.treatments[class.0 as usize]
    }

    /// Methods of superinterfaces for which this class needs an extended form of its own.
    pub fn tie_breaks(&self, class: ClassId) -> &[MethodId] {
        self.tie_breaks.get(&class).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add_tie_break(&mut self, class: ClassId, method: MethodId) {
        self.tie_breaks.entry(class).or_default().push(method);
    }

    /// How a call site of `caller` with this opcode and reference calls.
    pub fn call_target<'x>(
        &self,
        world: &'x World,
        caller: ClassId,
        op: opcode::Opcode,
        callee: &MemberRef<'x>,
    ) -> CallTarget<'x> {
        let MemberRef { class: owner, name, descriptor, .. } = *callee;
        if let Some(target) = counted_by_name(op, owner, name, descriptor) {
            return target;
        }
        if op == opcode::INVOKESTATIC && owner == rules::METHOD_HANDLE {
            match (name, descriptor) {
                (b"linkToStatic" | b"linkToSpecial", _) => return CallTarget::Linked,
                (b"linkToVirtual", rules::LINKED_HASH_CODE) => return CallTarget::LinkedToHashCode,
                _ => (),
            }
        }
        let resolved = match super_class_searched(world, caller, op, owner, name) {
            Some(class) => world.resolve_in(class, name, descriptor),
            None => world.resolve(owner, name, descriptor),
        };
        let may_be_hash_code =
            (name, descriptor) == HASH_CODE && op != opcode::INVOKESPECIAL && op != opcode::INVOKESTATIC;
        let hash_code = || {
            CallTarget::Dispatched(Foreign {
                class: OBJECT,
                name,
                descriptor,
                bytecodes: 0,
                calls_back: false,
            })
        };
        let Resolved::Method(method) = resolved else {
            if may_be_hash_code {
                return hash_code();
            }
            // A signature-polymorphic method has any descriptor its callers like.
            let known = rules::has_signature_polymorphic_methods(owner) && world.class_named(owner).is_some();
            return CallTarget::Stored { known };
        };
        let (class, summary) = world.method(method);
        let is_super_call = op == opcode::INVOKESPECIAL && name != b"<init>" && !summary.is(access::PRIVATE);
        let stored = CallTarget::Stored { known: true };
        // Selection starts at the direct superclass, from where it may not be possible to follow it (JVMS 6.5, `invokespecial`).
        if is_super_call && !class.is(access::INTERFACE) && world[caller].superclass.is_none() {
            return stored;
        }
        let is_certain = world[method.class].role == Role::Input
            || class.is_rewritten()
            || rules::FRAME_LISTING_NATIVES.contains(&(&*class.name, name));
        match self.get(method).map(|p| p.treatment) {
            // Which form it has in the other run is not certain, but the original is there, and only one method can be meant.
            Some(_) if is_super_call && !is_certain => match summary.is(access::NATIVE) {
                true => counted(class, summary),
                false => stored,
            },
            Some(t) if is_super_call && t.is_redispatch() => stored,
            Some(t) if t.has_extended_form() => CallTarget::Extended,
            Some(Treatment::CallerCounted) => match monomorphic(world, op, owner, class, summary) {
                true => counted(class, summary),
                false if may_be_hash_code && *class.name == *OBJECT => hash_code(),
                false => stored,
            },
            Some(_) => stored,
            None if summary.is(access::NATIVE)
                && monomorphic(world, op, owner, class, summary)
                && !rules::is_signature_polymorphic(&class.name, summary.access, descriptor) =>
            {
                counted(class, summary)
            }
            None => stored,
        }
    }
}

/// The one native of `Object` that classes override and that everybody calls.
const HASH_CODE: (&[u8], &[u8]) = (b"hashCode", b"()I");

/// Methods of `Object` whose references can only lead to one place, whatever is known of the owner.
fn counted_by_name<'x>(
    op: opcode::Opcode,
    owner: &[u8],
    name: &'x [u8],
    descriptor: &'x [u8],
) -> Option<CallTarget<'x>> {
    let leaf = |bytecodes| {
        Some(CallTarget::Counted(Foreign { class: OBJECT, name, descriptor, bytecodes, calls_back: false }))
    };
    if owner == OBJECT && name == b"<init>" {
        return leaf(1);
    }
    if op == opcode::INVOKEVIRTUAL {
        if rules::OBJECT_FINAL_NATIVES.contains(&(name, descriptor)) {
            return leaf(0);
        }
        if owner.first() == Some(&b'[') && name == b"clone" {
            return leaf(0);
        }
    }
    None
}

/// The class from which a super call is selected: the direct superclass, whichever class above the reference names (JVMS 6.5,
/// `invokespecial`).
fn super_class_searched(
    world: &World,
    caller: ClassId,
    op: opcode::Opcode,
    owner: &[u8],
    name: &[u8],
) -> Option<ClassId> {
    let named = world.class_named(owner)?;
    let is_super_call = op == opcode::INVOKESPECIAL
        && name != b"<init>"
        && named != caller
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
    let (name, descriptor) = (class.method_name(method), class.method_descriptor(method));
    let calls_back =
        method.is(access::NATIVE) && *class.name != *OBJECT && !rules::is_leaf(&class.name, name);
    Foreign { class: &class.name, name, descriptor, bytecodes: 0, calls_back }
}

/// The `k`-th method of a class, as whoever calls it counts it, if it is a native.
pub fn counted_native(class: &ClassSummary, k: usize) -> Option<Foreign<'_>> {
    class.methods.get(k).filter(|method| method.is(access::NATIVE)).map(|method| foreign(class, method))
}

/// The extended form of a descriptor.
pub fn with_extension(descriptor: &[u8]) -> Vec<u8> {
    let close = descriptor.iter().rposition(|&b| b == b')').unwrap_or(descriptor.len());
    [&descriptor[..close], convention::EXTENSION, &descriptor[close..]].concat()
}

/// The original form of an extended descriptor; `None` of one that is not extended.
pub fn without_extension(descriptor: &[u8]) -> Option<Vec<u8>> {
    let close = descriptor.iter().rposition(|&b| b == b')')?;
    let arguments = descriptor[..close].strip_suffix(convention::EXTENSION)?;
    Some([arguments, &descriptor[close..]].concat())
}

/// The treatment of a method as far as its own class decides.
fn base(class: &ClassSummary, method: &MethodSummary, intrinsics: Intrinsics) -> Result<Planned> {
    use Treatment as T;
    let (name, descriptor) = (class.method_name(method), class.method_descriptor(method));
    let named = |table: &[(&[u8], &[u8])]| table.contains(&(&class.name, name));
    if name.starts_with(b"cct$")
        || descriptor
            .windows(convention::EXTENSION.len() + 1)
            .any(|w| w[..6] == *convention::EXTENSION && w[6] == b')')
    {
        let member = format!("{}{}", lossy(name), lossy(descriptor));
        return Err(Error::NameTaken { class: lossy(&class.name), member });
    }
    if class.is(access::ANNOTATION) {
        return Ok(planned(T::Untouched, "annotation interface: its methods are looked at by reflection"));
    }
    if class.is(access::MODULE) {
        return Ok(planned(T::Untouched, "module descriptor"));
    }
    if *class.name == *OBJECT && (method.is(access::NATIVE) || name == b"<init>") {
        return Ok(planned(T::CallerCounted, "every class has it from Object; callers count it"));
    }
    if name == b"<clinit>" {
        return Ok(planned(T::OriginalOnly, ""));
    }
    if name == b"finalize"
        && descriptor == b"()V"
        && (*class.name == *OBJECT || method.has(trait_bits::EMPTY))
    {
        return Ok(planned(
            T::Untouched,
            "an empty finalizer must stay empty, or every instance becomes finalizable",
        ));
    }
    let is_object_method = rules::OBJECT_METHODS.contains(&(name, descriptor)) && !method.is(access::STATIC);
    if method.is(access::NATIVE) {
        return Ok(if rules::is_signature_polymorphic(&class.name, method.access, descriptor) {
            planned(T::Untouched, "signature-polymorphic")
        } else if (method.has(trait_bits::CALLER_SENSITIVE) || named(rules::STACK_INSPECTING_NATIVES))
            && !named(rules::FRAME_LISTING_NATIVES)
        {
            planned(T::CallerCounted, "a native that looks at its caller's frame; callers count it")
        } else if is_object_method || rules::original_only_class(&class.name).is_some() {
            planned(
                T::CallerCounted,
                "a native without extended form; callers that can prove whom they call count it",
            )
        } else if method.argument_slots + EXTENSION_SLOTS > MAX_ARGUMENT_SLOTS {
            planned(T::CallerCounted, "no room for three more argument slots; callers count it")
        } else if rules::is_leaf(&class.name, name) {
            planned(T::LeafNative, "")
        } else {
            planned(T::Native, "")
        });
    }
    let only = |reason| match method.is(access::ABSTRACT) {
        true => Ok(planned(T::Untouched, reason)),
        false => Ok(planned(T::OriginalOnly, reason)),
    };
    let is_replaced = intrinsics == Intrinsics::Native && method.has(trait_bits::INTRINSIC);
    if is_replaced && (is_object_method || rules::original_only_class(&class.name).is_some()) {
        return Ok(planned(
            T::CallerCounted,
            "HotSpot may replace it, and it has no extended form; callers that can prove whom they call count it",
        ));
    }
    if is_object_method {
        return only("overrides a method of Object, which has no extended form");
    }
    if let Some((.., reason)) = rules::ORIGINAL_ONLY.iter().find(|(c, n, _)| **c == *class.name && *n == name)
    {
        return only(reason);
    }
    if let Some(reason) = rules::original_only_class(&class.name) {
        return only(reason);
    }
    if method.argument_slots + EXTENSION_SLOTS > MAX_ARGUMENT_SLOTS {
        return only("no room for three more argument slots");
    }
    if named(rules::MAGIC) {
        return Ok(planned(
            T::Magic,
            "the VM replaces the original body by an intrinsic with other semantics",
        ));
    }
    let is_instance = !method.is(access::STATIC) && !method.is(access::PRIVATE);
    if class.is(access::INTERFACE) && is_instance {
        if !may_gain_default(class) {
            return only("a first default method would initialise the interface with its implementors");
        }
        return Ok(match method.is(access::ABSTRACT) {
            true => planned(T::AbstractRedispatched, ""),
            false => planned(T::Redispatched, "interface default: a proxy's handler must still win"),
        });
    }
    if method.is(access::ABSTRACT) {
        return Ok(planned(T::AbstractRedispatched, ""));
    }
    if method.has(trait_bits::CALLER_SENSITIVE) {
        return Ok(planned(T::Duplicated, "caller-sensitive: no frame may come between it and its caller"));
    }
    if is_replaced {
        return Ok(planned(
            T::Intrinsic,
            "HotSpot may replace it: its bytecodes and what it calls are not counted",
        ));
    }
    if class.has_host {
        return Ok(planned(
            T::Duplicated,
            "VM-anonymous: to the verifier a wrapper's `invokespecial` is one on the host class",
        ));
    }
    Ok(planned(T::Wrapped, ""))
}

/// Whether a default method can be added to an interface without changing when it is initialised (JVMS 5.5: initialising a class
/// initialises those superinterfaces that declare non-abstract, non-static methods).
fn may_gain_default(interface: &ClassSummary) -> bool {
    let is_default = |m: &MethodSummary| {
        m.is_concrete() && !m.is(access::STATIC) && !interface.method_name(m).starts_with(b"<")
    };
    interface.find(b"<clinit>", b"()V").is_none() || interface.methods.iter().any(is_default)
}

/// A name for people.
pub(crate) fn lossy(name: &[u8]) -> String {
    cct_classfile::mutf8::decode_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::{ABSTRACT, FINAL, NATIVE, PUBLIC, STATIC};
    use cct_classfile::constant_pool::tag;

    use super::*;
    use crate::testing::{TestClass, class, declared, interface, object, world};

    fn treatment(inputs: &[TestClass], class: &str, name: &str) -> Treatment {
        let world = world(inputs, &[]);
        Plan::new(&world, Intrinsics::Bytecode).unwrap().get(declared(&world, class, name)).unwrap().treatment
    }

    #[test]
    fn each_kind_of_method_has_its_treatment() {
        use Treatment as T;
        let inputs = [
            object(),
            class("A")
                .flags(ABSTRACT)
                .method(PUBLIC, "<init>", "()V")
                .method(STATIC, "<clinit>", "()V")
                .method(PUBLIC | STATIC, "s", "()V")
                .method(PUBLIC | ABSTRACT, "a", "()V")
                .method(PUBLIC | NATIVE, "n", "()V")
                .method(PUBLIC, "toString", "()Ljava/lang/String;")
                .method(PUBLIC | STATIC, "fits", format!("({})V", "I".repeat(252)))
                .method(PUBLIC | STATIC, "full", format!("({})V", "I".repeat(253))),
            class("java/lang/System").method(PUBLIC | STATIC | NATIVE, "nanoTime", "()J"),
            class("java/lang/ref/Reference").method(PUBLIC, "get", "()Ljava/lang/Object;"),
            class("java/lang/reflect/Method").method(PUBLIC, "invoke", "()V"),
        ];
        for (class, name, expected) in [
            ("A", "<init>", T::Wrapped),
            ("A", "<clinit>", T::OriginalOnly),
            ("A", "s", T::Wrapped),
            ("A", "a", T::AbstractRedispatched),
            ("A", "n", T::Native),
            ("A", "toString", T::OriginalOnly),
            ("A", "fits", T::Wrapped),
            ("A", "full", T::OriginalOnly),
            ("java/lang/Object", "<init>", T::CallerCounted),
            ("java/lang/Object", "hashCode", T::CallerCounted),
            ("java/lang/System", "nanoTime", T::LeafNative),
            ("java/lang/ref/Reference", "get", T::Magic),
            ("java/lang/reflect/Method", "invoke", T::OriginalOnly),
        ] {
            assert_eq!(treatment(&inputs, class, name), expected, "{class}.{name}");
        }
    }

    #[test]
    fn intrinsics_are_left_to_the_vm_where_that_is_chosen() {
        use Treatment as T;
        let string = "(Ljava/lang/String;)I";
        let inputs = [
            object(),
            class("java/lang/Math").method(PUBLIC | STATIC, "max", "(II)I").method(
                PUBLIC | STATIC,
                "max",
                "(FF)F",
            ),
            class("java/lang/String")
                .flags(FINAL)
                .method(PUBLIC, "equals", "(Ljava/lang/Object;)Z")
                .method(PUBLIC, "indexOf", string),
            class("java/lang/StringBuilder").method(PUBLIC, "<init>", "()V"),
            class("java/lang/ref/Reference").method(PUBLIC, "get", "()Ljava/lang/Object;"),
            class("java/nio/Buffer").method(PUBLIC, "checkIndex", "(I)I"),
            class("Caller"),
        ];
        let raw = [class("Raw").extends("java/nio/Buffer").method(PUBLIC, "checkIndex", "(I)I")];
        let world = world(&inputs, &raw);
        let plans = [Intrinsics::Bytecode, Intrinsics::Native].map(|i| Plan::new(&world, i).unwrap());
        for (class, name, descriptor, expected) in [
            ("java/lang/Math", "max", "(II)I", [T::Wrapped, T::Intrinsic]),
            ("java/lang/Math", "max", "(FF)F", [T::Wrapped, T::Wrapped]),
            ("java/lang/String", "equals", "(Ljava/lang/Object;)Z", [T::OriginalOnly, T::CallerCounted]),
            ("java/lang/String", "indexOf", string, [T::Wrapped, T::Intrinsic]),
            ("java/lang/StringBuilder", "<init>", "()V", [T::Wrapped, T::Wrapped]),
            ("java/lang/ref/Reference", "get", "()Ljava/lang/Object;", [T::Magic, T::Magic]),
            // An override that is not rewritten must win over it, whatever it is.
            ("java/nio/Buffer", "checkIndex", "(I)I", [T::Redispatched, T::Redispatched]),
        ] {
            let id = world.class_named(class.as_bytes()).unwrap();
            let index = world[id].summary.find(name.as_bytes(), descriptor.as_bytes()).unwrap() as u16;
            let method = MethodId { class: id, index };
            let found = plans.each_ref().map(|plan| plan.get(method).unwrap().treatment);
            assert_eq!(found, expected, "{class}.{name}{descriptor}");
        }
        let equals = |plan, op, class| call(plan, &world, op, class, "equals", "(Ljava/lang/Object;)Z");
        let [bytecode, native] = &plans;
        let stored = CallTarget::Stored { known: true };
        assert_eq!(equals(bytecode, opcode::INVOKEVIRTUAL, "java/lang/String"), stored);
        let CallTarget::Counted(callee) = equals(native, opcode::INVOKEVIRTUAL, "java/lang/String") else {
            panic!()
        };
        assert_eq!((callee.bytecodes, callee.calls_back), (0, false));
    }

    #[test]
    fn an_interface_gains_no_first_default_if_it_has_an_initialiser() {
        let plain = interface("I").method(PUBLIC | ABSTRACT, "m", "()V");
        let initialised = plain.clone().method(STATIC, "<clinit>", "()V");
        let with_default = initialised.clone().method(PUBLIC, "d", "()V");
        assert_eq!(treatment(&[object(), plain], "I", "m"), Treatment::AbstractRedispatched);
        assert_eq!(treatment(&[object(), initialised], "I", "m"), Treatment::Untouched);
        assert_eq!(treatment(&[object(), with_default], "I", "m"), Treatment::AbstractRedispatched);
    }

    #[test]
    fn names_of_ours_are_refused() {
        let taken = class("A").method(PUBLIC, "cct$enter", "()V");
        let world_of =
            |c: TestClass| Plan::new(&world(&[object(), c], &[]), Intrinsics::Bytecode).unwrap_err();
        assert!(matches!(world_of(taken), Error::NameTaken { .. }));
        assert!(matches!(world_of(class("A").method(PUBLIC, "m", "(IJ[[[[J)V")), Error::NameTaken { .. }));
    }

    fn call<'x>(
        plan: &Plan,
        world: &'x World,
        op: u8,
        class: &'x str,
        name: &'x str,
        descriptor: &'x str,
    ) -> CallTarget<'x> {
        let callee = MemberRef {
            tag: tag::METHODREF,
            class_index: 0,
            class: class.as_bytes(),
            name_index: 0,
            name: name.as_bytes(),
            descriptor: descriptor.as_bytes(),
        };
        let caller = world.class_named(b"Caller").or(world.class_named(b"A")).unwrap();
        plan.call_target(world, caller, op, &callee)
    }

    #[test]
    fn call_sites_find_their_way() {
        use opcode::{INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL};
        let inputs = [
            object(),
            class("A").method(PUBLIC, "m", "()V").method(PUBLIC, "r", "()V"),
            class("B").extends("A"),
            class("F").flags(FINAL),
            interface("I").method(PUBLIC, "d", "()V"),
        ];
        let raw = [
            class("Raw").extends("A").method(PUBLIC, "r", "()V").method(PUBLIC | STATIC | NATIVE, "n", "()V"),
            class("Lost").extends("Gone"),
        ];
        let world = world(&inputs, &raw);
        let plan = Plan::new(&world, Intrinsics::Bytecode).unwrap();
        let to = |op, class, name, descriptor| call(&plan, &world, op, class, name, descriptor);
        let stored = CallTarget::Stored { known: true };
        let unknown = CallTarget::Stored { known: false };
        assert_eq!(to(INVOKEVIRTUAL, "B", "m", "()V"), CallTarget::Extended);
        assert_eq!(to(INVOKESPECIAL, "A", "m", "()V"), CallTarget::Extended);
        // r redispatches, since Raw overrides it: a super call through it would come back.
        assert_eq!(to(INVOKEVIRTUAL, "A", "r", "()V"), CallTarget::Extended);
        assert_eq!(to(INVOKESPECIAL, "A", "r", "()V"), stored);
        assert_eq!(to(INVOKEINTERFACE, "I", "d", "()V"), CallTarget::Extended);
        assert_eq!(to(INVOKESPECIAL, "I", "d", "()V"), stored);
        assert_eq!(to(INVOKEVIRTUAL, "Raw", "r", "()V"), stored);
        assert_eq!(to(INVOKEVIRTUAL, "Gone", "m", "()V"), unknown);
        assert_eq!(to(INVOKEVIRTUAL, "Lost", "m", "()V"), unknown);
        assert_eq!(to(INVOKEVIRTUAL, "A", "toString", "()Ljava/lang/String;"), stored);

        let counted = |target| match target {
            CallTarget::Counted(f) => Some((f.bytecodes, f.calls_back)),
            _ => None,
        };
        assert_eq!(counted(to(INVOKESPECIAL, "java/lang/Object", "<init>", "()V")), Some((1, false)));
        assert_eq!(counted(to(INVOKEVIRTUAL, "Gone", "getClass", "()Ljava/lang/Class;")), Some((0, false)));
        assert_eq!(counted(to(INVOKEVIRTUAL, "[I", "clone", "()Ljava/lang/Object;")), Some((0, false)));
        assert_eq!(counted(to(INVOKESTATIC, "Raw", "n", "()V")), Some((0, true)));
        // A super call of a companion's native, whatever its treatment there: counted here.
        let companion = crate::testing::companion(&object(), &class("A").method(PUBLIC | NATIVE, "n", "()V"));
        let plan_beside = Plan::new(&companion, Intrinsics::Bytecode).unwrap();
        assert_eq!(counted(call(&plan_beside, &companion, INVOKESPECIAL, "A", "n", "()V")), Some((0, true)));
        assert_eq!(call(&plan_beside, &companion, INVOKEVIRTUAL, "A", "n", "()V"), CallTarget::Extended);
        // Method handles' last steps: one method, or whatever the receiver's class has.
        let linkers = ["linkToStatic", "linkToSpecial", "linkToVirtual", "linkToInterface"];
        let link = |name| {
            to(
                INVOKESTATIC,
                "java/lang/invoke/MethodHandle",
                name,
                "(Ljava/lang/Object;Ljava/lang/invoke/MemberName;)I",
            )
        };
        assert_eq!(
            linkers.map(link),
            [CallTarget::Linked, CallTarget::Linked, CallTarget::LinkedToHashCode, unknown]
        );
        let to_string = "(Ljava/lang/Object;Ljava/lang/invoke/MemberName;)Ljava/lang/Object;";
        assert_eq!(to(INVOKESTATIC, "java/lang/invoke/MethodHandle", "linkToVirtual", to_string), unknown);
        // hashCode may lead anywhere, unless the receiver's class is final or the call is not virtual.
        let dispatched = |target| matches!(target, CallTarget::Dispatched(f) if f.class == OBJECT);
        assert!(dispatched(to(INVOKEVIRTUAL, "A", "hashCode", "()I")));
        assert!(dispatched(to(INVOKEVIRTUAL, "Gone", "hashCode", "()I")));
        assert!(!dispatched(to(INVOKEVIRTUAL, "Gone", "hashCode", "(I)I")));
        assert_eq!(counted(to(INVOKEVIRTUAL, "F", "hashCode", "()I")), Some((0, false)));
        assert_eq!(counted(to(INVOKESPECIAL, "java/lang/Object", "hashCode", "()I")), Some((0, false)));
    }
}
