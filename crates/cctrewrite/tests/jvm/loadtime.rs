//! Classes that were not instrumented, on an instrumented class library: they are rewritten when
//! they are defined.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::golden::{GoldenTree, of_classes};
use crate::support::{
    ALL_BLOCKS, Blocks, Java, Jdk, Library, Run, assert_same_lines, assert_succeeded, fixture, folder,
    instrument, jdks, jni_library, plain_programs, profiled,
};

fn classes() -> PathBuf {
    fixture("loadtime/classes")
}

/// A JVM on the instrumented class library, with untouched classes on its class path.
fn java(jdk: &'static Jdk, blocks: Blocks, name: &str, class_path: &Path) -> Java {
    let mut java = profiled(jdk, blocks, name);
    java.forget_class_path().class_path([class_path]);
    java
}

/// Notes about classes that stayed unchanged, or about a defect of the library.
fn troubles(run: &Run) -> Vec<String> {
    let notes = run.profile().notes.into_iter();
    notes.filter(|n| n.contains("stayed") || n.contains("defect") || n.contains("not rewritten")).collect()
}

/// Runs a program of the fixture, not instrumented, on the plain and on the instrumented JDK: it
/// must print the same.
fn same(jdk: &'static Jdk, main: &str, arguments: &[&str]) -> Run {
    let plain = jdk.java(&format!("{main}-plain")).class_path([classes()]).succeed(main, arguments);
    let run = java(jdk, Blocks::Exact, main, &classes()).succeed(main, arguments);
    assert_same_output(&plain, &run, main);
    run
}

/// Since JDK 9 messages contain identity hash codes of loaders.
fn without_hash(line: &str) -> String {
    let parts = line.split('@').enumerate();
    let rest = |(i, part): (usize, &str)| match i {
        0 => part.to_owned(),
        _ => part.trim_start_matches(|c: char| c.is_ascii_hexdigit()).to_owned(),
    };
    parts.map(rest).collect::<Vec<_>>().join("@")
}

fn assert_same_output(plain: &Run, run: &Run, what: &str) {
    let [expected, found] = [plain, run].map(|run| run.out.lines().map(without_hash).collect::<Vec<_>>());
    assert!(!expected.is_empty(), "{what}: {}", plain.err);
    assert_same_lines(&expected, &found, what);
    assert_eq!(run.err, plain.err, "{what}");
}

/// The programs whose trees were derived by hand: the trees are the same, whenever the classes are
/// rewritten.
#[test]
fn untouched_programs_have_the_trees_of_instrumented_ones() {
    let Some(jdk) = Jdk::find() else { return };
    for blocks in ALL_BLOCKS {
        for (name, main) in [
            ("calls", "Calls"),
            ("causes", "Causes"),
            ("control", "Control"),
            ("exceptions", "Exceptions"),
            ("initialisers", "Initialisers"),
            ("lambdas", "Lambdas"),
            ("natives", "Natives"),
            ("recursion", "Recursion"),
            ("threads", "Threads"),
            ("types", "Types"),
        ] {
            let run = java(jdk, blocks, name, plain_programs())
                .option("-Dcctrewrite.threads=each")
                .succeed(main, &[]);
            let own = fixture(&format!("{name}/expected.{}.txt", blocks.numbers()));
            let file = if own.is_file() { own } else { fixture(&format!("{name}/expected.txt")) };
            GoldenTree::read(&file)
                .assert_equal(&run, &format!("{name}, untouched, {} blocks", blocks.name()));
            assert_eq!(troubles(&run), Vec::<String>::new());
        }
    }
}

