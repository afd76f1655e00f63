//! Calls of the runtime in bodies of single methods of the class library.

use crate::Mode;
use crate::helpers::{TRACE_RUNTIME, VALUES_RUNTIME};
use crate::runtime_classes::{HOOKS, STACKS, WALKS};
use crate::runtime_method::RuntimeMethod;

/// Where in a method's bodies a call of the runtime is inserted, and what it gets.
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
    /// On entry of an instance method, with `this` and all arguments; the result becomes the
    /// argument in this local. Only in methods with as many arguments as the call has beside
    /// `this`.
    Argument(u16),
    /// After each read of this field of `this`, with the value and `this`; the result takes the
    /// value's place.
    Read(&'static [u8]),
}

/// A call of a static method of the runtime in the bodies of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyHook {
    /// Class of the method.
    pub class: &'static [u8],
    /// Its name.
    pub name: &'static [u8],
    /// Where the call goes.
    pub place: Place,
    /// The runtime's method.
    pub call: RuntimeMethod,
}

/// The class of the JDK by which Java agents work.
const INSTRUMENTATION: &[u8] = b"sun/instrument/InstrumentationImpl";

/// The life of the JVM, as the class library lives it (docs/internals/runtime.md).
const USUAL: &[BodyHook] = &[
    body_hook(b"sun/launcher/LauncherHelper", b"checkAndLoadMain", Place::Entry, b"launch"),
    body_hook(b"java/lang/Shutdown", b"halt", Place::Entry, b"finish"),
    body_hook(b"java/lang/Shutdown", b"shutdown", Place::Return, b"finish"),
    // Agents: the JVM is to tell of class files behind them, and they are to see those of the
    // program (docs/internals/loadtime.md).
    body_hook(INSTRUMENTATION, b"<init>", Place::Return, b"agent"),
    body_hook(INSTRUMENTATION, b"addTransformer", Place::Return, b"agent"),
    BodyHook {
        class: INSTRUMENTATION,
        name: b"transform",
        place: Place::Argument(5),
        call: RuntimeMethod::of(HOOKS, b"original", b"(Ljava/lang/Object;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[BZ)[B"),
    },
    // With the class's module since JDK 9.
    BodyHook {
        class: INSTRUMENTATION,
        name: b"transform",
        place: Place::Argument(6),
        call: RuntimeMethod::of(HOOKS, b"original", b"(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[BZ)[B"),
    },
    // An exception's trace is as long as what the program sees of it (JDK 9 and later).
    BodyHook {
        class: b"java/lang/Throwable",
        name: b"getOurStackTrace",
        place: Place::Read(b"depth"),
        call: RuntimeMethod::of(STACKS, b"depth", b"(ILjava/lang/Throwable;)I"),
    },
    // The first batch of a stack walk, which the VM hands over. The number of frames comes first,
    // then where they end.
    walk_hook(4, b"num$doStackWalk"),
    walk_hook(6, b"end$doStackWalk"),
    // What the VM tells of a frame's method, up to JDK 21.
    BodyHook {
        class: b"java/lang/invoke/MemberName",
        name: b"expandFromVM",
        place: Place::ReturnWithThis,
        call: RuntimeMethod::of(WALKS, b"expanded", b"(Ljava/lang/Object;)V"),
    },
];

/// Where profiles are to be the same in every run: what the linkage of method handles and call
/// sites makes and drops again, and finds by weak references as long as no collection has cleared
/// them. These are method types, and the names that come from the VM: a string that the VM interns
/// anew does not know its hash code.
pub const REPRODUCIBLE: &[BodyHook] = &[
    // findForm(MethodType mtype), once for each method type.
    keeps(b"java/lang/invoke/MethodTypeForm", b"findForm", 0),
    // makeSite(MethodHandle bootstrapMethod, String name, MethodType type, Object info, Class<?>
    // callerClass)
    keeps(b"java/lang/invoke/CallSite", b"makeSite", 1),
    // linkMethod(Class<?> callerClass, int refKind, Class<?> defc, String name, Object type,
    // Object[] appendixResult)
    keeps(b"java/lang/invoke/MethodHandleNatives", b"linkMethod", 3),
    // linkMethodHandleConstant(Class<?> callerClass, int refKind, Class<?> defc, String name,
    // Object type)
    keeps(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant", 3),
];

/// A static method one of whose arguments is never collected.
const fn keeps(class: &'static [u8], name: &'static [u8], local: u16) -> BodyHook {
    let call = RuntimeMethod::of(HOOKS, b"keep", b"(Ljava/lang/Object;)V");
    BodyHook { class, name, place: Place::EntryWith(local), call }
}

/// `AbstractStackWalker.doStackWalk(long anchor, int skipped, int frames, int start, int end)`;
/// releases before 24 look at the end, later ones at the number of frames.
const fn walk_hook(local: u16, call: &'static [u8]) -> BodyHook {
    BodyHook {
        class: b"java/lang/StackStreamFactory$AbstractStackWalker",
        name: b"doStackWalk",
        place: Place::Argument(local),
        call: RuntimeMethod::of(WALKS, call, b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIIII)I"),
    }
}

const fn body_hook(class: &'static [u8], name: &'static [u8], place: Place, call: &'static [u8]) -> BodyHook {
    BodyHook { class, name, place, call: RuntimeMethod::of(HOOKS, call, b"()V") }
}

/// The rows of a JVM's boot, by the class of the runtime that is called.
const fn boots(runtime: &'static [u8]) -> [BodyHook; 2] {
    [boot(b"initializeSystemClass", runtime), boot(b"initPhase2", runtime)]
}

const fn boot(name: &'static [u8], runtime: &'static [u8]) -> BodyHook {
    let call = RuntimeMethod::of(runtime, b"boot", b"()V");
    BodyHook { class: b"java/lang/System", name, place: Place::Return, call }
}

/// The boot of a JVM, where calls are counted.
const PROFILE_BOOT: &[BodyHook] = &boots(HOOKS);

/// The boot of a JVM that is traced.
const TRACE_BOOT: &[BodyHook] = &boots(TRACE_RUNTIME);

/// The boot of a JVM whose contexts are values.
const VALUES_BOOT: &[BodyHook] = &boots(VALUES_RUNTIME);

/// The hooks that a class library always has in this mode. Those of [`REPRODUCIBLE`] may be added.
pub fn usual(mode: Mode) -> impl Iterator<Item = &'static BodyHook> {
    let boot = match mode {
        Mode { traces: true, .. } => TRACE_BOOT,
        Mode { values: true, .. } => VALUES_BOOT,
        _ => PROFILE_BOOT,
    };
    USUAL.iter().chain(boot)
}
