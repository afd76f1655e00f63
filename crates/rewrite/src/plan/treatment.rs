//! The treatment of a method as far as its own class decides.

use cct_classfile::mutf8::lossy;
use cct_classfile::{MemberName, MemberRef, NameAndType, access};
use cct_index::treatment::Treatment;
use cct_jdk::convention::{self, EXTENSION_SLOTS, MAX_ARGUMENT_SLOTS, OBJECT};
use cct_jdk::flight_recorder;
use cct_jdk::intrinsics;
use cct_jdk::method_handles;
use cct_jdk::natives;
use cct_jdk::object_methods;
use cct_jdk::original_signatures;
use cct_jdk::program;
use cct_jdk::threads;
use cct_jdk::vm_calls;
use cct_settings::{ContextCarrier, Intrinsics, Natives, Settings};

use super::prefixed;
use crate::error::{Error, Result};
use crate::hooks;
use crate::planned::{Planned, planned};
use crate::survey::{ClassSummary, MethodSummary, trait_bits};

/// The treatment of a method as far as its own class decides.
pub(super) fn own(class: &ClassSummary, method: &MethodSummary, settings: &Settings) -> Result<Planned> {
    if settings.pcc().is_some() && hooks::question(class.member(method)).is_some() {
        return Ok(planned(Treatment::Untouched, "asks the runtime for the value of its context"));
    }
    let base = base(class, method, settings.intrinsics)?;
    Ok(match settings.context {
        ContextCarrier::Argument if class.is_debugged => in_place(base),
        ContextCarrier::Argument => base,
        ContextCarrier::Thread if settings.natives == Natives::Prefix => {
            prefixed::planned_native(class, method, by_thread(class, method, base))
        }
        ContextCarrier::Thread => by_thread(class, method, base),
    })
}

/// The treatment of a method in a class that a debugger may inspect. A debugger knows a method by
/// its original signature, so breakpoints must be in the body under that signature.
fn in_place(base: Planned) -> Planned {
    use Treatment as T;
    let reason = "a debugger may look at it";
    match base.treatment {
        T::Wrapped | T::Duplicated | T::Redispatched => planned(T::OriginalOnly, reason),
        T::AbstractRedispatched => planned(T::Untouched, reason),
        _ => base,
    }
}

/// The treatment of a method where the thread carries the context: signatures and bodies stay. Only
/// methods without a body that counts them get an extended form: natives, methods that HotSpot may
/// replace with code that counts nothing, and methods that run while the current thread changes.
/// Constructors of exceptions get one too, since the JVM also calls them: one body for both uses
/// would have to walk the stack whenever the program throws.
fn by_thread(class: &ClassSummary, method: &MethodSummary, base: Planned) -> Planned {
    use Treatment as T;
    if threads::changes_the_current_thread(&class.name) {
        return base;
    }
    match base.treatment {
        T::Wrapped | T::Duplicated if method.has(trait_bits::RECOGNISED) => {
            planned(base.treatment, "HotSpot's compilers know it, but not in its extended form")
        }
        T::Wrapped | T::Duplicated
            if vm_calls::is_thrown_by_vm(&class.name) && class.method_name(method) == b"<init>" =>
        {
            planned(base.treatment, "the JVM calls it by itself, too; its extended form is for all others")
        }
        T::Wrapped | T::Duplicated | T::Redispatched => planned(T::OriginalOnly, ""),
        T::AbstractRedispatched => planned(T::Untouched, ""),
        _ => base,
    }
}

/// The extended form that leads to those of overriding methods, for a method that has none because
/// the thread carries contexts; `None` where there cannot be one.
pub(crate) fn leading_below(class: &ClassSummary, method: &MethodSummary) -> Option<Treatment> {
    match base(class, method, Intrinsics::Bytecode).ok()?.treatment {
        Treatment::Wrapped | Treatment::Duplicated | Treatment::Redispatched => Some(Treatment::Redispatched),
        Treatment::AbstractRedispatched => Some(Treatment::AbstractRedispatched),
        _ => None,
    }
}

