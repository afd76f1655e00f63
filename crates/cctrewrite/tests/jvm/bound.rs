//! More contexts than there is room for: beyond the user's bound (`-Dcctrewrite.max-contexts`), or
//! when memory runs out. Contexts without a node of their own are added up; no call and no bytecode
//! is lost.

use std::fs;
use std::process::Command;

use cct_profile::{Method, Profile, ThreadTree};

use crate::selective;
use crate::support::{
    Blocks, Image, Java, Jdk, Library, Run, assert_succeeded, fixture, folder, instrument, jdks,
};

/// Calls and bytecodes.
type Counts = (u64, u64);

/// Calls and bytecodes below `left(n)` in `fixtures/bound`, itself included: 2^(n+1) - 1 contexts.
/// The 2^n - 1 that call others execute 11 bytecodes each, the others 3.
fn below(n: u32) -> Counts {
    let leaves = 1_u64 << n;
    (2 * leaves - 1, 11 * (leaves - 1) + 3 * leaves)
}

/// Calls and bytecodes below `grow(n)`, which itself executes 3 bytecodes.
fn grown(n: u32) -> Counts {
    times(1, [below(n), (1, 3)])
}

fn times<const N: usize>(factor: u64, counts: [Counts; N]) -> Counts {
    counts.iter().fold((0, 0), |sum, counts| (sum.0 + factor * counts.0, sum.1 + factor * counts.1))
}

/// Sums of a tree: contexts, without the node for merged ones, and the counts of all. Also the
/// counts of that node, if there is one.
fn sums(profile: &Profile, tree: &ThreadTree) -> (u64, Counts, Option<Counts>) {
    let (mut contexts, mut all, mut merged) = (0, (0, 0), None);
    for node in &tree.tree.nodes()[1..] {
        all = times(1, [all, (node.calls, node.bytecodes)]);
        if profile.methods[node.method as usize].flags & Method::MARKER == 0 {
            contexts += 1;
        } else {
            assert_eq!(merged.replace((node.calls, node.bytecodes)), None, "{}: two such nodes", tree.name);
        }
    }
    (contexts, all, merged)
}

fn named<'p>(profile: &'p Profile, thread: &str) -> &'p ThreadTree {
    let found = profile.threads.iter().find(|tree| &*tree.name == thread);
    found.unwrap_or_else(|| panic!("no thread {thread}"))
}

/// The names of markers.
fn markers(profile: &Profile) -> Vec<&str> {
    profile.methods.iter().filter(|m| m.flags & Method::MARKER != 0).map(|m| &*m.class).collect()
}

/// The notes about merged contexts.
fn notes(profile: &Profile) -> Vec<&str> {
    profile.notes.iter().map(|note| &**note).filter(|note| note.contains("[contexts merged: ")).collect()
}

/// A JVM that records the extent of `Many.grow`.
fn many(jdk: &'static Jdk, name: &str) -> Java {
    let mut java = selective::java(jdk, Blocks::Exact, name, "bound/classes");
    java.option("-Dcctrewrite.extent=Many.grow");
    java
}

/// 64 contexts, each entered three times, in the order of their first entries.
fn past_the_bound_contexts_are_merged(jdk: &'static Jdk) {
    for bound in [1, 10, 63, 64, 65] {
        let option = format!("-Dcctrewrite.max-contexts={bound}");
        let run = many(jdk, "bound").option(option).succeed("Many", &["5", "3"]);
        assert_eq!(run.out, "done\n");
        let profile = run.profile();
        let (contexts, all, merged) = sums(&profile, named(&profile, "main"));
        assert_eq!((contexts, all), (bound.min(64), times(3, [grown(5)])), "bound {bound}");
        assert_eq!(merged.map_or(0, |(calls, _)| calls), 3 * (64 - contexts), "bound {bound}");
        assert_eq!(profile.meta["max-contexts"], bound.to_string());
        let marker = format!("[contexts merged: bound of {bound}]");
        let note = format!(
            "the bound on contexts (-Dcctrewrite.max-contexts={bound}) was reached: \
             contexts that came up later were merged under {marker}, in 1 tree of 1"
        );
        let is_reached = bound < 64;
        assert_eq!(markers(&profile), Vec::from_iter(is_reached.then_some(&*marker)));
        assert_eq!(notes(&profile), Vec::from_iter(is_reached.then_some(&*note)));
        if bound == 1 {
            // The merged `grow` executes 3 bytecodes, three times.
            assert_eq!(merged, Some(times(3, [below(5)])));
        }
    }
    let unbounded = many(jdk, "unbounded").succeed("Many", &["5", "3"]).profile();
    let found = sums(&unbounded, named(&unbounded, "main"));
    assert_eq!((found, unbounded.meta.get("max-contexts")), ((64, times(3, [grown(5)]), None), None));
}

