//! Stacks look as before on a profiled JDK of 9 and later, for all ways to read them.

use crate::support::{Blocks, Image, Java, Jdk, Run, assert_same_lines, fixture, jdks};

/// A program that prints stacks, its exit code, and its minimum number of lines.
#[derive(Debug, Clone, Copy)]
struct Program {
    main: &'static str,
    classes: &'static str,
    code: i32,
    lines: usize,
}

/// All features of JDK 8. It ends with an exception that nobody catches.
const TRACES: Program = Program { main: "Traces", classes: "traces/classes", code: 1, lines: 1600 };

/// `StackWalker`.
const WALKS: Program = Program { main: "Walks", classes: "walks/classes", code: 0, lines: 800 };

/// Messages of null references, where locals have no names, and where most of them have.
const NULLS: [Program; 2] = [
    Program { main: "Nulls", classes: "walks/nulls/classes", code: 0, lines: 90 },
    Program { main: "Nulls", classes: "walks/nulls/named", code: 0, lines: 90 },
];

/// Stacks of virtual threads.
const VIRTUAL: Program =
    Program { main: "VirtualTraces", classes: "walks/since21/classes", code: 0, lines: 180 };

/// With a stack depth that suffices for twice the frames.
fn run(mut java: Java, jdk: &Jdk, program: Program) -> Run {
    java.option("-Xss8m").class_path([fixture(program.classes)]);
    if (12..24).contains(&jdk.version) {
        java.option("-Djava.security.manager=allow");
    }
    let run = java.run(program.main, &[]);
    run.assert_code(program.code);
    run
}

fn assert_same(expected: &Run, found: &Run, what: &str) {
    let [before, now] = [expected, found].map(|run| run.out.lines().collect::<Vec<_>>());
    assert_same_lines(&before, &now, what);
    assert_eq!(found.err, expected.err, "{what}");
}

fn same_on_the_image(jdk: &'static Jdk, programs: &[Program]) {
    for &program in programs {
        let expected = run(jdk.java("walks-plain"), jdk, program);
        assert!(expected.out.lines().count() >= program.lines, "{}", expected.out);
        let recording = Image::rules(jdk).iter().map(|&blocks| (blocks, "on"));
        for (blocks, record) in recording.chain([(Blocks::Exact, "off")]) {
            let image = Image::of(jdk, blocks);
            let mut java = image.java("walks");
            java.option(format!("-Dcctrewrite.record={record}"));
            let found = run(java, jdk, program);
            let what = format!("{} on JDK {}, {blocks:?}, record={record}", program.main, jdk.version);
            assert_same(&expected, &found, &what);
        }
    }
}

fn traces(jdk: &'static Jdk) {
    same_on_the_image(jdk, &[TRACES]);
}

fn walks(jdk: &'static Jdk) {
    same_on_the_image(jdk, &[WALKS]);
}

fn nulls(jdk: &'static Jdk) {
    same_on_the_image(jdk, &NULLS);
}

fn virtual_threads(jdk: &'static Jdk) {
    same_on_the_image(jdk, &[VIRTUAL]);
}

/// Traces end where the JVM would have ended them.
fn depths(jdk: &'static Jdk) {
    for (depth, enough) in [(10, 4096), (3000, 12_000)] {
        let mut java = jdk.java("walks-depth-plain");
        java.option(format!("-XX:MaxJavaStackTraceDepth={depth}"));
        let expected = run(java, jdk, TRACES);
        let image = Image::of(jdk, Blocks::Exact);
        let mut java = image.java("walks-depth");
        java.option(format!("-XX:MaxJavaStackTraceDepth={enough}"));
        java.option(format!("-Dcctrewrite.depth={depth}"));
        assert_same(&expected, &run(java, jdk, TRACES), &format!("{depth} frames on JDK {}", jdk.version));
    }
}

jdks!(traces, traces, [25], all [11, 17, 21, 26, 27]);
jdks!(walks, walks, [17, 25], all [11, 21, 26, 27]);
jdks!(nulls, nulls, 17..);
jdks!(virtual_threads, virtual_threads, 21..);
jdks!(depths, depths, [17], all [11, 21, 25, 26, 27]);
