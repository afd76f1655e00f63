//! Contexts do not drift: entries from outside lead to the same contexts the first time and the
//! thousandth.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::golden::parse;
use crate::support::{Blocks, Java, Jdk, fixture, folder, jdks, jni_library, profiled};

/// The contexts of the program's own methods, including frames of the class library, threads added
/// up. Finalizers may run in different threads; those paths begin there.
fn contexts(java: &Java, way: &str, n: u32) -> BTreeSet<String> {
    let run = java.succeed("Drift", &[way, &n.to_string()]);
    let own = |path: &&str| path.rsplit(';').next().unwrap().starts_with("Drift");
    run.contexts(false).iter().map(|line| parse(line).1).filter(own).map(from_finalizer).collect()
}

fn from_finalizer(path: &str) -> String {
    path[path.find("java.lang.ref.Finalizer.runFinalizer(").unwrap_or(0)..].to_owned()
}

/// Few and many calls lead to the same contexts, and to at least `least` of them.
fn assert_steady(java: impl Fn() -> Java, way: &str, few: u32, many: u32, least: usize) {
    let [first, second] = [few, many].map(|n| contexts(&java(), way, n));
    let more: Vec<&String> = second.difference(&first).take(3).collect();
    assert!(
        more.is_empty(),
        "{way}: {} contexts became {}, for instance {more:#?}",
        first.len(),
        second.len()
    );
    assert!(first.is_subset(&second), "{way}");
    assert!(first.len() >= least, "{way}: {first:#?}");
}

fn library(jdk: &'static Jdk) -> Java {
    profiled(jdk, Blocks::Exact, "drift")
}

macro_rules! steady {
    ($($name:ident: $way:literal, $few:literal, $least:literal, $later:literal;)*) => {$(
        fn $name(jdk: &'static Jdk) {
            assert_steady(|| library(jdk), $way, $few, 1000, if jdk.version == 8 { $least } else { $later });
        }
        jdks!($name, $name, [8, 17, 25]);
    )*};
}

steady! {
    privileged_actions_and_those_that_throw: "privileged", 10, 22, 24;
    class_initialisers_that_throw: "initialisers", 10, 11, 13;
    loaders_and_those_that_throw: "loaders", 10, 15, 17;
    finalizers_and_those_that_throw: "finalizers", 10, 7, 7;
    threads_and_their_uncaught_exceptions: "threads", 10, 27, 29;
    shutdown_hooks: "hooks", 10, 27, 29;
    proxies_whose_handler_throws: "proxies", 10, 15, 17;
    // After the generation of accessors, and after the customisation of method handles (127 calls
    // by default), which both are built on later.
    reflection: "reflection", 300, 57, 48;
    method_handles: "handles", 300, 32, 64;
}

#[test]
fn reflection_before_accessors_are_generated() {
    let Some(jdk) = Jdk::find() else { return };
    let java = || {
        let mut java = library(jdk);
        java.option("-Dsun.reflect.inflationThreshold=100000");
        java
    };
    assert_steady(java, "reflection", 10, 1000, 30);
}

// ---- natives
// -------------------------------------------------------------------------------------------------------------------------

/// The native library of `fixtures/drift`, if there is a C compiler.
fn native_library(jdk: &Jdk) -> Option<PathBuf> {
    jni_library(jdk, "drift/drift.c", &folder("drift-library").join("libdrift.so"))
}

fn assert_natives_steady(jdk: &'static Jdk, way: &str, least: usize) {
    let Some(native) = native_library(jdk) else { return };
    let java = || {
        let mut java = library(jdk);
        java.option(format!("-Ddrift.library={}", native.display()));
        java
    };
    assert_steady(java, way, 10, 1000, least);
}

fn natives_that_call_back_and_clear_exceptions(jdk: &'static Jdk) {
    assert_natives_steady(jdk, "jni", 52);
}

/// `ExceptionDescribe` clears the exception, too.
fn natives_that_describe_exceptions_of_constructors(jdk: &'static Jdk) {
    assert_natives_steady(jdk, "described", 10);
}

jdks!(natives_that_call_back_and_clear_exceptions, natives_that_call_back_and_clear_exceptions, feature);
jdks!(
    natives_that_describe_exceptions_of_constructors,
    natives_that_describe_exceptions_of_constructors,
    [8, 17, 25]
);

// ---- raw code
// ------------------------------------------------------------------------------------------------------------------------

/// A JVM in which `RawLoops` stays unchanged.
fn raw(jdk: &'static Jdk) -> Java {
    let plain = folder("drift-raw");
    for name in ["RawLoops.class", "RawLoops$Probe.class"] {
        fs::copy(fixture("drift/raw/classes").join(name), plain.join(name)).unwrap();
    }
    let mut java = library(jdk);
    java.forget("-Dcctrewrite.loadtime=").class_path([plain]);
    java
}

/// Among them a constructor that calls a native and then throws. No handler of its wrapper may
/// restore the context, so the native's wrapper must have restored it.
#[test]
fn raw_code_that_catches() {
    let Some(jdk) = Jdk::find() else { return };
    assert_steady(|| raw(jdk), "raw", 10, 1000, 13);
}

/// Wrappers have hardly any stack left to restore the context.
#[test]
fn raw_code_that_catches_near_the_end_of_the_stack() {
    let Some(jdk) = Jdk::find() else { return };
    for mode in ["-Xmixed", "-Xint"] {
        let java = || {
            let mut java = raw(jdk);
            java.option("-Xss256k").option(mode);
            java
        };
        assert_steady(java, "deep", 5000, 100_000, 11);
    }
}
