//! Selective profiling (docs/use/parts.md): regions that the program itself begins and ends,
//! extents, and recording from the entry of a method on.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::support::golden::{GoldenTree, parse};
use crate::support::{
    ALL_BLOCKS, Blocks, Image, Java, Jdk, Library, Run, assert_succeeded, fixture, folder, instrument, jdks,
    profiled, scratch,
};

/// The jar from `cctrewrite api`.
pub fn api() -> PathBuf {
    static JAR: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let jar = scratch().join("cctrewrite-api.jar");
        assert_succeeded(Command::new(env!("CARGO_BIN_EXE_cctrewrite")).arg("api").arg("-o").arg(&jar));
        jar
    };
    JAR.get_or_init(make).clone()
}

/// A JVM of a profiled JDK with untouched classes on its class path.
pub fn java(jdk: &'static Jdk, blocks: Blocks, name: &str, classes: &str) -> Java {
    let mut java = profiled(jdk, blocks, name);
    java.forget_class_path().class_path([fixture(classes), api()]).option("-Dcctrewrite.threads=each");
    java
}

fn golden(blocks: Blocks) -> GoldenTree {
    GoldenTree::read(&fixture(&format!("regions/expected.{}.txt", blocks.numbers())))
}

/// Calls and bytecodes of a context, by its thread and the frames of these classes alone.
fn of(run: &Run, path: &str) -> Option<(u64, u64)> {
    let lines = run.contexts(true);
    let frames = |path: &str| -> Vec<String> {
        let frame = |frame: &str| frame.split(['(', ';']).next().unwrap_or_default().to_owned();
        path.split(';').map(frame).collect()
    };
    let found = lines.iter().map(|line| parse(line)).find(|(_, found)| frames(found) == frames(path));
    found.map(|(counts, _)| counts)
}

fn regions_have_what_was_executed_while_recording(jdk: &'static Jdk) {
    for &blocks in if jdk.version == 8 { &ALL_BLOCKS[..] } else { Image::rules(jdk) } {
        let run = java(jdk, blocks, "regions", "regions/classes")
            .option("-Dcctrewrite.record=regions")
            .succeed("Regions", &[]);
        golden(blocks).assert_equal(&run, &format!("JDK {}, {} blocks", jdk.version, blocks.name()));
        let profile = run.profile();
        assert_eq!(profile.meta["selection"], "regions");
        assert!(
            profile.notes.iter().any(|n| n.contains("recording was switched 17 times")),
            "{:?}",
            profile.notes
        );
        // Regions without any counts are omitted, including everything below them.
        for thread in &profile.threads {
            let nodes = thread.tree.nodes();
            let is_leaf = |node: usize| thread.tree.subtree(node as u32).len() == 1;
            let empty = (1..nodes.len()).find(|&n| is_leaf(n) && nodes[n].calls + nodes[n].bytecodes == 0);
            assert_eq!(empty, None, "{}", thread.name);
        }
        // Neither the switches themselves nor the runtime's work for them.
        assert!(profile.methods.iter().all(|m| !m.class.starts_with("cctrewrite/")));
    }
}

/// By default everything is recorded until the first `stop`.
fn recording_begins_switched_on(jdk: &'static Jdk) {
    let run = java(jdk, Blocks::Exact, "regions-on", "regions/classes").succeed("Regions", &[]);
    let main = "[main];Regions.main";
    assert_eq!(of(&run, &format!("{main};Regions.fib")), Some((1, 13)));
    // Both before its `stop`, not the one after it.
    assert_eq!(of(&run, &format!("{main};Regions.block;Regions.leaf")), Some((2, 2)));
    // Threads begin in the program's state; `before` was there before all were switched, and is
    // gone.
    assert_eq!(of(&run, "[first];Regions$Worker.run;Regions.leaf"), Some((1, 1)));
    assert_eq!(of(&run, "[before];Regions$Plain.run"), Some((1, 2)));
    assert_eq!(of(&run, "[after];Regions$Plain.run"), None);
}