/// Threads share the bound. It is never exceeded; a complete tree may leave less than a quarter of
/// it unused.
fn threads_share_the_bound(jdk: &'static Jdk) {
    for bound in [3, 100, 200] {
        let option = format!("-Dcctrewrite.max-contexts={bound}");
        let run = many(jdk, "bound-threads").option(option).succeed("Many", &["5", "200", "4"]);
        let profile = run.profile();
        let mut contexts = 0;
        let mut complete = 0;
        for worker in 0..4 {
            let (own, all, merged) = sums(&profile, named(&profile, &format!("worker-{worker}")));
            assert_eq!(all, times(200, [grown(5)]), "worker {worker}, bound {bound}");
            assert_eq!(merged.is_none(), own == 64, "worker {worker}, bound {bound}");
            contexts += own;
            complete += u64::from(own == 64);
        }
        let least = bound - complete * 16;
        assert!((least..=bound).contains(&contexts), "{contexts} contexts, bound {bound}");
        let trees = format!("{} tree", 4 - complete);
        assert!(notes(&profile)[0].contains(&trees), "{:?}, {complete} complete", notes(&profile));
    }
}

/// The class library's contexts count, too, and those of the JVM's own threads.
fn a_whole_program(jdk: &'static Jdk) {
    let mut java = selective::java(jdk, Blocks::Exact, "bound-whole", "bound/classes");
    let run = java.option("-Dcctrewrite.max-contexts=2000").succeed("Many", &["12", "1"]);
    let profile = run.profile();
    let of = |tree: &ThreadTree| sums(&profile, tree);
    let contexts: u64 = profile.threads.iter().map(|tree| of(tree).0).sum();
    // A thread that ends or waits may leave some of its share.
    let trees = profile.threads.len() as u64;
    assert!((2000 - 64 * trees..=2000).contains(&contexts), "{contexts} contexts in {trees} trees");
    let (_, all, merged) = of(named(&profile, "main"));
    assert!(merged.unwrap().0 > 3000 && all.0 > grown(12).0 && all.1 > grown(12).1);

    let enough = java.forget("-Dcctrewrite.max").option("-Dcctrewrite.max-contexts=10000000");
    let profile = enough.succeed("Many", &["12", "1"]).profile();
    assert_eq!((markers(&profile), notes(&profile)), (vec![], vec![]));
}

/// The runtime's own writer writes the same.
#[test]
fn without_the_load_time_library() {
    let Some(jdk) = Jdk::find() else { return };
    let outputs = folder("bound-instrumented");
    instrument(&[fixture("bound/classes")], &[jdk.rt_jar()], &outputs, &[]);
    let mut java = Library::rt_alone(jdk).java_without_load_time("bound-java-writer");
    java.forget_class_path().class_path([outputs]).option("-Dcctrewrite.max-contexts=1000");
    let run = java.succeed("Many", &["12", "1"]);
    let profile = run.profile();
    assert_eq!(markers(&profile), ["[contexts merged: bound of 1000]"]);
    assert_eq!(notes(&profile).len(), 1, "{:?}", profile.notes);
    let contexts: u64 = profile.threads.iter().map(|tree| sums(&profile, tree).0).sum();
    assert!((500..=1000).contains(&contexts), "{contexts}");
    let mut again = Vec::new();
    profile.write(&mut again).unwrap();
    assert!(fs::read(run.profile_path()).unwrap() == again);
}

fn bounds_that_are_none_are_refused(jdk: &'static Jdk) {
    let contexts =
        ["0", "-1", "many", "", "1.5", "99999999999999999999"].map(|bound| ("max-contexts", bound));
    let memory = ["0", "-1", "8796093022208"].map(|bound| ("max", bound));
    for (option, bound) in contexts.into_iter().chain(memory) {
        let run =
            many(jdk, "no-bound").option(format!("-Dcctrewrite.{option}={bound}")).run("Many", &["1", "1"]);
        run.assert_code(70);
        let of = if option == "max" { "MiB" } else { "contexts" };
        let said =
            format!("cctrewrite: -Dcctrewrite.{option}={bound}: a number of {of} is expected, 1 or more\n");
        assert_eq!((run.err.as_str(), run.profile_path().exists()), (said.as_str(), false));
    }
}

/// `run` passes the bound to the JVMs, and reports it.
fn run_takes_a_bound(jdk: &'static Jdk) {
    let here = folder("bound-run");
    let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    run.current_dir(&here)
        .args(["run", "--max-contexts", "500", "--jdk"])
        .arg(Image::of(jdk, Blocks::Exact).home());
    run.args(["--", "java", "-cp"]).arg(fixture("bound/classes")).args(["Many", "9", "1"]);
    let said = assert_succeeded(&mut run);
    let note = "note: the bound on contexts (-Dcctrewrite.max-contexts=500) was reached";
    assert!(said.contains(note), "{said}");
    let profile = Profile::read(&fs::read(here.join("cctrewrite.cct")).unwrap()).unwrap();
    assert_eq!(profile.meta["max-contexts"], "500");
    let mut info = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let info = info.current_dir(&here).args(["info", "cctrewrite.cct"]).output().unwrap();
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("\nBound       at most 500 contexts"), "{info}");
    assert!(info.contains("\nINCOMPLETE  [contexts merged: bound of 500]: "), "{info}");
}

