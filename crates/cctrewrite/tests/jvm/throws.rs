//! Executed `athrow` instructions by context (docs/use/throws.md): a program that throws in many
//! ways, with a different number for each way.

use cct_columns::Column;

use crate::support::{Blocks, Jdk, columns, fixture, jdks, profiled};

/// The program's class.
const PROGRAM: &str = "Throws";

/// Throws of the program's methods, derived by hand.
const EXPECTED: [(&str, u64); 14] = [
    ("<clinit>", 1),
    ("<init>", 7),
    ("caught", 10),
    ("cleanedUp", 3),
    ("deep", 9),
    ("hot", 50_000),
    ("hotCallee", 100_000),
    ("lambda$main$0", 8),
    ("locked", 4),
    ("many", 5),
    ("ofNull", 5),
    ("raised", 13),
    ("rethrown", 4),
    ("uncaught", 3),
];

/// Options of the JVM: it interprets the program, compiles what is hot while the program waits, or
/// compiles each of the program's methods before its first call.
const MODES: [&[&str]; 3] = [
    &["-Xint"],
    &["-Xbatch"],
    &["-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Throws*::*"],
];

fn each_athrow_is_counted_once(jdk: &'static Jdk) {
    for (blocks, modes) in [(Blocks::Columns, &MODES[..]), (Blocks::ColumnsAndAll, &MODES[1..2])] {
        for mode in modes {
            let mut java = profiled(jdk, blocks, "throws");
            java.class_path([fixture("throws/classes")]);
            for option in *mode {
                java.option(*option);
            }
            let profile = java.succeed(PROGRAM, &[]).profile();
            let counted = columns::by_method(&profile, Column::Throws, PROGRAM);
            assert_eq!(counted, EXPECTED, "{blocks:?} {mode:?}");
            let all = columns::by_context(&profile, Column::Throws);
            let deep: Vec<u64> = all.iter().filter(|c| c.1 == "deep").map(|c| c.2).collect();
            assert_eq!(deep, [0, 0, 0, 0, 9], "only the context that throws");
            assert!(!profile.methods.iter().any(|m| m.class.is_empty()), "no cell is left");
        }
    }
}

jdks!(counted, each_athrow_is_counted_once, [8, 17, 25]);
