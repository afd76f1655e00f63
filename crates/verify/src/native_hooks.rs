//! Natives of the class library whose extended form calls the runtime (docs/internals/runtime.md,
//! the tables of *What inserted code calls*). These natives must call it, and no others may.

use std::sync::LazyLock;

use cct_classfile::descriptor::{FieldType, MethodDescriptor};
use cct_classfile::{MemberName, MemberRef};
use cct_jdk::convention::OBJECT;
use cct_jdk::native_hooks::{self, HookedNative, NativeHook as Table};
use cct_jdk::runtime_method::RuntimeMethod;

/// The call of the runtime in a native's wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Before the native, which gets a different class file. The runtime's method has the native's
    /// receiver and parameters.
    Define,
    /// Before the native, with the last argument, which the result replaces.
    Last,
    /// After the native, with its result, which the runtime replaces.
    Result,
    /// Instead of the native, with its receiver and arguments.
    Instead,
    /// After the native, with its result, the receiver and the arguments. Returns the result.
    /// Before that, the runtime adjusts depths among the arguments.
    After,
    /// On entry to the native, with its receiver and arguments.
    Entered,
    /// Before the native, with its receiver and arguments; the result becomes the argument with
    /// this number.
    Argument(usize),
}

/// A native's call of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeHook {
    /// The native, with all its overloads.
    pub native: MemberName<'static>,
    /// The time and the arguments of the call.
    pub kind: Kind,
    /// The runtime's method.
    pub call: RuntimeMethod,
}

/// The hooks of natives, one for each call.
fn calls<'t>(table: impl Iterator<Item = &'t HookedNative>) -> Vec<NativeHook> {
    let mut calls = Vec::new();
    for &HookedNative { native, hook } in table {
        let mut call = |kind, call| calls.push(NativeHook { native, kind, call });
        match hook {
            Table::Define(method) => call(Kind::Define, method),
            Table::Last(method) => call(Kind::Last, method),
            Table::Result(method) => call(Kind::Result, method),
            Table::Instead(method) => call(Kind::Instead, method),
            Table::After(method) => call(Kind::After, method),
            Table::Entered(method) => call(Kind::Entered, method),
            Table::Arguments(replaced) => {
                replaced.iter().for_each(|&(number, method)| call(Kind::Argument(number), method));
            }
        }
    }
    calls
}

static USUAL: LazyLock<Vec<NativeHook>> = LazyLock::new(|| calls(native_hooks::usual()));

static REPRODUCIBLE: LazyLock<Vec<NativeHook>> = LazyLock::new(|| calls(native_hooks::REPRODUCIBLE.iter()));

/// The possible sets of calls of the runtime in a native's wrapper, each in order. Empty if it must
/// not call it; two if it is unknown whether the output is `--reproducible`.
pub fn of_native(
    native: MemberRef<'_>,
    is_static: bool,
    reproducible: Option<bool>,
) -> Vec<Vec<&'static NativeHook>> {
    let fitting = |table: &'static [NativeHook]| -> Vec<&'static NativeHook> {
        let named = table.iter().filter(|hook| hook.native == native.member_name());
        named.filter(|hook| fits(hook, native.descriptor, is_static)).collect()
    };
    let (usual, special) = (fitting(&USUAL), fitting(&REPRODUCIBLE));
    let mut ways = match (reproducible, special.is_empty()) {
        (_, true) | (Some(false), _) => vec![usual],
        (Some(true), false) => vec![special],
        (None, false) => vec![usual, special],
    };
    ways.retain(|way| !way.is_empty());
    ways
}

/// Whether natives of this name call the runtime in some release.
pub fn is_known(native: MemberName<'_>) -> bool {
    USUAL.iter().any(|hook| hook.native == native)
}

/// Whether a row fits a native with this descriptor: the runtime's method takes its arguments.
/// `Object` represents classes that must not be named.
fn fits(hook: &NativeHook, native: &[u8], is_static: bool) -> bool {
    let (Ok(runtime), Ok(native)) =
        (MethodDescriptor::parse(hook.call.member.descriptor), MethodDescriptor::parse(native))
    else {
        return false;
    };
    let receiver = (!is_static).then_some(FieldType::Class(hook.native.class));
    let all = receiver.into_iter().chain(native.arguments());
    let result = Some(native.result).filter(|r| *r != FieldType::Base(b'V'));
    let takes = |given: Vec<FieldType<'_>>| {
        let wanted: Vec<_> = runtime.arguments().collect();
        wanted.len() == given.len() && wanted.iter().zip(&given).all(|(w, g)| stands_for(*w, *g))
    };
    let gives = stands_for(runtime.result, native.result);
    match hook.kind {
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

/// Whether the runtime's type is the native's, or represents it.
fn stands_for(runtime: FieldType<'_>, native: FieldType<'_>) -> bool {
    runtime == native || runtime == FieldType::Class(OBJECT) && native.is_reference()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADER: &[u8] = b"java/lang/ClassLoader";
    const WALKER: &[u8] = b"java/lang/StackStreamFactory$AbstractStackWalker";

    #[test]
    fn natives_have_the_hooks_that_fit_them() {
        let calls = |class: &[u8], native: &[u8], descriptor: &[u8], is_static, reproducible| {
            let ways = of_native(MemberRef::new(class, native, descriptor), is_static, reproducible);
            ways.iter()
                .map(|way| way.iter().map(|hook| hook.call.member.name).collect())
                .collect::<Vec<Vec<_>>>()
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
        let is_known = |native| is_known(MemberName::new(WALKER, native));
        assert!(is_known(b"callStackWalk") && !is_known(b"doStackWalk"));
    }
}
