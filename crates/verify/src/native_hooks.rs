//! Natives of the class library whose extended form calls the runtime (docs/runtime.md, the tables of *What inserted code calls*): these must, and no others
//! may.

use cct_classfile::descriptor::{FieldType, MethodDescriptor};
use cct_jdk::convention::OBJECT;

use crate::convention::STACKS;
use crate::hooks::{HOOKS, WALKER, WALKS};

/// The runtime's class for natives that reflection leads to.
const NATIVES: &[u8] = b"java/lang/CctNatives";

/// The runtime's method that says how deep a stack is to be asked for, given how deep a one the program wants: name and descriptor.
pub const DEPTH: (&[u8], &[u8], &[u8]) = (STACKS, b"depth", b"(I)I");

/// Those that say where in what is defined now the class file starts, and how long it is; given that, what was to be defined, and the number.
pub const DEFINED: [(&[u8], &[u8], &[u8]); 2] = [
    (HOOKS, b"defineOffset", b"(Ljava/lang/Object;Ljava/lang/Object;I)I"),
    (HOOKS, b"defineLength", b"(Ljava/lang/Object;Ljava/lang/Object;I)I"),
];

/// What a native's wrapper has the runtime do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Before the native, which gets another class file: the runtime's method has the native's receiver and parameters.
    Define,
    /// Before it, with the last argument, which it replaces.
    Last,
    /// Behind it, with the result, which it replaces.
    Result,
    /// Instead of it, with its receiver and arguments.
    Instead,
    /// Behind it, with the result, the receiver and the arguments, giving the result. Depths among the arguments are asked for anew before.
    After,
    /// When the native has been entered, with its receiver and arguments.
    Entered,
    /// Before it, with its receiver and arguments; the result becomes the argument with this number.
    Argument(usize),
}

