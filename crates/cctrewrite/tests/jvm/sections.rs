//! Programs behave as before on a profiled JDK of 9 and later.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::prefix::printed;
use crate::support::{Blocks, Image, Java, Jdk, Run, assert_same_lines, fixture, jdks};

/// Sections that print something else on a profiled JDK; a separate test covers the difference.
const DIFFERING: [&str; 1] = ["LibraryPackages"];

/// A program of sections.
#[derive(Debug, Clone, Copy)]
struct Program {
    main: &'static str,
    /// Folders below `fixtures/`.
    class_path: &'static [&'static str],
    /// Minimum number of printed lines.
    lines: usize,
    options: &'static [&'static str],
}

/// Features since 8; each release prints those that it has.
const MODERN: Program = Program {
    main: "Modern",
    class_path: &["semantics/classes", "modern/classes"],
    lines: 1900,
    options: &[],
};

/// The sections of JDK 8, which run on all.
const SEMANTICS: Program =
    Program { main: "Semantics", class_path: &["semantics/classes"], lines: 2500, options: &[] };

/// Class files with a minor version of 65535, which only one release accepts (JVMS 4.1).
const PREVIEW_25: Program = Program {
    main: "Preview",
    class_path: &["semantics/classes", "modern/classes", "modern/preview25/classes"],
    lines: 40,
    options: &["--enable-preview"],
};

/// A program in named modules, in the boot layer.
const MODULES: Program =
    Program { main: "-m greeting.app/greeting.app.Main", class_path: &[], lines: 4, options: &["-p"] };

fn run(mut java: Java, jdk: &Jdk, program: Program, arguments: &[&str]) -> Run {
    // A heap that can be filled. Without the second option compiled code throws exceptions without
    // stacks and messages.
    java.option("-Xmx512m").option("-XX:-OmitStackTraceInFastThrow");
    if jdk.version >= 17 {
        java.option("--enable-native-access=ALL-UNNAMED");
    }
    for option in program.options {
        java.option(*option);
    }
    if program.options.contains(&"-p") {
        java.option(fixture("modern/modules").display().to_string());
    }
    let class_path: Vec<PathBuf> = program.class_path.iter().map(|below| fixture(below)).collect();
    java.class_path(class_path).succeed(program.main, arguments)
}

fn lines(run: &Run) -> Vec<&str> {
    run.out.lines().collect()
}

/// The plain run, which must be complete.
fn plain(jdk: &Jdk, program: Program, arguments: &[&str]) -> Run {
    let expected = run(jdk.java("sections-plain"), jdk, program, arguments);
    assert!(expected.out.lines().count() >= program.lines, "{}", expected.out);
    assert!(!expected.out.contains("did not end"), "{}", expected.out);
    expected
}

/// Compares outputs on the plain JDK and on the image, recording and not, by both rules for blocks.
fn same_on_the_image(jdk: &'static Jdk, program: Program, arguments: &[&str]) {
    let expected = plain(jdk, program, arguments);
    for (blocks, record) in Image::runs(jdk) {
        let image = Image::of(jdk, blocks);
        let mut java = image.java("sections");
        java.option(format!("-Dcctrewrite.record={record}"));
        let found = run(java, jdk, program, arguments);
        let what = format!("{} on JDK {}, {blocks:?}, record={record}", program.main, jdk.version);
        assert_same_lines(&printed(&expected, blocks), &printed(&found, blocks), &what);
        assert_eq!(found.err, expected.err, "{what}");
        assert_eq!(found.profile_path().exists(), record == "on", "{what}");
    }
}

/// Further documented differences: indices of bytecodes (docs/internals/runtime.md), and the order
/// of an annotation's members, which follows HotSpot's order of its methods and is unspecified
/// (docs/reference/exactness.md).
const DOCUMENTED: [&str; 2] = ["StackWalks", "RecordAnnotations"];

fn modern(jdk: &'static Jdk) {
    let without: Vec<String> =
        DIFFERING.iter().chain(&DOCUMENTED).map(|section| format!("-{section}")).collect();
    same_on_the_image(
        jdk,
        Program { lines: 1500, ..MODERN },
        &without.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

fn semantics(jdk: &'static Jdk) {
    // This one lists the classes of `java.lang`, including the runtime's.
    same_on_the_image(jdk, Program { lines: 1500, ..SEMANTICS }, &["-LibraryMembers"]);
}

fn modules(jdk: &'static Jdk) {
    same_on_the_image(jdk, MODULES, &["first", "second"]);
}

fn preview(jdk: &'static Jdk) {
    same_on_the_image(jdk, PREVIEW_25, &[]);
}

/// The same run twice on the plain JDK: otherwise the image could not be compared.
fn deterministic(jdk: &'static Jdk) {
    for program in [MODERN, SEMANTICS] {
        let first = plain(jdk, program, &[]);
        let mut java = jdk.java("sections-again");
        java.option("-XX:TieredStopAtLevel=1");
        let second = run(java, jdk, program, &[]);
        assert_same_lines(
            &lines(&first),
            &lines(&second),
            &format!("{} on JDK {}", program.main, jdk.version),
        );
    }
}

/// The class library lists the runtime's packages and classes besides its own.
fn packages(jdk: &'static Jdk) {
    let names = |run: &Run| -> BTreeSet<String> {
        run.out.split(['[', ']', ',', '\n']).map(|name| name.trim().to_owned()).collect()
    };
    let expected = names(&plain(jdk, Program { lines: 5, ..MODERN }, &DIFFERING));
    let image = Image::of(jdk, Blocks::Exact);
    let found = names(&run(image.java("packages"), jdk, MODERN, &DIFFERING));
    let more: Vec<&String> = found.difference(&expected).collect();
    assert!(expected.is_subset(&found), "missing: {:?}", expected.difference(&found).collect::<Vec<_>>());
    assert!(more.iter().all(|name| name.starts_with("cctrewrite") || name.starts_with("Cct")), "{more:?}");
}

jdks!(modern, modern, [25], all [11, 17, 21, 26, 27]);
jdks!(semantics, semantics, [17], all [11, 21, 25, 26, 27]);
jdks!(modules, modules, 11..);
jdks!(preview, preview, [25]);
jdks!(deterministic, deterministic, [25], all [11, 17, 21, 26, 27]);
jdks!(packages, packages, 11..);
