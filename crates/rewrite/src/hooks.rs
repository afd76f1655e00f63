//! Single places of the class library where the runtime must be called, and members that single classes get.

use cct_classfile::descriptor::MethodDescriptor;

use crate::convention::{self, Helper};
pub use crate::runtime_method::RuntimeMethod;
use crate::settings::{Settings, Tool};

/// The runtime's class for the life of the JVM, definitions of classes, and reflection.
const HOOKS: &[u8] = b"java/lang/CctHooks";

/// The runtime's class for what lists frames of the stack.
const STACKS: &[u8] = b"java/lang/CctStacks";

/// The runtime's class for natives that method handles and reflection lead to.
const NATIVES: &[u8] = b"java/lang/CctNatives";

/// The runtime's class for virtual threads that are being mounted or unmounted.
const TRANSITIONS: &[u8] = b"java/lang/CctTransitions";

/// The same for `StackWalker`, which JDK 8 does not have.
const WALKS: &[u8] = b"java/lang/CctWalks";

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
    /// On entry of an instance method, with `this` and all arguments; the result becomes the argument in this local. Only in methods with as many arguments as the
    /// call has beside `this`.
    Argument(u16),
    /// After each read of this field of `this`, with the value and `this`; the result takes the value's place.
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

impl BodyHook {
    /// Whether it belongs into a method with this descriptor: releases differ.
    pub fn fits(&self, descriptor: &[u8]) -> bool {
        let arguments = |of: &[u8]| MethodDescriptor::parse(of).map(|parsed| parsed.arguments().count()).ok();
        match self.place {
            Place::Argument(_) => {
                arguments(self.call.descriptor) == arguments(descriptor).map(|count| count + 1)
            }
            _ => true,
        }
    }
}

/// The class of the JDK by which Java agents work.
const INSTRUMENTATION: &[u8] = b"sun/instrument/InstrumentationImpl";

