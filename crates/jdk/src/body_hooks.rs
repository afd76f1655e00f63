//! Calls of the runtime in the bodies of single methods of the class library.

use cct_classfile::MemberName;

use crate::Mode;
use crate::helpers::{TRACE_RUNTIME, VALUES_RUNTIME};
use crate::runtime_classes::{HOOKS, STACKS, WALKS};
use crate::runtime_method::RuntimeMethod;

/// Where the bodies of a method call the runtime, and with which arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On entry: `()V`.
    Entry,
    /// On entry, with the reference in this local: `(X)V`.
    EntryWith(u16),
    /// Before each return: `()V`.
    Return,
    /// Before each return of an instance method, with `this`: `(X)V`.
    ReturnWithThis,
    /// On entry of an instance method, with `this` and all arguments. The result becomes the
    /// argument in this local. The method must have as many arguments as the call has besides
    /// `this`.
    Argument(u16),
    /// After each read of this field of `this`, with the value and `this`. The result replaces the
    /// value.
    Read(&'static [u8]),
}

/// A call of a static method of the runtime in the bodies of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyHook {
    /// The method, with all its overloads.
    pub method: MemberName<'static>,
    /// The location of the call.
    pub place: Place,
    /// The runtime's method.
    pub call: RuntimeMethod,
}

/// The class of the JDK through which Java agents work.
const INSTRUMENTATION: &[u8] = b"sun/instrument/InstrumentationImpl";

/// The hooks of all modes, without those of the JVM's boot (docs/internals/runtime.md).
const USUAL: &[BodyHook] = &[
    body_hook(MemberName::new(b"sun/launcher/LauncherHelper", b"checkAndLoadMain"), Place::Entry, b"launch"),
    body_hook(MemberName::new(b"java/lang/Shutdown", b"halt"), Place::Entry, b"finish"),
    body_hook(MemberName::new(b"java/lang/Shutdown", b"shutdown"), Place::Return, b"finish"),
    // Agents. The JVM must report class files after agents have changed them. Agents must see the
    // original class files of the program (docs/internals/loadtime.md).
    body_hook(MemberName::new(INSTRUMENTATION, b"<init>"), Place::Return, b"agent"),
    body_hook(MemberName::new(INSTRUMENTATION, b"addTransformer"), Place::Return, b"agent"),
    BodyHook {
        method: MemberName::new(INSTRUMENTATION, b"transform"),
        place: Place::Argument(5),
        call: RuntimeMethod::of(HOOKS, b"original", b"(Ljava/lang/Object;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[BZ)[B"),
    },
    // `transform` of JDK 9 and later, which also takes the class's module.
    BodyHook {
        method: MemberName::new(INSTRUMENTATION, b"transform"),
        place: Place::Argument(6),
        call: RuntimeMethod::of(HOOKS, b"original", b"(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[BZ)[B"),
    },
    // The depth of an exception's stack trace, which counts only frames that the program sees (JDK
    // 9 and later).
    BodyHook {
        method: MemberName::new(b"java/lang/Throwable", b"getOurStackTrace"),
        place: Place::Read(b"depth"),
        call: RuntimeMethod::of(STACKS, b"depth", b"(ILjava/lang/Throwable;)I"),
    },
    // The first batch of a stack walk, which the VM passes. One hook replaces the number of frames,
    // the other their end.
    walk_hook(4, b"num$doStackWalk"),
    walk_hook(6, b"end$doStackWalk"),
    // The VM's description of a frame's method (up to JDK 21).
    BodyHook {
        method: MemberName::new(b"java/lang/invoke/MemberName", b"expandFromVM"),
        place: Place::ReturnWithThis,
        call: RuntimeMethod::of(WALKS, b"expanded", b"(Ljava/lang/Object;)V"),
    },
];

/// Hooks of `--reproducible`. They keep objects alive that the linkage of method handles and call
/// sites creates and drops: method types, and names from the VM.
///
/// The linkage finds such an object again through a weak reference, until a collection clears it. A
/// name that the VM must intern again is a new string, without the earlier hash code.
pub const REPRODUCIBLE: &[BodyHook] = &[
    // findForm(MethodType mtype), once for each method type.
    keeps(MemberName::new(b"java/lang/invoke/MethodTypeForm", b"findForm"), 0),
    // makeSite(MethodHandle bootstrapMethod, String name, MethodType type, Object info, Class<?>
    // callerClass)
    keeps(MemberName::new(b"java/lang/invoke/CallSite", b"makeSite"), 1),
    // linkMethod(Class<?> callerClass, int refKind, Class<?> defc, String name, Object type,
    // Object[] appendixResult)
    keeps(MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkMethod"), 3),
    // linkMethodHandleConstant(Class<?> callerClass, int refKind, Class<?> defc, String name,
    // Object type)
    keeps(MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant"), 3),
];

/// The hook of a static method that keeps one of its arguments from collection.
const fn keeps(method: MemberName<'static>, local: u16) -> BodyHook {
    let call = RuntimeMethod::of(HOOKS, b"keep", b"(Ljava/lang/Object;)V");
    BodyHook { method, place: Place::EntryWith(local), call }
}

/// The hook of `AbstractStackWalker.doStackWalk(long anchor, int skipped, int frames, int start,
/// int end)`. Releases before 24 read the end, later ones the number of frames.
const fn walk_hook(local: u16, call: &'static [u8]) -> BodyHook {
    BodyHook {
        method: MemberName::new(b"java/lang/StackStreamFactory$AbstractStackWalker", b"doStackWalk"),
        place: Place::Argument(local),
        call: RuntimeMethod::of(WALKS, call, b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIIII)I"),
    }
}

const fn body_hook(method: MemberName<'static>, place: Place, call: &'static [u8]) -> BodyHook {
    BodyHook { method, place, call: RuntimeMethod::of(HOOKS, call, b"()V") }
}

/// The hooks of a JVM's boot. They call `boot` of this class of the runtime.
const fn boots(runtime: &'static [u8]) -> [BodyHook; 2] {
    [boot(b"initializeSystemClass", runtime), boot(b"initPhase2", runtime)]
}

const fn boot(name: &'static [u8], runtime: &'static [u8]) -> BodyHook {
    let call = RuntimeMethod::of(runtime, b"boot", b"()V");
    BodyHook { method: MemberName::new(b"java/lang/System", name), place: Place::Return, call }
}

/// The boot of a JVM that counts calls.
const PROFILE_BOOT: &[BodyHook] = &boots(HOOKS);

/// The boot of a JVM that records a trace.
const TRACE_BOOT: &[BodyHook] = &boots(TRACE_RUNTIME);

/// The boot of a JVM where values represent contexts.
const VALUES_BOOT: &[BodyHook] = &boots(VALUES_RUNTIME);

/// The hooks that a class library always has in this mode. `--reproducible` adds [`REPRODUCIBLE`].
pub fn usual(mode: Mode) -> impl Iterator<Item = &'static BodyHook> {
    let boot = match mode {
        Mode { traces: true, .. } => TRACE_BOOT,
        Mode { values: true, .. } => VALUES_BOOT,
        _ => PROFILE_BOOT,
    };
    USUAL.iter().chain(boot)
}