#[test]
fn an_untouched_jar_has_the_contexts_of_the_instrumented_one() {
    let Some(jdk) = Jdk::find() else { return };
    let to = folder("app");
    let manifest = to.join("manifest");
    fs::write(&manifest, "Main-Class: App\n").unwrap();
    let jar = to.join("app.jar");
    let mut pack = Command::new(jdk.path("bin/jar"));
    pack.arg("cfm").arg(&jar).arg(&manifest).arg("-C").arg(classes()).arg(".");
    assert_succeeded(&mut pack);
    let run = || {
        let mut java = Library::whole(jdk, Blocks::Exact).java("app");
        // Classes are keys of hash tables: with hash codes that vary between runs, the work in the
        // tables would vary.
        java.forget_class_path().option("-XX:hashCode=2");
        java.succeed("-jar", &[&jar.display().to_string()])
    };
    let untouched = run();
    // At the same path: paths are keys of hash tables, too.
    let instrumented = to.join("instrumented.jar");
    instrument(std::slice::from_ref(&jar), &[jdk.rt_jar()], &instrumented, &[]);
    fs::rename(&instrumented, &jar).unwrap();
    let runs = [untouched, run()];
    for run in &runs {
        assert_eq!((run.out.as_str(), run.err.as_str()), ("286 12 true\n", ""));
        assert_eq!(troubles(run), Vec::<String>::new());
    }
    let [untouched, instrumented] = runs.each_ref().map(|run| {
        // Everything below the entry except reads of the jars, which differ.
        let lines = run.contexts(true).into_iter();
        lines
            .filter(|l| {
                l.contains(" [main];App.main(")
                    && !l.contains("loadClass")
                    && !l.contains("getProtectionDomain")
            })
            .collect::<Vec<_>>()
    });
    assert!(instrumented.len() > 100, "{}", instrumented.len());
    assert_same_lines(
        &of_classes(&instrumented, &["App"]),
        &of_classes(&untouched, &["App"]),
        "the program's own contexts",
    );
    assert_same_lines(&instrumented, &untouched, "all contexts outside class loading");
}

/// Loaders that print the names that they are asked for. Inserted code makes them resolve no other
/// name, nor at another time. The verifier checks methods in the order of their names' addresses
/// (docs/reference/exactness.md), and requests the types of their handlers. Only without it the
/// order is the same.
fn loaders_are_asked_for_the_same_names(jdk: &'static Jdk) {
    let run = |mut java: Java, verifier: &[&str]| {
        if !verifier.is_empty() {
            java.forget("-XX:+BytecodeVerification");
        }
        for option in verifier {
            java.option(*option);
        }
        let out = java.class_path([classes()]).succeed("Tracing", &[]).out;
        out.lines().map(without_hash).collect::<Vec<_>>()
    };
    let image = || {
        let mut java = profiled(jdk, Blocks::Exact, "Tracing");
        java.forget_class_path();
        java
    };
    let what = format!("JDK {}", jdk.version);
    let without = ["-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"];
    let [plain, found] = [jdk.java("Tracing-plain"), image()].map(|java| run(java, &without));
    assert_same_lines(&plain, &found, &format!("{what}, without the verifier"));
    let [mut plain, mut found] = [jdk.java("Tracing-plain"), image()].map(|java| run(java, &[]));
    plain.sort();
    found.sort();
    assert!(plain.len() > 100);
    assert_same_lines(&plain, &found, &what);
}

/// By `Lookup.defineClass` and as hidden classes; by loaders, URLs and proxies as before.
fn definitions_by_lookup_objects_too(jdk: &'static Jdk) {
    let classes = fixture("loadtime/since17/classes");
    let plain = jdk.java("Lookups-plain").class_path([&classes]).succeed("Lookups", &[]);
    let run = java(jdk, Blocks::Exact, "Lookups", &classes).succeed("Lookups", &[]);
    assert_same_output(&plain, &run, "Lookups");
    assert!(plain.out.lines().count() > 1000);
}

fn definitions_by_all_means_succeed_and_fail_as_before(jdk: &'static Jdk) {
    same(jdk, "Defining", &[]);
}

fn classes_of_several_loaders_extend_call_and_shadow_each_other(jdk: &'static Jdk) {
    same(jdk, "Hierarchies", &["Old45", "Old48", "Old49"]);
}

/// Also without load time: the classes, instrumented in outputs of their own, neither of which
/// knows the classes of the other.
fn final_methods_are_not_overridden(jdk: &'static Jdk) {
    let run = same(jdk, "Finals", &[]);
    let to = folder("finals");
    let superclasses = ["Base", "Between", "Closing"].map(|name| format!("Finals${name}.class"));
    let outputs = ["above", "below"].map(|part| {
        let [plain, output] = ["plain", "inst"].map(|kind| to.join(format!("{part}-{kind}")));
        fs::create_dir(&plain).unwrap();
        for class in fs::read_dir(classes()).unwrap().map(Result::unwrap) {
            let name = class.file_name().into_string().unwrap();
            if name.starts_with("Finals") && superclasses.contains(&name) == (part == "above") {
                fs::copy(class.path(), plain.join(name)).unwrap();
            }
        }
        let library = if jdk.version == 8 { jdk.rt_jar() } else { jdk.home().to_owned() };
        instrument(&[plain], &[library], &output, &[]);
        output
    });
    let mut java = profiled(jdk, Blocks::Exact, "finals-apart");
    java.forget_class_path().class_path(outputs);
    assert_eq!(java.succeed("Finals", &[]).out, run.out);
}