/// The life of the JVM, as the class library lives it (docs/runtime.md).
pub const BODY_HOOKS: &[BodyHook] = &[
    body_hook(b"java/lang/System", b"initializeSystemClass", Place::Return, b"boot"),
    body_hook(b"java/lang/System", b"initPhase2", Place::Return, b"boot"),
    body_hook(b"sun/launcher/LauncherHelper", b"checkAndLoadMain", Place::Entry, b"launch"),
    body_hook(b"java/lang/Shutdown", b"halt", Place::Entry, b"finish"),
    body_hook(b"java/lang/Shutdown", b"shutdown", Place::Return, b"finish"),
    // Agents: the JVM is to tell of class files behind them, and they are to see those of the program (docs/loadtime.md).
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
    // The first batch of a stack walk, which the VM hands over. The number of frames comes first, then where they end.
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

/// Where profiles are to be the same in every run: what the linkage of method handles and call sites makes and drops again, and finds by weak
/// references as long as no collection has cleared them. These are method types, and the names that come from the VM: a string that the VM
/// interns anew does not know its hash code.
const REPRODUCIBLE_BODY_HOOKS: &[BodyHook] = &[
    // findForm(MethodType mtype), once for each method type.
    keeps(b"java/lang/invoke/MethodTypeForm", b"findForm", 0),
    // makeSite(MethodHandle bootstrapMethod, String name, MethodType type, Object info, Class<?> callerClass)
    keeps(b"java/lang/invoke/CallSite", b"makeSite", 1),
    // linkMethod(Class<?> callerClass, int refKind, Class<?> defc, String name, Object type, Object[] appendixResult)
    keeps(b"java/lang/invoke/MethodHandleNatives", b"linkMethod", 3),
    // linkMethodHandleConstant(Class<?> callerClass, int refKind, Class<?> defc, String name, Object type)
    keeps(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant", 3),
];

/// A static method one of whose arguments is never collected.
const fn keeps(class: &'static [u8], name: &'static [u8], local: u16) -> BodyHook {
    let call = RuntimeMethod::of(HOOKS, b"keep", b"(Ljava/lang/Object;)V");
    BodyHook { class, name, place: Place::EntryWith(local), call }
}

/// `AbstractStackWalker.doStackWalk(long anchor, int skipped, int frames, int start, int end)`; releases before 24 look at the end, later ones at
/// the number of frames.
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

/// What [`BODY_HOOKS`] has for the boot of a JVM, where it says that this is to be traced.
const TRACE_BOOT: [BodyHook; 2] = [
    trace_boot(b"java/lang/System", b"initializeSystemClass"),
    trace_boot(b"java/lang/System", b"initPhase2"),
];

const fn trace_boot(class: &'static [u8], name: &'static [u8]) -> BodyHook {
    let call = RuntimeMethod::of(convention::TRACE_RUNTIME, b"boot", b"()V");
    BodyHook { class, name, place: Place::Return, call }
}

/// The same where contexts are values.
const PCC_BOOT: [BodyHook; 2] =
    [pcc_boot(b"java/lang/System", b"initializeSystemClass"), pcc_boot(b"java/lang/System", b"initPhase2")];

const fn pcc_boot(class: &'static [u8], name: &'static [u8]) -> BodyHook {
    let call = RuntimeMethod::of(convention::PCC_RUNTIME, b"boot", b"()V");
    BodyHook { class, name, place: Place::Return, call }
}

/// The hooks of a method.
pub fn body_hooks(class: &[u8], name: &[u8], settings: &Settings) -> impl Iterator<Item = &'static BodyHook> {
    let special = if settings.reproducible { REPRODUCIBLE_BODY_HOOKS } else { &[] };
    let boot: Option<&[BodyHook]> = match settings.tool {
        Tool::Profile => None,
        Tool::Trace => Some(&TRACE_BOOT),
        Tool::Pcc(_) => Some(&PCC_BOOT),
    };
    let usual = BODY_HOOKS.iter().filter(move |hook| boot.is_none() || hook.call.name != b"boot");
    let boot = boot.unwrap_or_default();
    usual.chain(boot).chain(special).filter(move |h| h.class == class && h.name == name)
}

/// What a native's wrapper does beside calling it, or in its stead. A runtime method that returns any object returns one of the type that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeHook {
    /// Passes `this` and all arguments to a runtime method before, which returns the class file to be defined instead: an array or a buffer, like
    /// the one it got.
    Define(RuntimeMethod),
    /// Passes the last argument through a runtime method before.
    Last(RuntimeMethod),
    /// Passes the result through a runtime method.
    Result(RuntimeMethod),
    /// Calls a runtime method with `this` and all arguments, not the native.
    Instead(RuntimeMethod),
    /// Passes the result, if there is one, `this` and all arguments to a runtime method, which gives the result. An `int` among the
    /// arguments says how deep a stack is asked for: the native gets [`DEPTH`] of it.
    After(RuntimeMethod),
    /// Calls a runtime method with `this` and all arguments when the native has been entered and the thread carries its context.
    Entered(RuntimeMethod),
    /// Replaces arguments: passes `this` and all arguments to each runtime method in turn, whose result becomes the argument with this number.
    Arguments(&'static [(usize, RuntimeMethod)]),
}

/// The runtime method that says how deep a stack a native with [`NativeHook::After`] is asked for, given how deep a one the program wants.
pub const DEPTH: RuntimeMethod = RuntimeMethod::of(STACKS, b"depth", b"(I)I");

/// Given what is defined now, what was to be, and a number: where in it the class file starts.
pub const DEFINE_OFFSET: RuntimeMethod =
    RuntimeMethod::of(HOOKS, b"defineOffset", b"(Ljava/lang/Object;Ljava/lang/Object;I)I");

/// Likewise: how long it is.
pub const DEFINE_LENGTH: RuntimeMethod =
    RuntimeMethod::of(HOOKS, b"defineLength", b"(Ljava/lang/Object;Ljava/lang/Object;I)I");

macro_rules! native_hooks {
    ($($class:literal $name:literal $kind:ident $runtime:ident $call:literal $descriptor:literal;)*) => {
        &[$(($class, $name, NativeHook::$kind(RuntimeMethod::of($runtime, $call, $descriptor)))),*]
    };
}

/// Natives with hooks: definitions of classes, reflection's view of members, the places that hand out frames of the stack, and the
/// definition of modules: the JVM finds classes only in packages that it knows, and the runtime's are in no module's descriptor.
const SIMPLE_HOOKS: &[(&[u8], &[u8], NativeHook)] = native_hooks! {
    b"java/lang/ClassLoader" b"defineClass0" Define HOOKS b"define$defineClass0"
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;[BIILjava/security/ProtectionDomain;)[B";
    b"java/lang/ClassLoader" b"defineClass1" Define HOOKS b"define$defineClass1"
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;[BIILjava/security/ProtectionDomain;Ljava/lang/String;)[B";
    b"java/lang/ClassLoader" b"defineClass2" Define HOOKS b"define$defineClass2"
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/nio/ByteBuffer;IILjava/security/ProtectionDomain;Ljava/lang/String;)Ljava/nio/ByteBuffer;";
    b"sun/misc/Unsafe" b"defineClass" Define HOOKS b"define$defineClass"
        b"(Lsun/misc/Unsafe;Ljava/lang/String;[BIILjava/lang/ClassLoader;Ljava/security/ProtectionDomain;)[B";
    b"sun/misc/Unsafe" b"defineAnonymousClass" Define HOOKS b"define$defineAnonymousClass"
        b"(Lsun/misc/Unsafe;Ljava/lang/Class;[B[Ljava/lang/Object;)[B";
    b"java/lang/ClassLoader" b"defineClass0" Define HOOKS b"define$defineClass0"
        b"(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)[B";
    b"jdk/internal/misc/Unsafe" b"defineClass0" Define HOOKS b"define$defineClass0"
        b"(Ljdk/internal/misc/Unsafe;Ljava/lang/String;[BIILjava/lang/ClassLoader;Ljava/security/ProtectionDomain;)[B";
    b"jdk/internal/misc/Unsafe" b"defineAnonymousClass0" Define HOOKS b"define$defineAnonymousClass0"
        b"(Ljdk/internal/misc/Unsafe;Ljava/lang/Class;[B[Ljava/lang/Object;)[B";
    b"java/lang/reflect/Proxy" b"defineClass0" Define HOOKS b"define$defineClass0"
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;[BII)[B";
    b"java/lang/Module" b"defineModule0" Last HOOKS b"packages" b"([Ljava/lang/String;)[Ljava/lang/String;";
    b"java/lang/Module" b"defineModule0" Last HOOKS b"packages" b"([Ljava/lang/Object;)[Ljava/lang/Object;";
    b"java/lang/Class" b"getDeclaredMethods0" Result HOOKS b"filter" b"([Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;";
    b"java/lang/Class" b"getDeclaredConstructors0" Result HOOKS b"filter"
        b"([Ljava/lang/reflect/Constructor;)[Ljava/lang/reflect/Constructor;";
    b"java/lang/Class" b"getDeclaredFields0" Result HOOKS b"filter" b"([Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;";
    b"java/lang/Throwable" b"getStackTraceDepth" Instead STACKS b"getStackTraceDepth" b"(Ljava/lang/Throwable;)I";
    b"java/lang/Throwable" b"getStackTraceElement" Instead STACKS b"getStackTraceElement"
        b"(Ljava/lang/Throwable;I)Ljava/lang/StackTraceElement;";
    b"java/lang/Thread" b"dumpThreads" Result STACKS b"filter" b"([[Ljava/lang/StackTraceElement;)[[Ljava/lang/StackTraceElement;";
    b"sun/management/ThreadImpl" b"getThreadInfo1" After STACKS b"after$getThreadInfo1"
        b"([JILjava/lang/Object;)V";
    b"sun/management/ThreadImpl" b"dumpThreads0" After STACKS b"after$dumpThreads0"
        b"(Ljava/lang/Object;[JZZI)Ljava/lang/Object;";
    b"java/lang/SecurityManager" b"getClassContext" Result STACKS b"filter" b"([Ljava/lang/Class;)[Ljava/lang/Class;";
    b"java/lang/SecurityManager" b"classDepth" After STACKS b"after$classDepth" b"(ILjava/lang/SecurityManager;Ljava/lang/String;)I";
    b"java/lang/SecurityManager" b"classLoaderDepth0" After STACKS b"after$classLoaderDepth0" b"(ILjava/lang/SecurityManager;)I";
    b"java/lang/StackTraceElement" b"initStackTraceElements" Instead STACKS b"initStackTraceElements"
        b"([Ljava/lang/StackTraceElement;Ljava/lang/Throwable;)V";
    b"java/lang/StackTraceElement" b"initStackTraceElements" Instead STACKS b"initStackTraceElements"
        b"([Ljava/lang/StackTraceElement;Ljava/lang/Object;I)V";
    b"java/lang/Thread" b"getStackTrace0" Result STACKS b"filter" b"(Ljava/lang/Object;)Ljava/lang/Object;";
    b"jdk/internal/vm/ThreadSnapshot" b"create" Result STACKS b"snapshot" b"(Ljava/lang/Object;)Ljava/lang/Object;";
    b"java/lang/NullPointerException" b"getExtendedNPEMessage" After STACKS b"after$getExtendedNPEMessage"
        b"(Ljava/lang/String;Ljava/lang/NullPointerException;)Ljava/lang/String;";
    b"java/lang/StackFrameInfo" b"expandStackFrameInfo" After WALKS b"after$expandStackFrameInfo" b"(Ljava/lang/StackFrameInfo;)V";
    b"java/lang/StackStreamFactory$AbstractStackWalker" b"fetchStackFrames" Instead WALKS b"fetchStackFrames"
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JJII[Ljava/lang/Object;)I";
    b"java/lang/StackStreamFactory$AbstractStackWalker" b"fetchStackFrames" Instead WALKS b"fetchStackFrames"
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IJII[Ljava/lang/Object;)I";
    b"java/lang/StackStreamFactory$AbstractStackWalker" b"fetchStackFrames" Instead WALKS b"fetchStackFrames"
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IJIII[Ljava/lang/Object;)I";
};

/// Natives by which reflection calls a method: that method may be a native, too. (The rest of reflection is bytecode, or method handles.)
const REFLECTION_HOOKS: &[(&[u8], &[u8], NativeHook)] = native_hooks! {
    b"sun/reflect/NativeMethodAccessorImpl" b"invoke0" Entered NATIVES b"entered$invoke0"
        b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
    b"jdk/internal/reflect/NativeMethodAccessorImpl" b"invoke0" Entered NATIVES b"entered$invoke0"
        b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
    b"jdk/internal/reflect/DirectMethodHandleAccessor$NativeAccessor" b"invoke0" Entered NATIVES b"entered$invoke0"
        b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
};

/// Natives by which a virtual thread notifies HotSpot that it is about to be mounted or unmounted, or has been. (JDK 26 has renamed them.)
const TRANSITION_HOOKS: &[(&[u8], &[u8], NativeHook)] = native_hooks! {
    b"java/lang/VirtualThread" b"notifyJvmtiStart" Entered TRANSITIONS b"end" b"(Ljava/lang/Object;)V";
    b"java/lang/VirtualThread" b"notifyJvmtiEnd" Entered TRANSITIONS b"begin" b"(Ljava/lang/Object;)V";
    b"java/lang/VirtualThread" b"notifyJvmtiMount" Entered TRANSITIONS b"change" b"(Ljava/lang/Object;Z)V";
    b"java/lang/VirtualThread" b"notifyJvmtiUnmount" Entered TRANSITIONS b"change" b"(Ljava/lang/Object;Z)V";
    b"java/lang/VirtualThread" b"notifyJvmtiHideFrames" Entered TRANSITIONS b"change" b"(Ljava/lang/Object;Z)V";
    b"java/lang/VirtualThread" b"endFirstTransition" Entered TRANSITIONS b"end" b"(Ljava/lang/Object;)V";
    b"java/lang/VirtualThread" b"startFinalTransition" Entered TRANSITIONS b"begin" b"(Ljava/lang/Object;)V";
    b"java/lang/VirtualThread" b"startTransition" Entered TRANSITIONS b"begin" b"(Ljava/lang/Object;Z)V";
    b"java/lang/VirtualThread" b"endTransition" Entered TRANSITIONS b"end" b"(Ljava/lang/Object;Z)V";
};

/// Natives with another hook where profiles are to be the same in every run: HotSpot sorts the methods of a class by the addresses of their
/// names.
const REPRODUCIBLE_HOOKS: &[(&[u8], &[u8], NativeHook)] = native_hooks! {
    b"java/lang/Class" b"getDeclaredMethods0" Result HOOKS b"sorted" b"([Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;";
    b"java/lang/Class" b"getDeclaredConstructors0" Result HOOKS b"sorted"
        b"([Ljava/lang/reflect/Constructor;)[Ljava/lang/reflect/Constructor;";
};

/// The hook of `AbstractStackWalker.callStackWalk`, whose frames and mode (the first argument) change. The program's code runs below this native,
/// so that the runtime must not be on the stack.
macro_rules! walk_begins {
    ($frames:literal, $mode:literal, $number:literal) => {
        (
            b"java/lang/StackStreamFactory$AbstractStackWalker",
            b"callStackWalk",
            NativeHook::Arguments(&[
                ($number, RuntimeMethod::of(WALKS, b"frames$callStackWalk", $frames)),
                (0, RuntimeMethod::of(WALKS, b"mode$callStackWalk", $mode)),
            ]),
        )
    };
}

const WALK_HOOKS: &[(&[u8], &[u8], NativeHook)] = &[
    walk_begins!(
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIII[Ljava/lang/Object;)[Ljava/lang/Object;",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIII[Ljava/lang/Object;)J",
        4
    ),
    walk_begins!(
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)[Ljava/lang/Object;",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)J",
        6
    ),
    walk_begins!(
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)[Ljava/lang/Object;",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)I",
        6
    ),
];

/// Private natives that the runtime calls past their hooks: by a method of this class, with `cct$` in front of the name.
const NATIVES_FOR_THE_RUNTIME: &[(&[u8], &[u8])] = &[
    (b"java/lang/Class", b"getDeclaredFields0"),
    (b"java/lang/Class", b"getDeclaredMethods0"),
    (b"java/lang/StackTraceElement", b"initStackTraceElement"),
    (b"java/lang/StackTraceElement", b"initStackTraceElements"),
    (b"java/lang/StackStreamFactory$AbstractStackWalker", b"fetchStackFrames"),
];

/// Whether the runtime calls a native of this name.
pub fn is_called_by_the_runtime(class: &[u8], native: &[u8]) -> bool {
    NATIVES_FOR_THE_RUNTIME.contains(&(class, native))
}

/// The hook of a native. Natives of the same name have other parameters in other versions of the class library; a hook that does not
/// fit is none.
pub fn native_hook(
    class: &[u8],
    name: &[u8],
    descriptor: &[u8],
    is_static: bool,
    reproducible: bool,
) -> Option<&'static NativeHook> {
    let special = if reproducible { REPRODUCIBLE_HOOKS } else { &[] };
    let hook = special
        .iter()
        .chain(all_hooks())
        .find(|(c, n, hook)| *c == class && *n == name && hook.fits(class, descriptor, is_static));
    hook.map(|(.., hook)| hook)
}

fn all_hooks() -> impl Iterator<Item = &'static (&'static [u8], &'static [u8], NativeHook)> {
    SIMPLE_HOOKS.iter().chain(REFLECTION_HOOKS).chain(TRANSITION_HOOKS).chain(WALK_HOOKS)
}

/// Whether natives of this name have hooks in some release of the class library.
pub fn is_hooked(class: &[u8], native: &[u8]) -> bool {
    all_hooks().any(|(c, n, _)| *c == class && *n == native)
}

impl NativeHook {
    fn fits(&self, class: &[u8], native: &[u8], is_static: bool) -> bool {
        let close = native.iter().rposition(|&b| b == b')').unwrap_or_default();
        let (arguments, result) = (&native[1..close], &native[close + 1..]);
        let receiver = if is_static { Vec::new() } else { [b"L", class, b";"].concat() };
        let all = [&*receiver, arguments].concat();
        match self {
            NativeHook::Define(method) => method.takes(&all),
            NativeHook::Last(method) => method
                .descriptor
                .split(|&b| b == b')')
                .next_back()
                .is_some_and(|last| arguments.ends_with(last)),
            NativeHook::Result(method) => method.takes(result) && method.gives(result),
            NativeHook::Instead(method) => method.takes(&all) && method.gives(result),
            NativeHook::After(method) => {
                let returned = if result == b"V" { b"" } else { result };
                method.takes(&[returned, &*all].concat()) && method.gives(result)
            }
            NativeHook::Entered(method) => method.takes(&all) && method.gives(b"V"),
            NativeHook::Arguments(replaced) => replaced.iter().all(|(_, method)| method.takes(&all)),
        }
    }
}

/// Static natives that become Java methods which call the runtime. Programs call them by reflection, which passes by no extended form.
const REPLACED_NATIVES: &[(&[u8], &[u8], &[u8])] =
    &[(b"sun/reflect/Reflection", b"getCallerClass", b"(I)Ljava/lang/Class;")];

/// The runtime's method, of the same name and descriptor, that a native becomes a caller of.
pub fn replacement(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<RuntimeMethod> {
    let row = REPLACED_NATIVES.iter().find(|row| **row == (class, name, descriptor));
    row.map(|(_, name, descriptor)| RuntimeMethod::of(STACKS, name, descriptor))
}

/// The class by which a program says what is recorded. It is the program's own; its methods do nothing until they are rewritten.
const RECORDING: &[u8] = b"cctrewrite/api/Recording";

/// Its methods, and the number by which the runtime (`Regions`) knows what each of them asks for.
const SWITCHES: &[(&[u8], &[u8], i16)] = &[
    (b"start", b"()V", 0),
    (b"start", b"(Ljava/lang/String;)V", 0),
    (b"stop", b"()V", 1),
    (b"startAll", b"()V", 2),
    (b"startAll", b"(Ljava/lang/String;)V", 2),
    (b"stopAll", b"()V", 3),
    (b"active", b"()Z", 4),
];

/// What a method asks for, if it is one that switches the recording.
pub fn switch(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<i16> {
    let row = SWITCHES.iter().find(|row| class == RECORDING && (row.0, row.1) == (name, descriptor));
    row.map(|(.., what)| *what)
}

/// The method by which a program asks for the value of its context, of a class of its own like [`RECORDING`]: what it calls instead.
pub fn question(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<Helper> {
    ((class, name, descriptor) == (b"cctrewrite/api/Pcc", b"current", b"()J"))
        .then_some(convention::PCC_VALUE)
}

/// Packages of ours whose classes a program brings along: they are rewritten like its own.
const OF_PROGRAMS: &[&[u8]] = &[b"cctrewrite/api/", b"cctrewrite/bench/"];

/// Whether a class belongs to the runtime itself, and stays as it is.
pub fn is_runtime_class(name: &[u8]) -> bool {
    let is_program = OF_PROGRAMS.iter().any(|package| name.starts_with(package));
    name.starts_with(b"java/lang/Cct") || name.starts_with(b"cctrewrite/") && !is_program
}

/// Whether this class gets the helpers.
pub fn gets_helpers(name: &[u8]) -> bool {
    name == convention::OBJECT
}

/// The fields that this class gets.
pub fn added_fields(
    class: &[u8],
    allocations: bool,
    traces: bool,
    markers: bool,
) -> impl Iterator<Item = &'static (&'static [u8], &'static [u8], &'static [u8])> {
    let more = if allocations { convention::ALLOCATION_FIELDS } else { &[] };
    let of_traces = if traces { convention::TRACE_FIELDS } else { &[] };
    let of_markers = if markers { convention::MARKER_FIELDS } else { &[] };
    convention::FIELDS
        .iter()
        .chain(more)
        .chain(of_traces)
        .chain(of_markers)
        .filter(move |(of, ..)| *of == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_fit_the_natives_of_each_jdk_and_no_others() {
        let class_loader = b"java/lang/ClassLoader";
        let hook = |name: &[u8], descriptor: &[u8], is_static| {
            native_hook(class_loader, name, descriptor, is_static, false).is_some()
        };
        let jdk_8 =
            b"(Ljava/lang/String;[BIILjava/security/ProtectionDomain;Ljava/lang/String;)Ljava/lang/Class;";
        assert!(hook(b"defineClass1", jdk_8, false));
        assert!(!hook(b"defineClass1", jdk_8, true));
        let jdk_17 = b"(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)Ljava/lang/Class;";
        assert!(hook(b"defineClass0", jdk_17, true));
        assert!(!hook(b"defineClass0", jdk_17, false));
        assert!(!hook(b"defineClass0", &jdk_17.map(|b| if b == b'Z' { b'I' } else { b }), true));
        let members = native_hook(
            b"java/lang/Class",
            b"getDeclaredFields0",
            b"(Z)[Ljava/lang/reflect/Field;",
            false,
            true,
        );
        assert!(members.is_some());
    }

    #[test]
    fn members_are_sorted_where_profiles_are_to_be_the_same() {
        let hook = |reproducible| {
            let descriptor = b"(Z)[Ljava/lang/reflect/Method;";
            native_hook(b"java/lang/Class", b"getDeclaredMethods0", descriptor, false, reproducible)
        };
        fn name(hook: Option<&'static NativeHook>) -> &'static [u8] {
            match hook {
                Some(NativeHook::Result(method)) => method.name,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!([name(hook(false)), name(hook(true))], [&b"filter"[..], b"sorted"]);
    }

    /// The same natives have other parameters from release to release.
    #[test]
    fn walks_are_hooked_in_all_releases() {
        let walker = b"java/lang/StackStreamFactory$AbstractStackWalker";
        let hook =
            |name: &[u8], descriptor: &[u8]| native_hook(walker, name, descriptor, false, false).is_some();
        for parameters in ["JJII", "IJII", "IJIII"] {
            assert!(hook(b"fetchStackFrames", format!("({parameters}[Ljava/lang/Object;)I").as_bytes()));
        }
        let continuation = "Ljdk/internal/vm/ContinuationScope;Ljdk/internal/vm/Continuation;";
        for parameters in ["JIII".to_owned(), format!("JI{continuation}II"), format!("II{continuation}II")] {
            let descriptor = format!("({parameters}[Ljava/lang/Object;)Ljava/lang/Object;");
            assert!(hook(b"callStackWalk", descriptor.as_bytes()), "{descriptor}");
        }
        assert!(!hook(b"callStackWalk", b"(II[Ljava/lang/Object;)Ljava/lang/Object;"));
    }

    /// `Thread.getStackTrace0` returns any object up to JDK 26, and says more of it since.
    #[test]
    fn what_may_be_any_object_may_be_of_a_class() {
        let hook = |class: &[u8], name: &[u8], descriptor: &[u8], is_static| {
            native_hook(class, name, descriptor, is_static, false).is_some()
        };
        for result in ["Ljava/lang/Object;", "[Ljava/lang/StackTraceElement;"] {
            assert!(hook(b"java/lang/Thread", b"getStackTrace0", format!("(){result}").as_bytes(), false));
        }
        assert!(!hook(b"java/lang/Thread", b"getStackTrace0", b"()I", false));
        let create = b"(Ljava/lang/Thread;)Ljdk/internal/vm/ThreadSnapshot;";
        assert!(hook(b"jdk/internal/vm/ThreadSnapshot", b"create", create, true));
    }

    #[test]
    fn hooks_that_see_arguments_and_results_state_both() {
        let hook = |class: &[u8], name: &[u8], descriptor: &[u8], is_static| {
            native_hook(class, name, descriptor, is_static, false).is_some()
        };
        let (throwable, threads) = (b"java/lang/Throwable", b"sun/management/ThreadImpl");
        assert!(hook(throwable, b"getStackTraceElement", b"(I)Ljava/lang/StackTraceElement;", false));
        assert!(!hook(throwable, b"getStackTraceElement", b"(J)Ljava/lang/StackTraceElement;", false));
        let dump = |parameters: &[u8]| {
            let descriptor = [b"(", parameters, b")[Ljava/lang/management/ThreadInfo;"].concat();
            hook(threads, b"dumpThreads0", &descriptor, true)
        };
        assert!(dump(b"[JZZI"));
        assert!(!dump(b"[JZZ"));
    }
}