/// The same program on a plain JDK, where the calls have no effect.
fn nothing_happens_on_a_plain_jdk(jdk: &'static Jdk) {
    let mut plain = jdk.java("regions-plain");
    plain.class_path([fixture("regions/classes"), api()]);
    assert_eq!(plain.succeed("Regions", &[]).err, "");
}

fn an_empty_profile_says_why(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Exact, "regions-none");
    let run = java.option("-Dcctrewrite.record=regions").succeed("Hello", &[]);
    let profile = run.profile();
    assert!(profile.threads.is_empty() && profile.methods.is_empty());
    assert!(profile.notes.iter().any(|note| note.starts_with("the profile is empty")), "{:?}", profile.notes);
    assert!(run.err.contains("cctrewrite: the profile is empty"), "{}", run.err);

    let refused = java.forget("-Dcctrewrite.record").option("-Dcctrewrite.record=of").run("Hello", &[]);
    refused.assert_code(70);
    assert!(refused.err.contains("choose on, off or regions"), "{}", refused.err);
}

fn virtual_threads_have_regions_of_their_own(jdk: &'static Jdk) {
    let run = java(jdk, Blocks::Exact, "regions-virtual", "regions/since21/classes")
        .option("-Dcctrewrite.record=regions")
        .succeed("Carried", &[]);
    let leaves = |line: &String| line.contains(";Carried.leaf()V").then(|| parse(line).0);
    let lines = run.contexts(true);
    assert_eq!(lines.iter().filter_map(leaves).collect::<Vec<_>>(), [(2, 2); 40]);
    let threads = run.profile().threads;
    assert!(threads.iter().all(|t| t.name.ends_with(" [inside]")), "{:?}", threads[0].name);
}

/// With the runtime's own writer, and with that of the load-time library.
#[test]
fn instrumented_beforehand_and_written_by_both_writers() {
    let Some(jdk) = Jdk::find() else { return };
    let outputs = folder("regions-instrumented");
    instrument(&[fixture("regions/classes"), api()], &[jdk.rt_jar()], &outputs, &[]);
    let library = Library::rt_alone(jdk);
    for (name, mut java) in [
        ("both", library.java("regions-native-writer")),
        ("runtime", library.java_without_load_time("regions-java-writer")),
    ] {
        let run = java
            .forget_class_path()
            .class_path([outputs.join("classes"), outputs.join("cctrewrite-api.jar")])
            .option("-Dcctrewrite.threads=each")
            .option("-Dcctrewrite.record=regions")
            .succeed("Regions", &[]);
        golden(Blocks::Exact).assert_equal(&run, name);
        // Reading and writing again gives the same bytes.
        let mut again = Vec::new();
        run.profile().write(&mut again).unwrap();
        assert!(std::fs::read(run.profile_path()).unwrap() == again, "{name}");
    }
}

/// `run` passes regions to the JVMs, including those that others start.
fn run_takes_regions(jdk: &'static Jdk) {
    let here = folder("regions-run");
    let class_path = format!("{}:{}", fixture("regions/classes").display(), api().display());
    let script = format!("java -cp {class_path} Regions");
    let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    run.current_dir(&here).arg("run").arg("--regions").arg("--jdk").arg(Image::of(jdk, Blocks::Exact).home());
    let said = assert_succeeded(run.args(["--", "sh", "-c", &script]));
    assert!(said.contains("recording was switched 17 times"), "{said}");
    let profile = cct_profile::Profile::read(&std::fs::read(here.join("cctrewrite.cct")).unwrap()).unwrap();
    assert_eq!(profile.meta["selection"], "regions");
}

/// The extents of the fixture.
const EXTENTS: &str = "Extents.fact,Extents.leaves(I)V,Extents.outer,Extents$Square.area,Extents.initialises,Extents.own,Extents/once.not,Extents.once,Extents.last";

fn extents(jdk: &'static Jdk, blocks: Blocks, extents: &str) -> Java {
    let mut java = java(jdk, blocks, "extents", "extents/classes");
    java.option(format!("-Dcctrewrite.extent={extents}"));
    java
}