/// A JVM that records three methods of `Switched` in regions.
fn switched(jdk: &'static Jdk, name: &str, depth: &str, option: &str) -> Run {
    let mut java = selective::java(jdk, Blocks::Exact, name, "bound/classes");
    let extents = "-Dcctrewrite.extent=Switched.grow,Switched.loops,Switched.after";
    let run = java
        .option("-Dcctrewrite.record=regions")
        .option(extents)
        .option(option)
        .succeed("Switched", &[depth]);
    // All three were entered, though none of them may have a context.
    assert_eq!((run.out.as_str(), run.err.as_str()), ("done\n", ""));
    run
}

/// Regions of a thread whose further contexts are merged: below a region's name are the counts of
/// that region.
fn regions_past_the_bound(jdk: &'static Jdk) {
    let run = switched(jdk, "bound-regions", "5", "-Dcctrewrite.max-contexts=10");
    let profile = run.profile();
    // Once from each of the two regions of that name.
    let early = sums(&profile, named(&profile, "main [early]"));
    assert_eq!((early.0, early.1), (10, times(1, [grown(1), grown(5)])));
    assert_eq!(early.2.map(|(calls, _)| calls), Some(64 - 10));
    // A method that was entered before executes 706 bytecodes, without a call.
    assert_eq!(sums(&profile, named(&profile, "main [loop]")), (0, (0, 706), Some((0, 706))));
    // Around the call of `left` there are 3.
    let late = times(1, [below(5), (0, 3)]);
    assert_eq!(sums(&profile, named(&profile, "main [late]")), (0, late, Some(late)));
    assert_eq!(markers(&profile), ["[contexts merged: bound of 10]"]);
    assert!(notes(&profile)[0].ends_with("in 3 trees of 3"), "{:?}", profile.notes);
}

/// One MiB for everything, and a region that had begun before it was used up.
fn regions_without_memory(jdk: &'static Jdk) {
    let run = switched(jdk, "memory-regions", "15", "-Dcctrewrite.max=2");
    let profile = run.profile();
    let (contexts, all, merged) = sums(&profile, named(&profile, "main [early]"));
    assert_eq!(all, times(1, [grown(1), grown(15)]));
    assert!((4..100).contains(&contexts) && merged.is_some(), "{contexts}");
    assert_eq!((profile.threads.len(), markers(&profile)), (1, vec!["[contexts merged: out of memory]"]));
    assert!(notes(&profile)[0].ends_with("in 1 tree of 1"), "{:?}", profile.notes);
    let lost = "memory for the trees ran out: 2 regions of threads were not recorded".to_owned();
    assert!(profile.notes.contains(&lost), "{:?}", profile.notes);
    assert!(!profile.notes.iter().any(|note| note.contains("counts are not known")), "{:?}", profile.notes);
}

/// So little address space that there is no room for all trees. The JVM and the program go on.
fn the_c_heap_is_exhausted(jdk: &'static Jdk) {
    let mut java = many(jdk, "exhausted");
    let small = ["-Xmx64m", "-Xss1m", "-XX:ReservedCodeCacheSize=48m", "-XX:CompressedClassSpaceSize=48m"];
    for option in small.into_iter().chain(["-XX:ActiveProcessorCount=2"]) {
        java.option(option);
    }
    // The JVM leaves less memory than the trees would take.
    java.address_space(if jdk.version == 8 { 900_000 } else { 1_500_000 });
    let off = java.option("-Dcctrewrite.record=off").run("Many", &["1", "1"]);
    if off.code != Some(0) {
        eprintln!("skipped: no JVM of JDK {} starts in so little address space", jdk.version);
        return;
    }
    let run = java.forget("-Dcctrewrite.record").succeed("Many", &["24", "2"]);
    assert_eq!(run.out, "done\n");
    let profile = run.profile();
    let (contexts, all, merged) = sums(&profile, named(&profile, "main"));
    assert_eq!(all, times(2, [grown(24)]));
    assert_eq!(merged.map(|(calls, _)| calls), Some(all.0 - 2 * contexts), "{contexts} contexts");
    assert_eq!(markers(&profile), ["[contexts merged: out of memory]"]);
    assert!(notes(&profile)[0].starts_with("memory for the trees ran out: "), "{:?}", profile.notes);
}

jdks!(bound, past_the_bound_contexts_are_merged, feature);
jdks!(threads, threads_share_the_bound, feature);
jdks!(whole, a_whole_program, feature);
jdks!(refused, bounds_that_are_none_are_refused, feature);
jdks!(from_outside, run_takes_a_bound, [17]);
jdks!(of_regions, regions_past_the_bound, feature);
jdks!(regions_and_memory, regions_without_memory, feature);
jdks!(exhausted, the_c_heap_is_exhausted, feature);