fn loaders_that_delegate_to_each_other_from_two_threads_do_not_wait_for_ever(jdk: &'static Jdk) {
    same(jdk, "Deadlock", &[]);
}

fn classes_are_defined_down_to_the_end_of_the_stack(jdk: &'static Jdk) {
    same(jdk, "Deep", &[]);
}

/// The methods of the program's own on the stack of its main thread, innermost first, wrappers
/// included: the JVM's own listing shows them all.
fn frames_of_held(jdk: &'static Jdk, class_path: &Path) -> Vec<String> {
    let mut jvm = java(jdk, Blocks::Exact, "Held", class_path).start("Held", &[]);
    jvm.wait_for("holding");
    let id = jvm.id().to_string();
    let signal =
        |signal: &str| assert!(Command::new("kill").args([signal, &*id]).status().unwrap().success());
    signal("-QUIT");
    jvm.wait_for("Heap");
    signal("-TERM");
    let run = jvm.wait();
    run.assert_code(128 + 15);
    let frame = |line: &str| Some(line.trim().strip_prefix("at Held")?.split('(').next()?.to_owned());
    // The JDK's numbering depends on the version.
    run.out
        .lines()
        .filter_map(frame)
        .map(|f| if f.starts_with("$$Lambda") { "$$Lambda.run".into() } else { f })
        .collect()
}

/// The class of a lambda calls its host, which the JVM has loaded by then, by the extended
/// signature: there is no wrapper in between. The launcher calls `main` by the original one.
fn classes_that_are_known_are_called_by_extended_signatures(jdk: &'static Jdk) {
    let frames = frames_of_held(jdk, &classes());
    assert_eq!(frames, [".hold", ".lambda$main$0", "$$Lambda.run", ".main", ".main"]);
}

/// The KiB of memory that a run reports after a quarter of its rounds, and at the end.
fn resident(run: &Run) -> Option<[i64; 2]> {
    let words: Vec<i64> = run.err.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let [first, last] = words[..] else { panic!("{}", run.err) };
    (first > 0).then_some([first, last])
}

fn classes_that_are_dropped_leave_nothing_behind(jdk: &'static Jdk) {
    // Where classes cannot be anonymous they are hidden.
    let (main, made, classes, rounds) = match jdk.version {
        8 => ("Churn", "ChurnMade", classes(), "20000"),
        _ => ("Dropping", "Dropped", fixture("loadtime/since17/classes"), "8000"),
    };
    // C2 temporarily takes 100 MB, whenever it compiles; C1 starts early and takes little.
    let limits = ["-Xmx64m", "-XX:MaxMetaspaceSize=128m", "-XX:TieredStopAtLevel=1"];
    let mut plain = jdk.java("Churn-plain");
    let mut java = java(jdk, Blocks::Exact, "Churn", &classes);
    for limit in limits {
        plain.option(limit);
        java.option(limit);
    }
    let plain = plain.class_path([&classes]).succeed(main, &[rounds]);
    let run = java.succeed(main, &[rounds]);
    assert_eq!(run.out, plain.out);
    assert_eq!(troubles(&run), Vec::<String>::new());
    if let (Some(plain), Some([first, last])) = (resident(&plain), resident(&run)) {
        eprintln!("plain {plain:?} KiB, rewritten [{first}, {last}] KiB");
        // 15,000 definitions, and a JVM's growth in its first minute (10 to 20 MB were seen);
        // keeping whole class files and worlds would take more.
        assert!(last - first < 60_000, "{first} KiB after a quarter of the rounds, {last} KiB at the end");
    }
    // Classes of one name are one class in the profile.
    let names: Vec<_> =
        run.profile().methods.iter().filter(|m| &*m.class == made).map(|m| m.name.to_string()).collect();
    assert!(names.iter().filter(|n| *n == "hashCode").count() <= 2, "{names:?}");
}

