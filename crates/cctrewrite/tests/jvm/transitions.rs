//! Virtual threads in a transition: while one is being mounted on its carrier, or unmounted,
//! HotSpot does not allow walking its stack.

use std::process::Command;

use crate::support::golden::flat;
use crate::support::{Blocks, Image, Java, Jdk, fixture, jdks};

fn pinned(mut java: Java) -> Java {
    java.option("--add-opens").option("java.base/java.lang=ALL-UNNAMED");
    java.option("-Djdk.tracePinnedThreads=full").class_path([fixture("virtual/classes")]);
    java
}

/// Classes are initialised and exceptions thrown in the middle of a transition.
fn code_in_a_transition_does_not_wait_for_its_end(jdk: &'static Jdk) {
    let expected = pinned(jdk.java("pinned-plain")).succeed("Pinned", &[]);
    assert_eq!(expected.out.contains("VThreadContinuation.onPinned"), jdk.version == 21, "{}", expected.out);
    let found = pinned(Image::of(jdk, Blocks::Exact).java("pinned")).succeed("Pinned", &[]);
    assert_eq!(found.out, expected.out, "JDK {}", jdk.version);
    let methods = flat(&found);
    for (method, calls) in [("Pinned.nap()V", 1), ("Pinned.compute(I)I", 2), ("Pinned$First.<clinit>()V", 1)]
    {
        assert_eq!(
            methods.get(method).map(|(calls, _)| *calls),
            Some(calls),
            "JDK {}: {method}",
            jdk.version
        );
    }
}

fn a_signal_ends_the_jvm(jdk: &'static Jdk) {
    let mut jvm = pinned(Image::of(jdk, Blocks::Exact).java("pinned-signal")).start("Pinned", &["wait"]);
    jvm.wait_for("ready");
    assert!(Command::new("kill").arg(jvm.id().to_string()).status().unwrap().success());
    let run = jvm.wait();
    run.assert_code(128 + 15);
    assert_eq!(flat(&run)["Pinned.nap()V"].0, 1, "JDK {}", jdk.version);
}

jdks!(code, code_in_a_transition_does_not_wait_for_its_end, 21..);
jdks!(signal, a_signal_ends_the_jvm, 21..);
