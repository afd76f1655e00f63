//! Natives of the class library whose wrappers call the runtime.

use cct_classfile::{MemberName, MemberRef};

use crate::runtime_classes::{HOOKS, NATIVES, STACKS, TRANSITIONS, WALKS};
use crate::runtime_method::RuntimeMethod;

/// The code in a native's wrapper besides the call of the native, or instead of it. A runtime
/// method that returns any object returns one of the required type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeHook {
    /// Passes `this` and all arguments to a runtime method before the native. It returns the class
    /// file to define instead, as an array or a buffer, like the one it got.
    Define(RuntimeMethod),
    /// Passes the last argument through a runtime method before the native.
    Last(RuntimeMethod),
    /// Passes the result through a runtime method.
    Result(RuntimeMethod),
    /// Calls a runtime method with `this` and all arguments instead of the native.
    Instead(RuntimeMethod),
    /// Passes the result, if there is one, `this` and all arguments to a runtime method, which
    /// returns the result. An `int` among the arguments is the requested depth of the stack: the
    /// native gets [`DEPTH`] of it.
    After(RuntimeMethod),
    /// Calls a runtime method with `this` and all arguments, after the entry to the native and when
    /// the thread carries its context.
    Entered(RuntimeMethod),
    /// Replaces arguments: passes `this` and all arguments to each runtime method in turn. Its
    /// result becomes the argument with this number.
    Arguments(&'static [(usize, RuntimeMethod)]),
}

/// The runtime method that computes the depth of the stack for a native with [`NativeHook::After`]
/// from the depth that the program requests.
pub const DEPTH: RuntimeMethod = RuntimeMethod::of(STACKS, b"depth", b"(I)I");

/// The runtime method that returns the offset of the class file to define, from the new and the
/// original class file and the original offset.
pub const DEFINE_OFFSET: RuntimeMethod =
    RuntimeMethod::of(HOOKS, b"defineOffset", b"(Ljava/lang/Object;Ljava/lang/Object;I)I");

/// The runtime method that returns the length of the class file to define, from the new and the
/// original class file and the original length.
pub const DEFINE_LENGTH: RuntimeMethod =
    RuntimeMethod::of(HOOKS, b"defineLength", b"(Ljava/lang/Object;Ljava/lang/Object;I)I");

/// A native of the class library with a hook. Natives of one name differ between releases: the row
/// that fits applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookedNative {
    /// The native, with all its overloads.
    pub native: MemberName<'static>,
    /// The hook in its wrapper.
    pub hook: NativeHook,
}

macro_rules! native_hooks {
    ($($class:literal $name:literal $kind:ident $runtime:ident $call:literal $descriptor:literal;)*) => {
        &[$(HookedNative {
            native: MemberName::new($class, $name),
            hook: NativeHook::$kind(RuntimeMethod::of($runtime, $call, $descriptor)),
        }),*]
    };
}

/// Natives with hooks: definitions of classes, reflection's view of members, natives that return
/// frames of the stack, and the definition of modules. (The JVM finds classes only in packages that
/// it knows, and no module's descriptor has the runtime's.)
const SIMPLE: &[HookedNative] = native_hooks! {
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

/// Natives by which reflection calls a method, which may be a native too. (The rest of reflection
/// is bytecode, or method handles.)
const REFLECTION: &[HookedNative] = native_hooks! {
    b"sun/reflect/NativeMethodAccessorImpl" b"invoke0" Entered NATIVES b"entered$invoke0"
        b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
    b"jdk/internal/reflect/NativeMethodAccessorImpl" b"invoke0" Entered NATIVES b"entered$invoke0"
        b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
    b"jdk/internal/reflect/DirectMethodHandleAccessor$NativeAccessor" b"invoke0" Entered NATIVES b"entered$invoke0"
        b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
};

/// Natives by which a virtual thread notifies HotSpot that it is about to be mounted or unmounted,
/// or has been. (JDK 26 has renamed them.)
const TRANSITION: &[HookedNative] = native_hooks! {
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

/// Natives with a different hook under `--reproducible`: HotSpot sorts the methods of a class by
/// the addresses of their names.
pub const REPRODUCIBLE: &[HookedNative] = native_hooks! {
    b"java/lang/Class" b"getDeclaredMethods0" Result HOOKS b"sorted" b"([Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;";
    b"java/lang/Class" b"getDeclaredConstructors0" Result HOOKS b"sorted"
        b"([Ljava/lang/reflect/Constructor;)[Ljava/lang/reflect/Constructor;";
};

/// The hook of `AbstractStackWalker.callStackWalk`, whose frames and mode (the first argument)
/// change. The program's code runs below this native, so the runtime must not be on the stack.
macro_rules! walk_begins {
    ($frames:literal, $mode:literal, $number:literal) => {
        HookedNative {
            native: MemberName::new(b"java/lang/StackStreamFactory$AbstractStackWalker", b"callStackWalk"),
            hook: NativeHook::Arguments(&[
                ($number, RuntimeMethod::of(WALKS, b"frames$callStackWalk", $frames)),
                (0, RuntimeMethod::of(WALKS, b"mode$callStackWalk", $mode)),
            ]),
        }
    };
}

const WALK: &[HookedNative] = &[
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

/// Private natives that the runtime calls without their hooks, through a method of this class with
/// the name after `cct$`.
pub const CALLED_BY_RUNTIME: &[MemberName<'_>] = &[
    MemberName::new(b"java/lang/Class", b"getDeclaredFields0"),
    MemberName::new(b"java/lang/Class", b"getDeclaredMethods0"),
    MemberName::new(b"java/lang/StackTraceElement", b"initStackTraceElement"),
    MemberName::new(b"java/lang/StackTraceElement", b"initStackTraceElements"),
    MemberName::new(b"java/lang/StackStreamFactory$AbstractStackWalker", b"fetchStackFrames"),
];

/// Static natives that become Java methods which call the runtime. Programs call them by
/// reflection, which uses no extended form.
pub const REPLACED: &[MemberRef<'_>] =
    &[MemberRef::new(b"sun/reflect/Reflection", b"getCallerClass", b"(I)Ljava/lang/Class;")];

/// The natives that always have a hook, in the order in which rows are tried. Under
/// `--reproducible`, those of [`REPRODUCIBLE`] come before them.
pub fn usual() -> impl Iterator<Item = &'static HookedNative> {
    SIMPLE.iter().chain(REFLECTION).chain(TRANSITION).chain(WALK)
}

/// Whether natives of this name have hooks in some release of the class library.
pub fn is_hooked(native: MemberName<'_>) -> bool {
    usual().any(|hooked| hooked.native == native)
}

/// Whether the runtime calls a native of this name.
pub fn is_called_by_the_runtime(native: MemberName<'_>) -> bool {
    CALLED_BY_RUNTIME.contains(&native)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page is written by hand: it says why each native has its hook.
    #[test]
    fn a_page_names_each_native_with_a_hook() {
        let page = include_str!("../../../docs/internals/runtime.md");
        for row in usual() {
            let name = std::str::from_utf8(row.native.name).unwrap();
            assert!(page.contains(name), "docs/internals/runtime.md does not name {}", row.native);
        }
    }
}
