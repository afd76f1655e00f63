//! A JVM that ends deep in the stack: the profile contains everything that all open frames have
//! executed up to that instant.

use std::process::Command;

use crate::support::golden::parse;
use crate::support::{Blocks, Jdk, Run, jdks, profiled};

/// Calls, bytecodes and path.
type Contexts = Vec<((u64, u64), String)>;

/// `Frames.DEPTH`.
const DEPTH: usize = 60;

const MAIN: &str = "[main];Frames.main([Ljava/lang/String,)V";
const DESCEND: &str = ";Frames.descend(ILjava/lang/String,)V";

/// Ends in this way and returns the contexts of the program's own classes, by thread.
fn end(jdk: &'static Jdk, how: &str, code: i32) -> (Run, Contexts) {
    let mut java = profiled(jdk, Blocks::Exact, how);
    let mut jvm = java.option("-Dcctrewrite.agent=TellingAgent").start("Frames", &[how]);
    if how == "wait" {
        jvm.wait_for("ready");
        assert!(Command::new("kill").arg(jvm.id().to_string()).status().unwrap().success());
    }
    let run = jvm.wait();
    run.assert_code(code);
    let own =
        run.contexts(true).iter().map(|line| parse(line)).map(|(n, path)| (n, path.to_owned())).collect();
    (run, own)
}

/// Bytecodes of `Frames.end` up to the call (or `athrow`) that never returns. They are the call of
/// `tell` (2), the comparison (4) for each way not taken, and the listed ones at the end.
const WAYS: [(&str, i32, u64); 4] = [
    ("exit", 3, 2 + 4 + 2),       // iconst_3 invokestatic
    ("halt", 4, 2 + 2 * 4 + 3),   // invokestatic iconst_4 invokevirtual
    ("throw", 1, 2 + 3 * 4 + 5),  // new dup ldc invokespecial athrow
    ("wait", 143, 2 + 4 * 4 + 5), // getstatic ldc invokevirtual ldc2_w invokestatic
];

fn every_open_frame_is_counted_up_to_the_instant_of_the_end(jdk: &'static Jdk) {
    for (how, code, at_the_end) in WAYS {
        let (_, contexts) = end(jdk, how, code);
        let counts = |path: &str| contexts.iter().find(|(_, p)| p == path).map(|(counts, _)| *counts);
        // Set-up; a round; the second one up to the call.
        assert_eq!(counts(MAIN), Some((1, 3 + 8 + 11)), "{how}");
        for depth in 0..=DEPTH {
            let path = format!("{MAIN}{}", DESCEND.repeat(depth + 1));
            // Set-up; three rounds; the fourth up to the second condition; the condition and the
            // call.
            let last = if depth == DEPTH { 2 + 2 } else { 2 + 5 };
            assert_eq!(counts(&path), Some((1, 2 + 3 * 9 + 7 + last)), "{how}, frame {depth}");
            assert_eq!(counts(&format!("{path};Frames.leaf()V")), Some((4, 4)), "{how}, frame {depth}");
        }
        let path = format!("{MAIN}{};Frames.end(Ljava/lang/String,)V", DESCEND.repeat(DEPTH + 1));
        assert_eq!(counts(&path), Some((1, at_the_end)), "{how}");
        assert!(!contexts.iter().any(|(_, p)| p.ends_with("Frames.never()V")), "{how}");
    }
}

/// The threads report their progress before the end and when the profile has been written.
fn threads_that_still_run_are_counted_up_to_the_end(jdk: &'static Jdk) {
    for (how, code, _) in WAYS {
        let (run, contexts) = end(jdk, how, code);
        for thread in ["spinnerA", "spinnerB"] {
            let told = |when: &str| -> [u64; 2] {
                let words: Vec<&str> = run
                    .out
                    .lines()
                    .map(str::trim)
                    .find_map(|line| {
                        line.strip_prefix(&format!("{when} {thread} ")).map(|rest| rest.split(' ').collect())
                    })
                    .unwrap_or_else(|| panic!("{how}: {thread} has not told: {}", run.out));
                [words[0].parse().unwrap(), words[1].parse().unwrap()]
            };
            let (before, after) = (told("before"), told("after"));
            let run_method = format!("[{thread}];Frames$Spinner.run()V");
            let counts = |path: &str| contexts.iter().find(|(_, p)| p == path).unwrap().0;
            let (calls, bytecodes) = counts(&run_method);
            assert_eq!(calls, 1);
            // Nine bytecodes a round. A busy machine stops threads anywhere: a reported round may
            // not have reached its end, where the bytecodes after its call are counted.
            assert!(
                bytecodes + 9 >= 9 * before[1] && bytecodes <= 9 * (after[1] + 1),
                "{how}: {before:?} {bytecodes} {after:?}"
            );
            let (calls, bytecodes) = counts(&format!("{run_method};Frames$Spinner.tick()V"));
            assert!(calls >= before[0] && calls <= after[0] + 1, "{how}: {before:?} {calls} {after:?}");
            // Seven bytecodes a call, in the same way; the writer reads one counter after the
            // other.
            assert!(
                bytecodes + 7 >= 7 * before[0] && bytecodes <= 7 * (after[0] + 1),
                "{how}: {before:?} {bytecodes} {after:?}"
            );
        }
    }
}

jdks!(
    every_open_frame_is_counted_up_to_the_instant_of_the_end,
    every_open_frame_is_counted_up_to_the_instant_of_the_end,
    [8, 17, 25]
);
jdks!(
    threads_that_still_run_are_counted_up_to_the_end,
    threads_that_still_run_are_counted_up_to_the_end,
    [8, 17, 25]
);
