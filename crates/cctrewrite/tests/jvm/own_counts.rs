//! Programs that read their own counts (docs/use/counts.md).

use crate::selective::api;
use crate::support::{Blocks, Image, Jdk, Run, fixture, jdks, profiled};

/// Calls and bytecodes of `loop(n)`: 4 before the loop, 9 for each round, 3 for the last test, 2
/// for the result.
fn a_loop(n: u64) -> (u64, u64) {
    (1, 4 + 9 * n + 3 + 2)
}

/// `Loop.run` in addition: 5 bytecodes (`aload_0`, `getfield`, `invokestatic`, `putstatic`,
/// `return`).
fn a_body(n: u64) -> (u64, u64) {
    let (calls, bytecodes) = a_loop(n);
    (calls + 1, bytecodes + 5)
}

/// Calls and bytecodes of `fib(n)`: `iload_0`, `iconst_2`, `if_icmpge`, then `iload_0`, `goto`,
/// `ireturn`, or ten more without the jump.
fn a_fib(n: u64) -> (u64, u64) {
    if n < 2 {
        return (1, 6);
    }
    let ((calls, bytecodes), (others, more)) = (a_fib(n - 1), a_fib(n - 2));
    (1 + calls + others, 3 + 10 + bytecodes + more)
}

fn expected(with_bytecodes: bool) -> String {
    let show =
        |(calls, bytecodes): (u64, u64)| format!("{calls} {}", if with_bytecodes { bytecodes } else { 0 });
    // `Nested.run` itself: `aload_0`, `new`, `dup`, `bipush`, `invokespecial`, `invokestatic`,
    // `putfield`, then `iconst_1`, `invokestatic`, `putstatic`, `return`. `Loop.<init>` has
    // `aload_0`, `invokespecial`, `aload_0`, `iload_1`, `putfield`, `return`, and calls
    // `Object.<init>`, which has one bytecode.
    let (inner, last) = (a_body(10), a_loop(1));
    let nested = (1 + 1 + 1 + inner.0 + last.0, 11 + 6 + 1 + inner.1 + last.1);
    let method = |(calls, bytecodes): (u64, u64)| show((calls, bytecodes));
    format!(
        "nothing {}\nloop {}\nmethods 2 Counted.loop(I)I {} Counted$Loop.run()V {}\nnested {}\ninner {}\n\
         below {fib}\nbelow all {fib}\nbelow none 0 0\nso far Counted.loop(I)I {} no fib\nfailed\n\
         others Counted.loop(I)I {other}\nbelow in others {other}\nis true {with_bytecodes} false\n",
        show(a_body(0)),
        show(a_body(100)),
        method(a_loop(100)),
        method((1, 5)),
        show(nested),
        show(inner),
        method(a_loop(100)),
        other = method(a_loop(1000)),
        fib = show(a_fib(10)),
    )
}

fn run(jdk: &'static Jdk, blocks: Blocks, options: &[&str]) -> Run {
    let mut java = profiled(jdk, blocks, "counts");
    java.forget_class_path().class_path([fixture("counts/classes"), api()]);
    for option in options {
        java.option(*option);
    }
    java.succeed("Counted", &[])
}

fn programs_read_their_own_counts(jdk: &'static Jdk) {
    for &blocks in Image::rules(jdk) {
        let has_bytecodes = blocks != Blocks::Calls;
        assert_eq!(run(jdk, blocks, &[]).out, expected(has_bytecodes), "{}", blocks.name());
    }
    for mode in [&["-Xint"][..], &["-Xcomp"]] {
        assert_eq!(run(jdk, Blocks::Exact, mode).out, expected(true), "{mode:?}");
    }
}

fn a_plain_jdk_counts_nothing(jdk: &'static Jdk) {
    let mut plain = jdk.java("counts-plain");
    plain.class_path([fixture("counts/classes"), api()]);
    assert_eq!(plain.succeed("Counted", &[]).out, "not recorded false 0 0 0\n");
}

fn nothing_is_read_while_nothing_is_recorded(jdk: &'static Jdk) {
    assert_eq!(run(jdk, Blocks::Exact, &["-Dcctrewrite.record=off"]).out, "not recorded false 0 0 0\n");
}

/// Counts of objects and of monitors are no calls.
fn other_numbers_are_no_calls(jdk: &'static Jdk) {
    assert_eq!(run(jdk, Blocks::ColumnsAndAll, &[]).out, expected(true));
}

/// A thread's contexts beyond the bound are merged, and a reading says so.
fn merged_contexts_are_said(jdk: &'static Jdk) {
    let out = run(jdk, Blocks::Exact, &["-Dcctrewrite.max-contexts=2000"]).out;
    assert!(out.ends_with("is true true true\n"), "{out}");
}

jdks!(read, programs_read_their_own_counts, [8, 17, 25, 27]);
jdks!(plain, a_plain_jdk_counts_nothing, [8, 25]);
jdks!(off, nothing_is_read_while_nothing_is_recorded, [17]);
jdks!(other_numbers, other_numbers_are_no_calls, [17]);
jdks!(merged, merged_contexts_are_said, [17]);
