//! Programs behave as before.

use std::fs;
use std::path::PathBuf;

use crate::prefix::printed;
use crate::support::{Blocks, Java, Jdk, Library, Run, assert_same_lines, folder, plain_programs};

/// A way to run the program on an instrumented class library.
struct Way {
    name: &'static str,
    /// The folder with the program's classes.
    program: fn(&Library) -> PathBuf,
    /// Whether classes that are defined while the program runs are rewritten.
    load_time: bool,
    /// Rules for blocks, and values of `cctrewrite.record`. Each pair is a run of all sections.
    runs: &'static [(Blocks, &'static str)],
    /// Sections that end differently from the plain JVM; a separate test covers the difference.
    differing: &'static [&'static str],
}

/// All ways. To add one, add an entry.
const WAYS: [Way; 3] = [
    Way {
        name: "instrumented with the library",
        program: |library| library.programs.clone(),
        load_time: true,
        runs: &[
            (Blocks::Default, "on"),
            (Blocks::Default, "off"),
            (Blocks::Exact, "on"),
            (Blocks::Thread, "on"),
            (Blocks::Prefix, "on"),
        ],
        differing: &[],
    },
    Way {
        name: "untouched",
        program: |_| plain_programs().to_owned(),
        load_time: true,
        runs: &[(Blocks::Exact, "on"), (Blocks::Thread, "on")],
        differing: &[],
    },
    Way {
        name: "instrumented, without the library that rewrites at load time",
        program: |library| library.programs.clone(),
        load_time: false,
        runs: &[(Blocks::Default, "on")],
        differing: &["AmbiguousProxies", "Transformations"],
    },
];

/// Options for both JVMs: the compiler for programs that call it, and a heap that can be filled.
fn prepare(java: &mut Java, tools: PathBuf) {
    java.option(format!("-Xbootclasspath/a:{}", tools.display())).option("-Xmx512m");
}

fn plain(jdk: &Jdk, main: &str, arguments: &[&str]) -> Run {
    let mut java = jdk.java("semantics-plain");
    prepare(&mut java, jdk.tools_jar());
    java.class_path([plain_programs()]).succeed(main, arguments)
}

fn rewritten(library: &Library, way: &Way, record: &str, main: &str, arguments: &[&str]) -> Run {
    let mut java = library.java("semantics");
    prepare(&mut java, library.tools.clone().unwrap());
    java.option(format!("-Dcctrewrite.record={record}"));
    if !way.load_time {
        java.forget("-Dcctrewrite.loadtime=");
    }
    java.forget_class_path().class_path([(way.program)(library)]).succeed(main, arguments)
}

fn lines(run: &Run) -> Vec<&str> {
    run.out.lines().collect()
}

/// All sections of the fixture, compared by their output.
#[test]
fn a_program_that_looks_at_itself_sees_what_it_saw_before() {
    let Some(jdk) = Jdk::find() else { return };
    for way in &WAYS {
        let without: Vec<String> = way.differing.iter().map(|section| format!("-{section}")).collect();
        let without: Vec<&str> = without.iter().map(String::as_str).collect();
        let expected = plain(jdk, "Semantics", &without);
        assert!(expected.out.lines().count() > 2500, "{}", expected.out);
        for failure in ["did not end", "not after"] {
            assert!(!expected.out.contains(failure), "{}", expected.out);
        }
        for &(blocks, record) in way.runs {
            let run = rewritten(Library::whole(jdk, blocks), way, record, "Semantics", &without);
            let what = format!("{}, {blocks:?}, record={record}", way.name);
            assert_same_lines(&printed(&expected, blocks), &printed(&run, blocks), &what);
            assert_eq!(run.err, expected.err, "{what}");
        }
    }
}

/// The streams are equal byte for byte, since the hashes for undeclared versions are.
#[test]
fn objects_go_between_plain_and_instrumented_programs() {
    let Some(jdk) = Jdk::find() else { return };
    let library = Library::whole(jdk, Blocks::Exact);
    for way in &WAYS {
        let folder = folder("streams");
        let [by_plain, by_rewritten] = ["plain", "rewritten"].map(|name| folder.join(name));
        let [plain_file, rewritten_file] = [&by_plain, &by_rewritten].map(|path| path.to_str().unwrap());
        let main = "sections.Serialization";
        plain(jdk, main, &["write", plain_file]);
        rewritten(library, way, "on", main, &["write", rewritten_file]);
        assert_eq!(fs::read(&by_plain).unwrap(), fs::read(&by_rewritten).unwrap(), "{}", way.name);
        let before = plain(jdk, main, &["read", rewritten_file]);
        let now = rewritten(library, way, "on", main, &["read", plain_file]);
        assert!(before.out.contains("unversioned = [1, -1, 9223372036854775807]"), "{}", before.out);
        assert_same_lines(&lines(&before), &lines(&now), way.name);
    }
}

/// Classes that are generated while the program runs, and not rewritten: `docs/internals/scheme.md`
/// describes the effects.
#[test]
fn classes_that_are_not_rewritten_at_load_time_end_with_the_documented_errors() {
    let Some(jdk) = Jdk::find() else { return };
    let library = Library::whole(jdk, Blocks::Exact);
    let way = WAYS.iter().find(|way| !way.load_time).unwrap();
    let run = rewritten(library, way, "on", "Semantics", way.differing);
    for method in ["Left.tie", "java/util/List.size", "java/util/List.spliterator"] {
        let line = run.out.lines().find(|line| line.contains(method) && line.contains("Error")).unwrap();
        assert!(line.contains("IncompatibleClassChangeError: Conflicting default methods"), "{line}");
    }
    // The translet overrides methods of a class that was rewritten.
    assert!(run.out.contains("unable to create translet instance"), "{}", run.out);
}
