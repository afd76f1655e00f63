//! Small programs from other compilers and an obfuscator (fixtures/foreign): rewritten beforehand
//! and at load time they print the same, and their methods are counted.

use std::path::PathBuf;

use crate::support::{
    Blocks, Jdk, Library, Run, assert_same_lines, fixture, folder, instrument, jdks, profiled,
};

/// A program, its class path, and calls of its methods: parts of contexts, with their numbers of
/// entries.
struct Program {
    classes: &'static str,
    calls: &'static [(&'static str, u64)],
}

/// `sum` of Kotlin and Scala is a loop. ProGuard renames methods and inlines some of them.
const PROGRAMS: [Program; 3] = [
    Program {
        classes: "foreign/kotlin/classes",
        calls: &[
            ("ShapesKt.sum(", 1),
            ("Square.area(", 4),
            ("Box.area(", 4),
            ("Box$Companion.of(", 4),
            ("ShapesKt.scaled$default(", 2),
            ("Greeter$DefaultImpls.greet(", 2),
            ("Main$main$counter$1.run(", 3),
        ],
    },
    Program {
        classes: "foreign/scala/classes",
        calls: &[
            ("Main$.sum(", 1),
            ("Main$.kind(", 5),
            ("Box.area$lzycompute(", 1),
            ("Box.area(", 2),
            ("Shape$class.twice(", 2),
            ("Main$.guarded(", 2),
        ],
    },
    Program { classes: "foreign/proguard/shapes.jar", calls: &[("Main.main(", 1)] },
];

/// Calls of methods whose frames have this prefix.
fn calls(run: &Run, method: &str) -> u64 {
    let contexts = run.contexts(false);
    let calls = contexts.iter().filter_map(|line| {
        let (numbers, path) = line.split_once(' ')?;
        let frame = path.split_once(' ')?.1.rsplit(';').next()?;
        frame.starts_with(method).then(|| numbers.parse::<u64>().unwrap())
    });
    calls.sum()
}

fn check(program: &Program, plain: &Run, run: &Run, what: &str) {
    let what = format!("{}, {what}", program.classes);
    let [before, now] = [plain, run].map(|run| run.out.lines().collect::<Vec<_>>());
    assert!(before.len() > 8, "{what}: {}", plain.err);
    assert_same_lines(&before, &now, &what);
    for (method, expected) in program.calls {
        assert_eq!(calls(run, method), *expected, "{what}: {method}: {:#?}", run.contexts_from("Main.main"));
    }
}

fn same(jdk: &'static Jdk) {
    for program in &PROGRAMS {
        let classes = fixture(program.classes);
        let plain = jdk.java("foreign-plain").verify().class_path([&classes]).succeed("Main", &[]);
        let mut java = profiled(jdk, Blocks::Exact, "foreign");
        let at_load_time = java.forget_class_path().class_path([&classes]).succeed("Main", &[]);
        check(program, &plain, &at_load_time, "at load time");
        if jdk.version == 8 {
            let output: PathBuf = folder("foreign-offline").join(classes.file_name().unwrap());
            instrument(&[classes], &[jdk.rt_jar()], &output, &["--verify"]);
            let mut java = Library::whole(jdk, Blocks::Exact).java_without_load_time("foreign-offline");
            let offline = java.forget_class_path().class_path([output]).succeed("Main", &[]);
            check(program, &plain, &offline, "offline");
        }
    }
}
jdks!(programs_say_what_they_said, same, [8, 17, 25]);
