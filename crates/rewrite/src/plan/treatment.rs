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
use crate::planned_treatment::{PlannedTreatment, planned};
use crate::survey::{ClassSummary, MethodSummary, trait_bits};

/// The treatment of a method as far as its own class decides.
pub(super) fn own(
    class: &ClassSummary,
    method: &MethodSummary,
    settings: &Settings,
) -> Result<PlannedTreatment> {
    if program::query(class.member(method), method.access, settings.mode()).is_some() {
        return Ok(planned(Treatment::Untouched, "queries the runtime"));
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
fn in_place(base: PlannedTreatment) -> PlannedTreatment {
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
fn by_thread(class: &ClassSummary, method: &MethodSummary, base: PlannedTreatment) -> PlannedTreatment {
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
fn base(class: &ClassSummary, method: &MethodSummary, intrinsics: Intrinsics) -> Result<PlannedTreatment> {
    let case = Case { class, method, member: class.member(method), intrinsics };
    case.check_name()?;
    Ok(match case.singular() {
        Some(planned) => planned,
        None if method.is(access::NATIVE) => case.native(),
        None => case.without_extended_form().unwrap_or_else(|| case.with_extended_form()),
    })
}

/// A method, and what decides about it.
struct Case<'s> {
    class: &'s ClassSummary,
    method: &'s MethodSummary,
    member: MemberRef<'s>,
    intrinsics: Intrinsics,
}

impl Case<'_> {
    fn check_name(&self) -> Result<()> {
        let extension = convention::EXTENSION;
        let is_extended = |w: &[u8]| w.strip_prefix(extension).is_some_and(|rest| rest == b")");
        let MemberRef { name, descriptor, .. } = self.member;
        let may_be_extended = descriptor.contains(&b'[');
        let is_free = !may_be_extended || !descriptor.windows(extension.len() + 1).any(is_extended);
        if is_free && !name.starts_with(b"cct$") {
            return Ok(());
        }
        let member = self.member.name_and_type().to_string();
        Err(Error::NameTaken { class: lossy(&self.class.name), member })
    }

    /// The treatment of a method that its class or its name sets apart.
    fn singular(&self) -> Option<PlannedTreatment> {
        use Treatment as T;
        let Case { class, method, member, .. } = self;
        let is_of_object = *class.name == *OBJECT;
        let (treatment, reason) = if class.is(access::ANNOTATION) {
            (T::Untouched, "annotation interface: its methods are looked at by reflection")
        } else if flight_recorder::is_copied_by_jfr(&class.name) {
            (T::Untouched, "Flight Recorder copies its code into other classes")
        } else if class.is(access::MODULE) {
            (T::Untouched, "module descriptor")
        } else if is_of_object && (method.is(access::NATIVE) || member.name == b"<init>") {
            (T::CallerCounted, "every class has it from Object; callers count it")
        } else if program::switch(*member).is_some() {
            (T::Untouched, "switches the recording: calls the runtime, and is not counted itself")
        } else if program::reads_counts(&class.name) {
            (T::Untouched, "reads counts, and is not counted itself")
        } else if member.name == b"<clinit>" {
            (T::OriginalOnly, "")
        } else if member.name_and_type() == NameAndType::new(b"finalize", b"()V")
            && (is_of_object || method.has(trait_bits::EMPTY))
        {
            (T::Untouched, "an empty finalizer must stay empty, or every instance becomes finalizable")
        } else {
            return None;
        };
        Some(planned(treatment, reason))
    }

    fn native(&self) -> PlannedTreatment {
        use Treatment as T;
        let Case { class, method, member, .. } = self;
        let is_in = |table: &[MemberName<'_>]| table.contains(&member.member_name());
        let looks_at_its_caller =
            method.has(trait_bits::CALLER_SENSITIVE) || is_in(natives::STACK_INSPECTING_NATIVES);
        if method_handles::is_signature_polymorphic(*member, method.access) {
            planned(T::Untouched, "signature-polymorphic")
        } else if looks_at_its_caller && !is_in(natives::FRAME_LISTING_NATIVES) {
            planned(T::CallerCounted, "a native that looks at its caller's frame; callers count it")
        } else if self.is_object_method() || original_signatures::original_only_class(&class.name).is_some() {
            planned(
                T::CallerCounted,
                "a native without extended form; callers that can prove whom they call count it",
            )
        } else if !self.has_room() {
            planned(T::CallerCounted, "no room for three more argument slots; callers count it")
        } else if natives::is_leaf(member.member_name()) {
            planned(T::LeafNative, "")
        } else {
            planned(T::Native, "")
        }
    }

    /// The treatment of a method that can have no extended form, or only one that calls the
    /// original.
    fn without_extended_form(&self) -> Option<PlannedTreatment> {
        use Treatment as T;
        let Case { class, member, .. } = self;
        let by_class = original_signatures::original_only_class(&class.name);
        if self.is_replaced() && (self.is_object_method() || by_class.is_some()) {
            return Some(planned(
                T::CallerCounted,
                "HotSpot may replace it, and it has no extended form; callers that can prove whom they call count it",
            ));
        }
        if self.is_object_method() {
            return Some(self.original("overrides a method of Object, which has no extended form"));
        }
        let mut table = original_signatures::ORIGINAL_ONLY.iter();
        let by_name = table.find(|(only, _)| *only == member.member_name()).map(|(_, reason)| *reason);
        if let Some(reason) = by_name.or(by_class) {
            return Some(self.original(reason));
        }
        if !self.has_room() {
            return Some(self.original("no room for three more argument slots"));
        }
        let is_magic = original_signatures::MAGIC.contains(&member.member_name())
            && !original_signatures::has_native_for_magic(|native| class.find(native).is_some());
        let reason = "the VM replaces the original body by an intrinsic with other semantics";
        is_magic.then(|| planned(T::Magic, reason))
    }

    fn with_extended_form(&self) -> PlannedTreatment {
        use Treatment as T;
        let Case { class, method, member, .. } = self;
        let is_abstract = method.is(access::ABSTRACT);
        let is_instance = !method.is(access::STATIC) && !method.is(access::PRIVATE);
        if class.is(access::INTERFACE) && is_instance {
            return if !may_gain_default(class) {
                self.original("a first default method would initialise the interface with its implementors")
            } else if is_abstract {
                planned(T::AbstractRedispatched, "")
            } else {
                planned(T::Redispatched, "interface default: a proxy's handler must still win")
            };
        }
        if is_abstract {
            return planned(T::AbstractRedispatched, "");
        }
        let (version, name) = (class.major_version, member.member_name());
        if flight_recorder::is_instrumented_by_jfr(version, name) {
            let reason = "Flight Recorder copies code into the body under the original signature";
            return if is_instance { planned(T::Redispatched, reason) } else { self.original(reason) };
        }
        let (treatment, reason) = if flight_recorder::is_constructor_instrumented_by_jfr(version, name) {
            (T::Duplicated, "Flight Recorder puts code at the end of the body")
        } else if method.has(trait_bits::CALLER_SENSITIVE) {
            (T::Duplicated, "caller-sensitive: no frame may come between it and its caller")
        } else if self.is_replaced() && intrinsics::is_one_instruction(name) {
            (
                T::Intrinsic,
                "an instruction of the processor, for which its Java body computes for long: its bytecodes and what it calls are not counted",
            )
        } else if self.is_replaced() {
            (T::Intrinsic, "HotSpot may replace it: its bytecodes and what it calls are not counted")
        } else if class.has_host {
            (
                T::Duplicated,
                "VM-anonymous: to the verifier a wrapper's `invokespecial` is one on the host class",
            )
        } else {
            (T::Wrapped, "")
        };
        planned(treatment, reason)
    }

    /// The treatment of a method that keeps its original signature alone.
    fn original(&self, reason: &'static str) -> PlannedTreatment {
        let is_abstract = self.method.is(access::ABSTRACT);
        planned(if is_abstract { Treatment::Untouched } else { Treatment::OriginalOnly }, reason)
    }

    fn is_object_method(&self) -> bool {
        object_methods::OBJECT_METHODS.contains(&self.member.name_and_type())
            && !self.method.is(access::STATIC)
    }

    /// Whether HotSpot may run its own code instead of the body.
    fn is_replaced(&self) -> bool {
        self.method.has(trait_bits::INTRINSIC)
            && (self.intrinsics == Intrinsics::Native
                || intrinsics::is_one_instruction(self.member.member_name()))
    }

    /// Whether there is room for the context among the arguments.
    fn has_room(&self) -> bool {
        self.method.argument_slots + EXTENSION_SLOTS <= MAX_ARGUMENT_SLOTS
    }
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