/// The treatment of a method where callees get their context as an argument.
fn base(class: &ClassSummary, method: &MethodSummary, choice: Intrinsics) -> Result<Planned> {
    use Treatment as T;
    let member = class.member(method);
    let MemberRef { name, descriptor, .. } = member;
    let named = |table: &[MemberName<'_>]| table.contains(&member.member_name());
    if name.starts_with(b"cct$")
        || descriptor
            .windows(convention::EXTENSION.len() + 1)
            .any(|w| w[..6] == *convention::EXTENSION && w[6] == b')')
    {
        let member = member.name_and_type().to_string();
        return Err(Error::NameTaken { class: lossy(&class.name), member });
    }
    if class.is(access::ANNOTATION) {
        return Ok(planned(T::Untouched, "annotation interface: its methods are looked at by reflection"));
    }
    if flight_recorder::is_copied_by_jfr(&class.name) {
        return Ok(planned(T::Untouched, "Flight Recorder copies its code into other classes"));
    }
    if class.is(access::MODULE) {
        return Ok(planned(T::Untouched, "module descriptor"));
    }
    if *class.name == *OBJECT && (method.is(access::NATIVE) || name == b"<init>") {
        return Ok(planned(T::CallerCounted, "every class has it from Object; callers count it"));
    }
    if program::switch(member).is_some() {
        return Ok(planned(
            T::Untouched,
            "switches the recording: calls the runtime, and is not counted itself",
        ));
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
    let is_object_method =
        object_methods::OBJECT_METHODS.contains(&member.name_and_type()) && !method.is(access::STATIC);
    if method.is(access::NATIVE) {
        return Ok(if method_handles::is_signature_polymorphic(member, method.access) {
            planned(T::Untouched, "signature-polymorphic")
        } else if (method.has(trait_bits::CALLER_SENSITIVE) || named(natives::STACK_INSPECTING_NATIVES))
            && !named(natives::FRAME_LISTING_NATIVES)
        {
            planned(T::CallerCounted, "a native that looks at its caller's frame; callers count it")
        } else if is_object_method || original_signatures::original_only_class(&class.name).is_some() {
            planned(
                T::CallerCounted,
                "a native without extended form; callers that can prove whom they call count it",
            )
        } else if method.argument_slots + EXTENSION_SLOTS > MAX_ARGUMENT_SLOTS {
            planned(T::CallerCounted, "no room for three more argument slots; callers count it")
        } else if natives::is_leaf(member.member_name()) {
            planned(T::LeafNative, "")
        } else {
            planned(T::Native, "")
        });
    }
    let only = |reason| {
        if method.is(access::ABSTRACT) {
            Ok(planned(T::Untouched, reason))
        } else {
            Ok(planned(T::OriginalOnly, reason))
        }
    };
    let is_one_instruction = intrinsics::is_one_instruction(member.member_name());
    let is_replaced =
        method.has(trait_bits::INTRINSIC) && (is_one_instruction || choice == Intrinsics::Native);
    if is_replaced && (is_object_method || original_signatures::original_only_class(&class.name).is_some()) {
        return Ok(planned(
            T::CallerCounted,
            "HotSpot may replace it, and it has no extended form; callers that can prove whom they call count it",
        ));
    }
    if is_object_method {
        return only("overrides a method of Object, which has no extended form");
    }
    if let Some((_, reason)) =
        original_signatures::ORIGINAL_ONLY.iter().find(|(only, _)| *only == member.member_name())
    {
        return only(reason);
    }
    if let Some(reason) = original_signatures::original_only_class(&class.name) {
        return only(reason);
    }
    if method.argument_slots + EXTENSION_SLOTS > MAX_ARGUMENT_SLOTS {
        return only("no room for three more argument slots");
    }
    if named(original_signatures::MAGIC)
        && !original_signatures::has_native_for_magic(|native| class.find(native).is_some())
    {
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
        return Ok(if method.is(access::ABSTRACT) {
            planned(T::AbstractRedispatched, "")
        } else {
            planned(T::Redispatched, "interface default: a proxy's handler must still win")
        });
    }
    if method.is(access::ABSTRACT) {
        return Ok(planned(T::AbstractRedispatched, ""));
    }
    if flight_recorder::is_instrumented_by_jfr(class.major_version, member.member_name()) {
        let reason = "Flight Recorder copies code into the body under the original signature";
        return if is_instance { Ok(planned(T::Redispatched, reason)) } else { only(reason) };
    }
    if flight_recorder::is_constructor_instrumented_by_jfr(class.major_version, member.member_name()) {
        return Ok(planned(T::Duplicated, "Flight Recorder puts code at the end of the body"));
    }
    if method.has(trait_bits::CALLER_SENSITIVE) {
        return Ok(planned(T::Duplicated, "caller-sensitive: no frame may come between it and its caller"));
    }
    if is_replaced && is_one_instruction {
        return Ok(planned(
            T::Intrinsic,
            "an instruction of the processor, for which its Java body computes for long: its bytecodes and what it calls are not counted",
        ));
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

/// Whether a default method can be added to an interface without changing when it is initialised
/// (JVMS 5.5: initialising a class initialises those superinterfaces that declare non-abstract,
/// non-static methods).
fn may_gain_default(interface: &ClassSummary) -> bool {
    let is_default = |m: &MethodSummary| {
        m.is_concrete() && !m.is(access::STATIC) && !interface.method_name(m).starts_with(b"<")
    };
    interface.find(NameAndType::new(b"<clinit>", b"()V")).is_none()
        || interface.methods.iter().any(is_default)
}