fn extents_have_their_methods_work(jdk: &'static Jdk) {
    for &blocks in if jdk.version == 8 { &ALL_BLOCKS[..] } else { Image::rules(jdk) } {
        let run = extents(jdk, blocks, EXTENTS).succeed("Extents", &[]);
        let golden = GoldenTree::read(&fixture(&format!("extents/expected.{}.txt", blocks.numbers())));
        golden.assert_equal(&run, &format!("JDK {}, {} blocks", jdk.version, blocks.name()));
        // Everything else is missing, including the class library's part: below a thread there is
        // an extent.
        for line in run.contexts(true) {
            let frames: Vec<&str> = parse(&line).1.split([';', '(']).collect();
            assert!(EXTENTS.split([',', '(']).any(|extent| extent == frames[1]), "{line}");
        }
        let profile = run.profile();
        assert_eq!(profile.meta["selection"], format!("extents {EXTENTS}"));
        let of_extents: Vec<&String> = profile.notes.iter().filter(|note| note.contains("extent")).collect();
        let [note] = *of_extents else { panic!("{of_extents:?}") };
        assert!(note.starts_with("the extent Extents/once.not was not found"), "{note}");
    }
}

/// In the interpreter, with each compiler, and in a small heap.
fn extents_in_all_ways(jdk: &'static Jdk) {
    let ways: [&[&str]; 4] =
        [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation", "-Xcomp"], &["-Xmx24m"]];
    let golden = GoldenTree::read(&fixture("extents/expected.precise.txt"));
    for way in ways {
        let mut java = extents(jdk, Blocks::Exact, EXTENTS);
        way.iter().for_each(|option| {
            java.option(*option);
        });
        golden.assert_equal(&java.succeed("Extents", &[]), &format!("JDK {}, {way:?}", jdk.version));
    }
}

fn impossible_extents_are_reported(jdk: &'static Jdk) {
    let wrong = "Extents$Big.<init>,Extents$Shape.area,Extents.main,Hello.main";
    let run = extents(jdk, Blocks::Exact, wrong).succeed("Extents", &[]);
    let notes = run.profile().notes;
    for expected in [
        "Extents$Big.<init>()V cannot be an extent: it is a constructor",
        "Extents$Shape.area()I cannot be an extent: it has no body",
        "the extent Hello.main was not found",
    ] {
        assert!(notes.iter().any(|note| note.starts_with(expected)), "{expected}: {notes:?}");
    }
    // The whole program is the extent of its main method.
    assert_eq!(of(&run, "[main];Extents.main;Extents.fact;Extents.fact;Extents.fact"), Some((1, 6)));

    let idle = extents(jdk, Blocks::Exact, "Extents$Init.idle,Extents.once").run("Hello", &[]);
    assert!(idle.profile().threads.is_empty());
    assert!(idle.err.contains("the profile is empty"), "{}", idle.err);

    for (extent, why) in
        [("java.lang.String.valueOf", "a method of the class library"), ("nonsense", "is not a method")]
    {
        let run = extents(jdk, Blocks::Exact, extent).run("Extents", &[]);
        run.assert_code(70);
        assert!(run.err.contains(why) && !run.profile_path().exists(), "{}", run.err);
    }
}

fn everything_from_an_entry_on(jdk: &'static Jdk) {
    let mut java = java(jdk, Blocks::Exact, "start-at", "extents/classes");
    let run = java.option("-Dcctrewrite.start-at=Extents.outer()V").succeed("Extents", &[]);
    GoldenTree::read(&fixture("extents/from-outer.txt")).assert_equal(&run, &format!("JDK {}", jdk.version));
    assert_eq!(run.profile().meta["selection"], "from Extents.outer()V on");

    let run = java
        .forget("-Dcctrewrite.start-at")
        .option("-Dcctrewrite.start-at=Extents.never")
        .succeed("Extents", &[]);
    assert!(run.profile().threads.is_empty());
    assert!(run.err.contains("the profile is empty") && run.err.contains("Extents.never"), "{}", run.err);
    assert!(
        run.profile().notes.iter().any(|note| note.contains("was not found")),
        "{:?}",
        run.profile().notes
    );
}

/// A region in an extent, and an extent in a region: the intersection is recorded.
fn regions_and_extents(jdk: &'static Jdk) {
    let mut java = java(jdk, Blocks::Exact, "regions-and-extents", "regions/classes");
    let java =
        java.option("-Dcctrewrite.record=regions").option("-Dcctrewrite.extent=Regions.fib,Regions.named");
    let run = java.succeed("Regions", &[]);
    let lines: Vec<String> = run.contexts(true).into_iter().filter(|l| !l.contains(";java.")).collect();
    let expected = [
        "0 5 [main [a]];Regions.named()V",
        "1 1 [main [a]];Regions.named()V;Regions.leaf()V",
        "1 2 [main [a]];Regions.named()V;Regions.other()V",
        "1 1 [main [a]];Regions.named()V;Regions.other()V;Regions.leaf()V",
        "0 3 [main [b]];Regions.named()V",
        "1 1 [main [b]];Regions.named()V;Regions.leaf()V",
        "1 13 [main];Regions.fib(I)I",
        "2 19 [main];Regions.fib(I)I;Regions.fib(I)I",
        "2 12 [main];Regions.fib(I)I;Regions.fib(I)I;Regions.fib(I)I",
    ];
    assert_eq!(lines, expected, "JDK {}", jdk.version);
    assert_eq!(run.profile().meta["selection"], "extents Regions.fib,Regions.named; regions");
}

/// From a complete profile, once it is there.
fn run_drops_unselected_classes(jdk: &'static Jdk) {
    let here = folder("wanted-run");
    let image = Image::of(jdk, Blocks::Exact);
    let run = |name: &str, options: &[&str]| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        run.current_dir(&here).args(["run", "-o", name, "--jdk"]).arg(image.home()).args(options);
        let said = assert_succeeded(
            run.args(["--", "java", "-cp"]).arg(fixture("recursion/classes")).arg("Recursion"),
        );
        (cct_profile::Profile::read(&std::fs::read(here.join(name)).unwrap()).unwrap(), said)
    };
    let (own, said) = run("own.cct", &["--only", "Recursi*", "--except", "Recursion$*"]);
    assert!(own.methods.iter().all(|m| &*m.class == "Recursion"));
    let expected = GoldenTree::read(&fixture("recursion/expected.precise.txt"));
    let mut text = Vec::new();
    cct_profile::contexts::write_contexts(&own, Default::default(), &mut text).unwrap();
    expected.assert_lines(&String::from_utf8(text).unwrap());
    assert_eq!(own.meta["selection"], "only Recursi*, without Recursion$*");
    assert!(said.contains("classes were dropped") && said.contains("--mine adds them"), "{said}");
    // The same classes with the work of the others, in lines of their own.
    let (mine, said) = run("mine.cct", &["--mine", "Recursion"]);
    assert_eq!((&*mine.meta["library"], mine.meta.get("selection")), ("all but Recursion", None));
    let is_line = |m: &cct_profile::Method| cct_profile::library::is_library_line(m);
    assert!(mine.methods.iter().all(|m| &*m.class == "Recursion" || is_line(m)));
    assert!(mine.methods.iter().any(is_line) && said.contains("is collapsed in this file"), "{said}");
    let (whole, _) = run("whole.cct", &[]);
    assert!(whole.methods.len() > 2 * own.methods.len());
}

jdks!(regions, regions_have_what_was_executed_while_recording, 8..);
jdks!(switched_on_at_first, recording_begins_switched_on, feature);
jdks!(plain, nothing_happens_on_a_plain_jdk, feature);
jdks!(empty, an_empty_profile_says_why, feature);
jdks!(virtual_threads, virtual_threads_have_regions_of_their_own, 21..);
jdks!(from_outside, run_takes_regions, [17]);
jdks!(wanted, run_drops_unselected_classes, [17]);
jdks!(in_extents, extents_have_their_methods_work, 8..);
jdks!(ways_of_extents, extents_in_all_ways, feature);
jdks!(no_extents, impossible_extents_are_reported, feature);
jdks!(from_an_entry_on, everything_from_an_entry_on, feature);
jdks!(both, regions_and_extents, feature);