/// A native's call of the runtime: class, native, kind, and the runtime's class, name and descriptor.
pub type NativeHook = (&'static [u8], &'static [u8], Kind, &'static [u8], &'static [u8], &'static [u8]);

const LOADER: &[u8] = b"java/lang/ClassLoader";

/// See [`NativeHook`]. Natives of the same name differ from release to release: the row is that one which fits.
const NATIVE_HOOKS: &[NativeHook] = &[
    (
        LOADER,
        b"defineClass0",
        Kind::Define,
        HOOKS,
        b"define$defineClass0",
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;[BIILjava/security/ProtectionDomain;)[B",
    ),
    (
        LOADER,
        b"defineClass0",
        Kind::Define,
        HOOKS,
        b"define$defineClass0",
        b"(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)[B",
    ),
    (
        LOADER,
        b"defineClass1",
        Kind::Define,
        HOOKS,
        b"define$defineClass1",
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;[BIILjava/security/ProtectionDomain;Ljava/lang/String;)[B",
    ),
    (
        LOADER,
        b"defineClass2",
        Kind::Define,
        HOOKS,
        b"define$defineClass2",
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/nio/ByteBuffer;IILjava/security/ProtectionDomain;Ljava/lang/String;)Ljava/nio/ByteBuffer;",
    ),
    (
        b"sun/misc/Unsafe",
        b"defineClass",
        Kind::Define,
        HOOKS,
        b"define$defineClass",
        b"(Lsun/misc/Unsafe;Ljava/lang/String;[BIILjava/lang/ClassLoader;Ljava/security/ProtectionDomain;)[B",
    ),
    (
        b"jdk/internal/misc/Unsafe",
        b"defineClass0",
        Kind::Define,
        HOOKS,
        b"define$defineClass0",
        b"(Ljdk/internal/misc/Unsafe;Ljava/lang/String;[BIILjava/lang/ClassLoader;Ljava/security/ProtectionDomain;)[B",
    ),
    (
        b"sun/misc/Unsafe",
        b"defineAnonymousClass",
        Kind::Define,
        HOOKS,
        b"define$defineAnonymousClass",
        b"(Lsun/misc/Unsafe;Ljava/lang/Class;[B[Ljava/lang/Object;)[B",
    ),
    (
        b"jdk/internal/misc/Unsafe",
        b"defineAnonymousClass0",
        Kind::Define,
        HOOKS,
        b"define$defineAnonymousClass0",
        b"(Ljdk/internal/misc/Unsafe;Ljava/lang/Class;[B[Ljava/lang/Object;)[B",
    ),
    (
        b"java/lang/reflect/Proxy",
        b"defineClass0",
        Kind::Define,
        HOOKS,
        b"define$defineClass0",
        b"(Ljava/lang/ClassLoader;Ljava/lang/String;[BII)[B",
    ),
    (
        b"java/lang/Module",
        b"defineModule0",
        Kind::Last,
        HOOKS,
        b"packages",
        b"([Ljava/lang/String;)[Ljava/lang/String;",
    ),
    (
        b"java/lang/Module",
        b"defineModule0",
        Kind::Last,
        HOOKS,
        b"packages",
        b"([Ljava/lang/Object;)[Ljava/lang/Object;",
    ),
    (
        b"java/lang/Class",
        b"getDeclaredMethods0",
        Kind::Result,
        HOOKS,
        b"filter",
        b"([Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;",
    ),
    (
        b"java/lang/Class",
        b"getDeclaredConstructors0",
        Kind::Result,
        HOOKS,
        b"filter",
        b"([Ljava/lang/reflect/Constructor;)[Ljava/lang/reflect/Constructor;",
    ),
    (
        b"java/lang/Class",
        b"getDeclaredFields0",
        Kind::Result,
        HOOKS,
        b"filter",
        b"([Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;",
    ),
    (
        b"java/lang/Throwable",
        b"getStackTraceDepth",
        Kind::Instead,
        STACKS,
        b"getStackTraceDepth",
        b"(Ljava/lang/Throwable;)I",
    ),
    (
        b"java/lang/Throwable",
        b"getStackTraceElement",
        Kind::Instead,
        STACKS,
        b"getStackTraceElement",
        b"(Ljava/lang/Throwable;I)Ljava/lang/StackTraceElement;",
    ),
    (
        b"java/lang/StackTraceElement",
        b"initStackTraceElements",
        Kind::Instead,
        STACKS,
        b"initStackTraceElements",
        b"([Ljava/lang/StackTraceElement;Ljava/lang/Throwable;)V",
    ),
    (
        b"java/lang/StackTraceElement",
        b"initStackTraceElements",
        Kind::Instead,
        STACKS,
        b"initStackTraceElements",
        b"([Ljava/lang/StackTraceElement;Ljava/lang/Object;I)V",
    ),
    (
        b"java/lang/Thread",
        b"dumpThreads",
        Kind::Result,
        STACKS,
        b"filter",
        b"([[Ljava/lang/StackTraceElement;)[[Ljava/lang/StackTraceElement;",
    ),
    (
        b"java/lang/Thread",
        b"getStackTrace0",
        Kind::Result,
        STACKS,
        b"filter",
        b"(Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    (
        b"jdk/internal/vm/ThreadSnapshot",
        b"create",
        Kind::Result,
        STACKS,
        b"snapshot",
        b"(Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    (
        b"sun/management/ThreadImpl",
        b"getThreadInfo1",
        Kind::After,
        STACKS,
        b"after$getThreadInfo1",
        b"([JILjava/lang/Object;)V",
    ),
    (
        b"sun/management/ThreadImpl",
        b"dumpThreads0",
        Kind::After,
        STACKS,
        b"after$dumpThreads0",
        b"(Ljava/lang/Object;[JZZI)Ljava/lang/Object;",
    ),
    (
        b"java/lang/SecurityManager",
        b"getClassContext",
        Kind::Result,
        STACKS,
        b"filter",
        b"([Ljava/lang/Class;)[Ljava/lang/Class;",
    ),
    (
        b"java/lang/SecurityManager",
        b"classDepth",
        Kind::After,
        STACKS,
        b"after$classDepth",
        b"(ILjava/lang/SecurityManager;Ljava/lang/String;)I",
    ),
    (
        b"java/lang/SecurityManager",
        b"classLoaderDepth0",
        Kind::After,
        STACKS,
        b"after$classLoaderDepth0",
        b"(ILjava/lang/SecurityManager;)I",
    ),
    (
        b"java/lang/NullPointerException",
        b"getExtendedNPEMessage",
        Kind::After,
        STACKS,
        b"after$getExtendedNPEMessage",
        b"(Ljava/lang/String;Ljava/lang/NullPointerException;)Ljava/lang/String;",
    ),
    (
        b"java/lang/StackFrameInfo",
        b"expandStackFrameInfo",
        Kind::After,
        WALKS,
        b"after$expandStackFrameInfo",
        b"(Ljava/lang/StackFrameInfo;)V",
    ),
    (
        WALKER,
        b"fetchStackFrames",
        Kind::Instead,
        WALKS,
        b"fetchStackFrames",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JJII[Ljava/lang/Object;)I",
    ),
    (
        WALKER,
        b"fetchStackFrames",
        Kind::Instead,
        WALKS,
        b"fetchStackFrames",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IJII[Ljava/lang/Object;)I",
    ),
    (
        WALKER,
        b"fetchStackFrames",
        Kind::Instead,
        WALKS,
        b"fetchStackFrames",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IJIII[Ljava/lang/Object;)I",
    ),
    frames(
        4,
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIII[Ljava/lang/Object;)[Ljava/lang/Object;",
    ),
    mode(b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIII[Ljava/lang/Object;)J"),
    frames(
        6,
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)[Ljava/lang/Object;",
    ),
    mode(
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)J",
    ),
    frames(
        6,
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)[Ljava/lang/Object;",
    ),
    mode(
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;IILjava/lang/Object;Ljava/lang/Object;II[Ljava/lang/Object;)I",
    ),
    entered(b"sun/reflect/NativeMethodAccessorImpl"),
    entered(b"jdk/internal/reflect/NativeMethodAccessorImpl"),
    entered(b"jdk/internal/reflect/DirectMethodHandleAccessor$NativeAccessor"),
    transition(b"notifyJvmtiStart", b"end", b"(Ljava/lang/Object;)V"),
    transition(b"notifyJvmtiEnd", b"begin", b"(Ljava/lang/Object;)V"),
    transition(b"notifyJvmtiMount", b"change", b"(Ljava/lang/Object;Z)V"),
    transition(b"notifyJvmtiUnmount", b"change", b"(Ljava/lang/Object;Z)V"),
    transition(b"notifyJvmtiHideFrames", b"change", b"(Ljava/lang/Object;Z)V"),
    transition(b"endFirstTransition", b"end", b"(Ljava/lang/Object;)V"),
    transition(b"startFinalTransition", b"begin", b"(Ljava/lang/Object;)V"),
    transition(b"startTransition", b"begin", b"(Ljava/lang/Object;Z)V"),
    transition(b"endTransition", b"end", b"(Ljava/lang/Object;Z)V"),
];

/// Those of outputs that are `--reproducible`, in the place of others: members are sorted.
const REPRODUCIBLE_NATIVE_HOOKS: &[NativeHook] = &[
    (
        b"java/lang/Class",
        b"getDeclaredMethods0",
        Kind::Result,
        HOOKS,
        b"sorted",
        b"([Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;",
    ),
    (
        b"java/lang/Class",
        b"getDeclaredConstructors0",
        Kind::Result,
        HOOKS,
        b"sorted",
        b"([Ljava/lang/reflect/Constructor;)[Ljava/lang/reflect/Constructor;",
    ),
];

const fn frames(number: usize, descriptor: &'static [u8]) -> NativeHook {
    (WALKER, b"callStackWalk", Kind::Argument(number), WALKS, b"frames$callStackWalk", descriptor)
}

const fn mode(descriptor: &'static [u8]) -> NativeHook {
    (WALKER, b"callStackWalk", Kind::Argument(0), WALKS, b"mode$callStackWalk", descriptor)
}

const fn entered(class: &'static [u8]) -> NativeHook {
    let parameters = b"(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)V";
    (class, b"invoke0", Kind::Entered, NATIVES, b"entered$invoke0", parameters)
}

const fn transition(native: &'static [u8], call: &'static [u8], descriptor: &'static [u8]) -> NativeHook {
    (b"java/lang/VirtualThread", native, Kind::Entered, b"java/lang/CctTransitions", call, descriptor)
}

/// The ways in which a native's wrapper may call the runtime: each a list of calls, in their order. Empty where it is to call none; two where it is not known
/// whether the output is `--reproducible`.
pub fn of_native(
    class: &[u8],
    native: &[u8],
    descriptor: &[u8],
    is_static: bool,
    reproducible: Option<bool>,
) -> Vec<Vec<&'static NativeHook>> {
    let fitting = |table: &'static [NativeHook]| -> Vec<&'static NativeHook> {
        let named = table.iter().filter(|hook| (hook.0, hook.1) == (class, native));
        named.filter(|hook| fits(hook, descriptor, is_static)).collect()
    };
    let (usual, special) = (fitting(NATIVE_HOOKS), fitting(REPRODUCIBLE_NATIVE_HOOKS));
    let mut ways = match (reproducible, special.is_empty()) {
        (_, true) | (Some(false), _) => vec![usual],
        (Some(true), false) => vec![special],
        (None, false) => vec![usual, special],
    };
    ways.retain(|way| !way.is_empty());
    ways
}

/// Whether natives of this name call the runtime in some release.
pub fn is_known(class: &[u8], native: &[u8]) -> bool {
    NATIVE_HOOKS.iter().any(|hook| (hook.0, hook.1) == (class, native))
}

/// Whether a row is meant for a native with this descriptor: the runtime's method takes what there is. `Object` stands for classes that may not be named.
fn fits(hook: &NativeHook, native: &[u8], is_static: bool) -> bool {
    let (Ok(runtime), Ok(native)) = (MethodDescriptor::parse(hook.5), MethodDescriptor::parse(native)) else {
        return false;
    };
    let receiver = (!is_static).then_some(FieldType::Class(hook.0));
    let all = receiver.into_iter().chain(native.arguments());
    let result = Some(native.result).filter(|r| *r != FieldType::Base(b'V'));
    let takes = |given: Vec<FieldType<'_>>| {
        let wanted: Vec<_> = runtime.arguments().collect();
        wanted.len() == given.len() && wanted.iter().zip(&given).all(|(w, g)| stands_for(*w, *g))
    };
    let gives = stands_for(runtime.result, native.result);
    match hook.2 {
        Kind::Define | Kind::Argument(_) => takes(all.collect()),
        Kind::Entered => takes(all.collect()) && runtime.result == FieldType::Base(b'V'),
        Kind::Last => native
            .arguments()
            .last()
            .is_some_and(|last| runtime.result == last && runtime.arguments().eq(std::iter::once(last))),
        Kind::Result => takes(vec![native.result]) && gives,
        Kind::Instead => takes(all.collect()) && gives,
        Kind::After => takes(result.into_iter().chain(all).collect()) && gives,
    }
}

/// Whether the runtime's type is the native's, or may stand for it.
fn stands_for(runtime: FieldType<'_>, native: FieldType<'_>) -> bool {
    runtime == native || runtime == FieldType::Class(OBJECT) && native.is_reference()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natives_have_the_hooks_that_fit_them() {
        let calls = |class: &[u8], native: &[u8], descriptor: &[u8], is_static, reproducible| {
            let ways = of_native(class, native, descriptor, is_static, reproducible);
            ways.iter().map(|way| way.iter().map(|hook| hook.4).collect()).collect::<Vec<Vec<_>>>()
        };
        let jdk_8 =
            b"(Ljava/lang/String;[BIILjava/security/ProtectionDomain;Ljava/lang/String;)Ljava/lang/Class;";
        let defines: [Vec<&[u8]>; 1] = [vec![b"define$defineClass1"]];
        assert_eq!(calls(LOADER, b"defineClass1", jdk_8, false, None), defines);
        assert!(calls(LOADER, b"defineClass1", jdk_8, true, None).is_empty());
        let walk = b"(JIII[Ljava/lang/Object;)Ljava/lang/Object;";
        let both: [Vec<&[u8]>; 1] = [vec![b"frames$callStackWalk", b"mode$callStackWalk"]];
        assert_eq!(calls(WALKER, b"callStackWalk", walk, false, Some(true)), both);
        let members = |reproducible| {
            let descriptor = b"(Z)[Ljava/lang/reflect/Method;";
            calls(b"java/lang/Class", b"getDeclaredMethods0", descriptor, false, reproducible)
        };
        let (filter, sorted): (Vec<&[u8]>, Vec<&[u8]>) = (vec![b"filter"], vec![b"sorted"]);
        assert_eq!(members(Some(false)), std::slice::from_ref(&filter));
        assert_eq!(members(Some(true)), std::slice::from_ref(&sorted));
        assert_eq!(members(None), [filter, sorted]);
        let trace = b"()[Ljava/lang/StackTraceElement;";
        assert_eq!(calls(b"java/lang/Thread", b"getStackTrace0", trace, false, None).len(), 1);
        assert!(is_known(WALKER, b"callStackWalk") && !is_known(WALKER, b"doStackWalk"));
    }
}
