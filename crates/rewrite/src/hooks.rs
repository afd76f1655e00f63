//! The hooks of [`cct_jdk`] that a method has: calls of the runtime at single locations of the
//! class library.

use cct_classfile::MemberRef;
use cct_classfile::descriptor::MethodDescriptor;
use cct_jdk::body_hooks::{self, BodyHook, Place};
use cct_jdk::convention;
use cct_jdk::native_hooks::{self, NativeHook};
use cct_jdk::runtime_classes::STACKS;
use cct_jdk::runtime_method::RuntimeMethod;
use cct_settings::Settings;

/// The hooks of a method's bodies.
pub fn body_hooks<'m>(
    method: MemberRef<'m>,
    settings: &Settings,
) -> impl Iterator<Item = &'static BodyHook> + use<'m> {
    let special = if settings.reproducible { body_hooks::REPRODUCIBLE } else { &[] };
    let all = body_hooks::usual(settings.mode()).chain(special);
    all.filter(move |hook| hook.method == method.member_name() && belongs_into(hook, method.descriptor))
}

/// Whether a hook fits a method with this descriptor: releases differ.
fn belongs_into(hook: &BodyHook, descriptor: &[u8]) -> bool {
    let arguments = |of: &[u8]| MethodDescriptor::parse(of).map(|parsed| parsed.arguments().count()).ok();
    match hook.place {
        Place::Argument(_) => {
            arguments(hook.call.member.descriptor) == arguments(descriptor).map(|count| count + 1)
        }
        _ => true,
    }
}

/// The hook of a native; `None` if its parameters do not fit. Natives of the same name have
/// different parameters in different versions of the class library.
pub fn native_hook(
    native: MemberRef<'_>,
    is_static: bool,
    reproducible: bool,
) -> Option<&'static NativeHook> {
    let special = if reproducible { native_hooks::REPRODUCIBLE } else { &[] };
    let mut all = special.iter().chain(native_hooks::usual());
    let fitting = all.find(|row| row.native == native.member_name() && fits(&row.hook, native, is_static));
    fitting.map(|row| &row.hook)
}

/// Whether the runtime's method fits a native: it takes the same arguments and returns the same
/// result.
fn fits(hook: &NativeHook, native: MemberRef<'_>, is_static: bool) -> bool {
    let close = native.descriptor.iter().rposition(|&b| b == b')').unwrap_or_default();
    let (arguments, result) = (&native.descriptor[1..close], &native.descriptor[close + 1..]);
    let receiver = if is_static { Vec::new() } else { [b"L", native.class, b";"].concat() };
    let all = [&*receiver, arguments].concat();
    match hook {
        NativeHook::Define(method) => method.takes(&all),
        NativeHook::Last(method) => {
            let mut parts = method.member.descriptor.split(|&b| b == b')');
            parts.next_back().is_some_and(|last| arguments.ends_with(last))
        }
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

/// The runtime's method of the same name and descriptor that a native becomes a caller of.
pub fn replacement(native: MemberRef<'_>) -> Option<RuntimeMethod> {
    let row = native_hooks::REPLACED.iter().find(|row| **row == native);
    row.map(|row| RuntimeMethod { member: row.name_and_type().of_class(STACKS) })
}

/// Packages of cctrewrite whose classes a program supplies itself: they are rewritten like the
/// program's own.
const OF_PROGRAMS: &[&[u8]] = &[b"cctrewrite/api/", b"cctrewrite/bench/"];

/// Whether a class belongs to the runtime itself and stays unchanged.
pub fn is_runtime_class(name: &[u8]) -> bool {
    let is_program = OF_PROGRAMS.iter().any(|package| name.starts_with(package));
    name.starts_with(b"java/lang/Cct") || name.starts_with(b"cctrewrite/") && !is_program
}

/// Whether this class gets the helpers.
pub fn gets_helpers(name: &[u8]) -> bool {
    name == convention::OBJECT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_fit_the_natives_of_each_jdk_and_no_others() {
        let class_loader = b"java/lang/ClassLoader";
        let hook = |name: &[u8], descriptor: &[u8], is_static| {
            native_hook(MemberRef::new(class_loader, name, descriptor), is_static, false).is_some()
        };
        let jdk_8 =
            b"(Ljava/lang/String;[BIILjava/security/ProtectionDomain;Ljava/lang/String;)Ljava/lang/Class;";
        assert!(hook(b"defineClass1", jdk_8, false));
        assert!(!hook(b"defineClass1", jdk_8, true));
        let jdk_17 = b"(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)Ljava/lang/Class;";
        assert!(hook(b"defineClass0", jdk_17, true));
        assert!(!hook(b"defineClass0", jdk_17, false));
        assert!(!hook(b"defineClass0", &jdk_17.map(|b| if b == b'Z' { b'I' } else { b }), true));
        let members =
            MemberRef::new(b"java/lang/Class", b"getDeclaredFields0", b"(Z)[Ljava/lang/reflect/Field;");
        assert!(native_hook(members, false, true).is_some());
    }

    #[test]
    fn members_are_sorted_where_profiles_are_to_be_the_same() {
        let members =
            MemberRef::new(b"java/lang/Class", b"getDeclaredMethods0", b"(Z)[Ljava/lang/reflect/Method;");
        let hook = |reproducible| native_hook(members, false, reproducible);
        fn name(hook: Option<&'static NativeHook>) -> &'static [u8] {
            match hook {
                Some(NativeHook::Result(method)) => method.member.name,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!([name(hook(false)), name(hook(true))], [&b"filter"[..], b"sorted"]);
    }

    /// Parameters of these natives differ between releases.
    #[test]
    fn walks_are_hooked_in_all_releases() {
        let walker = b"java/lang/StackStreamFactory$AbstractStackWalker";
        let hook = |name: &[u8], descriptor: &[u8]| {
            native_hook(MemberRef::new(walker, name, descriptor), false, false).is_some()
        };
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
            native_hook(MemberRef::new(class, name, descriptor), is_static, false).is_some()
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
            native_hook(MemberRef::new(class, name, descriptor), is_static, false).is_some()
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