/// An agent that reads class files, changes one, and has some retransformed.
fn a_java_agent_may_transform_and_retransform_classes(jdk: &'static Jdk) {
    let to = folder("agent");
    fs::write(
        to.join("manifest"),
        "Premain-Class: Agent\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n",
    )
    .unwrap();
    let jar = to.join("agent.jar");
    let mut pack = Command::new(jdk.path("bin/jar"));
    pack.arg("cfm").arg(&jar).arg(to.join("manifest"));
    for class in ["Agent.class", "Agent$1.class", "Bytes.class"] {
        pack.arg("-C").arg(classes()).arg(class);
    }
    assert_succeeded(&mut pack);
    let option = format!("-javaagent:{}", jar.display());
    let plain = jdk.java("Agented-plain").option(&option).class_path([classes()]).succeed("Agented", &[]);
    let run = java(jdk, Blocks::Exact, "Agented", &classes()).option(&option).succeed("Agented", &[]);
    assert_same_output(&plain, &run, "with an agent");
    let own = of_classes(&run.contexts(false), &["Agented", "AgentTold", "AgentPlain"]);
    for line in [
        "2 8 Agented.main([Ljava/lang/String,)V;AgentPlain.twice(I)I",
        "2 4 Agented.main([Ljava/lang/String,)V;AgentTold.tell()Ljava/lang/String,",
    ] {
        assert!(own.contains(&line.to_owned()), "{line}: {own:#?}");
    }
}

/// JNI's DefineClass and ExceptionClear, from a library that the test compiles.
fn native_libraries_define_classes_and_clear_exceptions(jdk: &'static Jdk) {
    let library = folder("natively").join("libnatively.so");
    let Some(library) = jni_library(jdk, "loadtime/natively.c", &library) else { return };
    let run = same(jdk, "Natively", &[&library.display().to_string()]);
    let own = of_classes(&run.contexts(false), &["Natively", "NativelyProblem", "Defined"]);
    let main = "Natively.main([Ljava/lang/String,)V";
    assert!(run.out.contains("once: three9"), "{}", run.out);
    for path in [
        // Rewritten like other classes: it has contexts.
        &format!(
            "{main};Natively.attempt(Ljava/lang/String,Ljava/lang/ClassLoader,Ljava/lang/String,[BI)V;Defined.toString()Ljava/lang/String,"
        ),
        // The second call is below the native like the first, though a constructor threw in
        // between.
        &format!("{main};Natively.twice(Ljava/lang/Runnable,)I;Natively$1.run()V;Natively.called()V"),
    ] {
        assert!(own.iter().any(|line| line.splitn(3, ' ').nth(2) == Some(path)), "{path}: {own:#?}");
    }
    let called: Vec<&String> = own.iter().filter(|line| line.ends_with("Natively.called()V")).collect();
    assert!(called.len() == 1 && called[0].starts_with("2 "), "{called:?}");
}

jdks!(
    classes_that_are_known_are_called_by_extended_signatures,
    classes_that_are_known_are_called_by_extended_signatures,
    8..
);
jdks!(
    classes_that_are_dropped_leave_nothing_behind,
    classes_that_are_dropped_leave_nothing_behind,
    [8, 25],
    all[17]
);
jdks!(
    a_java_agent_may_transform_and_retransform_classes,
    a_java_agent_may_transform_and_retransform_classes,
    [8, 17, 25]
);
jdks!(
    native_libraries_define_classes_and_clear_exceptions,
    native_libraries_define_classes_and_clear_exceptions,
    [8, 17, 25]
);
jdks!(loaders_are_asked_for_the_same_names, loaders_are_asked_for_the_same_names, 8..=25);
// Its program calls `sun.misc.Unsafe` of JDK 8; the next test covers its successors.
jdks!(
    definitions_by_all_means_succeed_and_fail_as_before,
    definitions_by_all_means_succeed_and_fail_as_before,
    [8]
);
jdks!(definitions_by_lookup_objects_too, definitions_by_lookup_objects_too, 17..);
jdks!(
    classes_of_several_loaders_extend_call_and_shadow_each_other,
    classes_of_several_loaders_extend_call_and_shadow_each_other,
    [8, 17, 25]
);
jdks!(
    loaders_that_delegate_to_each_other_from_two_threads_do_not_wait_for_ever,
    loaders_that_delegate_to_each_other_from_two_threads_do_not_wait_for_ever,
    [8, 17, 25]
);
jdks!(
    classes_are_defined_down_to_the_end_of_the_stack,
    classes_are_defined_down_to_the_end_of_the_stack,
    [17, 25],
    all[8]
);
jdks!(final_methods_are_not_overridden, final_methods_are_not_overridden, 8..=25);
