//! Profiles of killed or running JVMs (docs/use/servers.md).

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use cct_profile::Profile;
use cct_profile::contexts::{ContextsOptions, write_contexts};

use crate::selective;
use crate::support::{Blocks, Java, Jdk, Run, RunningJvm, fixture, folder, jdks, profiled};

fn cctrewrite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cctrewrite")).args(arguments).output().unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

/// The recovered profile of a memory file.
fn recovered(arena: &Path) -> Profile {
    let output = cctrewrite(&["recover", arena.to_str().unwrap(), "-o", "-"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    Profile::read(&output.stdout).unwrap()
}

fn snapshot(process: u32) -> Profile {
    let output = cctrewrite(&["snapshot", &process.to_string(), "-o", "-"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    Profile::read(&output.stdout).unwrap()
}

fn kill(process: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

/// Calls and bytecodes of a method of a class, in all contexts and threads.
fn of(profile: &Profile, class: &str, name: &str) -> (u64, u64) {
    let is = |method: u32| {
        profile.methods.get(method as usize).is_some_and(|m| &*m.class == class && &*m.name == name)
    };
    let nodes = profile.threads.iter().flat_map(|t| t.tree.nodes()).filter(|n| is(n.method));
    nodes.fold((0, 0), |(calls, bytecodes), n| (calls + n.calls, bytecodes + n.bytecodes))
}

/// Thread, path of names, calls and bytecodes of all contexts.
fn contexts(profile: &Profile) -> Vec<String> {
    let mut list = Vec::new();
    let options = ContextsOptions { per_thread: true, ..Default::default() };
    write_contexts(profile, options, &mut list).unwrap();
    text(&list).lines().map(str::to_owned).collect()
}

/// A program of the fixtures on a profiled JDK.
fn ending(jdk: &'static Jdk, name: &str, options: &[&str]) -> Java {
    let mut java = profiled(jdk, Blocks::Exact, name);
    options.iter().for_each(|&option| _ = java.option(option));
    java
}

/// The same program reports this when it may end: the profiles differ only in the end.
fn a_killed_jvm_leaves_what_it_had_recorded(jdk: &'static Jdk) {
    let mut jvm = ending(jdk, "killed", &["-Dcctrewrite.arena=of-%p.arena"]).start("Ending", &["wait"]);
    jvm.wait_for("ready");
    let arena = jvm.profile_path().with_file_name(format!("of-{}.arena", jvm.id()));
    let now = snapshot(jvm.id());
    kill(jvm.id(), "-9");
    let run = jvm.wait();
    assert_eq!(run.code, None);
    assert!(!run.profile_path().exists());
    let profile = recovered(&arena);
    assert_eq!(of(&profile, "Ending", "work").0, 10, "JDK {}", jdk.version);
    assert_eq!(profile.meta["recovered"], "killed");
    assert!(
        profile.notes.iter().any(|n| n.starts_with("the JVM has not written its profile")),
        "{:?}",
        profile.notes
    );
    assert_eq!(now.meta["recovered"], "running");
    // Nothing ran in `main` between the two.
    let of_main = |profile: &Profile| -> Vec<String> {
        contexts(profile).into_iter().filter(|line| line.contains("[main];")).collect()
    };
    assert!(of_main(&now).len() > 100);
    assert_eq!(of_main(&now), of_main(&profile));
    // Names, counts and description are those of a profile that the JVM writes itself.
    let mut plain = ending(jdk, "not-killed", &[]).start("Ending", &["wait"]);
    plain.wait_for("ready");
    kill(plain.id(), "-15");
    let own = plain.wait().profile();
    let program = |profile: &Profile| -> Vec<String> {
        contexts(profile).into_iter().filter(|line| line.contains(";Ending.")).collect()
    };
    assert_eq!(program(&profile), program(&own));
    for (key, value) in &own.meta {
        assert_eq!(profile.meta.get(key), Some(value), "{key}");
    }
    assert_eq!(profile.meta.len(), own.meta.len() + 1);
    assert!(profile.methods.iter().all(|m| &*m.class != "?"));
}

/// After the profile has been written there is nothing to recover.
fn a_jvm_that_ends_takes_the_file_along(jdk: &'static Jdk) {
    let arenas = |run: &Run| -> usize {
        let files = fs::read_dir(&run.folder).unwrap().map(|file| file.unwrap().file_name());
        files.filter(|name| name.to_string_lossy().contains("arena")).count()
    };
    for options in [&["-Dcctrewrite.arena=x.arena"][..], &[], &["-Dcctrewrite.arena="]] {
        let run = ending(jdk, "ended", options).run("Ending", &["return"]);
        run.assert_code(0);
        assert_eq!(run.err, "");
        assert_eq!(of(&run.profile(), "Ending", "work").0, 10);
        assert_eq!(arenas(&run), 0, "{options:?}");
    }
    // A JVM that records nothing has none.
    let run = ending(jdk, "ended", &["-Dcctrewrite.arena=x.arena", "-Dcctrewrite.record=off"])
        .run("Ending", &["return"]);
    run.assert_code(0);
    assert_eq!((arenas(&run), run.profile_path().exists()), (0, false));
}

fn a_file_that_cannot_be_made_stops_the_jvm(jdk: &'static Jdk) {
    let run = ending(jdk, "no-arena", &["-Dcctrewrite.arena=no/such/folder/x"]).run("Ending", &["return"]);
    run.assert_code(70);
    assert!(run.err.contains("no/such/folder/x: No such file"), "{}", run.err);
}

/// There is nothing to recover.
fn a_jvm_that_refuses_to_run_leaves_no_file(jdk: &'static Jdk) {
    let options = ["-Dcctrewrite.arena=x.arena", "-Dcctrewrite.raw=perhaps"];
    let run = ending(jdk, "refused", &options).run("Ending", &["return"]);
    run.assert_code(70);
    assert!(!run.folder.join("x.arena").exists());
}

/// The file of a JVM that was killed before: it may be all that is left of it.
fn a_file_that_is_there_stays(jdk: &'static Jdk) {
    let mut java = ending(jdk, "there", &["-Dcctrewrite.arena=x.arena"]);
    let mut first = java.start("Ending", &["wait"]);
    first.wait_for("ready");
    kill(first.id(), "-9");
    let arena = first.wait().folder.join("x.arena");
    let before = fs::read(&arena).unwrap();
    let again = java.option("-Dagain=yes").run("Ending", &["return"]);
    again.assert_code(0);
    assert!(again.err.contains("x.arena already exists") && again.err.contains("x.arena-1"), "{}", again.err);
    assert!(fs::read(&arena).unwrap() == before);
}

/// If the profile cannot be written, the memory file stays.
fn a_profile_that_cannot_be_written_can_be_recovered(jdk: &'static Jdk) {
    let mut java = ending(jdk, "unwritten", &["-Dcctrewrite.arena=x.arena"]);
    java.forget("-Dcctrewrite.out=").option("-Dcctrewrite.out=no/such/folder/profile.cct");
    let run = java.run("Ending", &["exit"]);
    run.assert_code(3);
    assert!(
        run.err.contains("the recorded trees are in x.arena; `cctrewrite recover` makes a profile of them"),
        "{}",
        run.err
    );
    assert_eq!(of(&recovered(&run.folder.join("x.arena")), "Ending", "work").0, 10);
}

/// At any instant: the tree is sound, and contains everything that the program has reported as
/// done.
fn killed_at_any_moment(jdk: &'static Jdk) {
    let times = std::env::var("KILLS").ok().and_then(|times| times.parse().ok()).unwrap_or(25);
    let (mut with_work, mut early_ones, mut nothing) = (0, 0, 0);
    for time in 0..times {
        let mut java = ending(jdk, "any-moment", &["-Dcctrewrite.arena=x.arena"]);
        java.class_path([fixture("recover/classes")]);
        let jvm: RunningJvm = java.start("Churn", &["9"]);
        // Moments from the JVM's start on, or from where something can be recovered, which a busy
        // machine reaches late. They extend to where the program has many threads, and form a fixed
        // sequence.
        if time % 2 == 1 {
            let arena = jvm.profile_path().with_file_name("x.arena");
            let _ = (0..30_000).find(|_| {
                sleep(Duration::from_millis(2));
                arena.exists()
            });
        }
        sleep(Duration::from_millis(5 + (time * 7919) % 1500));
        kill(jvm.id(), "-9");
        let run = jvm.wait();
        let arena = run.folder.join("x.arena");
        if !arena.exists() {
            // Too early.
            nothing += 1;
            continue;
        }
        let output = cctrewrite(&["recover", arena.to_str().unwrap(), "-o", "-"]);
        if output.status.code() == Some(1) && text(&output.stderr).contains("not the memory") {
            // Between the file and its first words.
            nothing += 1;
            continue;
        }
        let said: u64 = run.out.lines().filter_map(|line| line.parse().ok()).next_back().unwrap_or(0);
        // The kill came before its program reported anything.
        let early = said == 0 && text(&output.stderr).contains("the JVM had not reached its program");
        let expected = if early { 3 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "kill {time}: {}", text(&output.stderr));
        let profile = Profile::read(&output.stdout).unwrap();
        let counted = of(&profile, "Churn", "unit").0;
        assert!(counted >= said, "kill {time}: {counted} of {said}");
        with_work += u64::from(said > 0);
        early_ones += u64::from(early);
        // A thousand of them would fill disks.
        fs::remove_dir_all(&run.folder).unwrap();
    }
    let version = jdk.version;
    eprintln!(
        "JDK {version}: of {times} kills {with_work} after the program's first word, {early_ones} before it came to its program, {nothing} before there was anything"
    );
    assert!(with_work > 0, "all kills came before the program's first word");
}

/// Successive profiles of a working program: counts only grow, and a caller's count never shrinks.
fn snapshots_only_grow(jdk: &'static Jdk) {
    let mut jvm = ending(jdk, "growing", &[]).class_path([fixture("recover/classes")]).start("Churn", &["9"]);
    jvm.wait_for("1000");
    let mut last = (0, 0);
    for _ in 0..10 {
        let profile = snapshot(jvm.id());
        let now = of(&profile, "Churn", "unit");
        assert!(now.0 > last.0 && now.1 >= last.1, "{now:?} after {last:?}");
        profile.to_bytes().unwrap();
        last = now;
    }
    kill(jvm.id(), "-9");
    jvm.wait();
}

/// Regions that are open, of all threads and of one, have their counts so far.
fn regions_in_the_middle(jdk: &'static Jdk) {
    let mut java = selective::java(jdk, Blocks::Exact, "regions-snapshot", "recover/classes");
    let mut jvm = java.option("-Dcctrewrite.record=regions").start("Paused", &[]);
    for step in ["first", "second", "third"] {
        jvm.wait_for(step);
        let profile = snapshot(jvm.id());
        let work =
            contexts(&profile).into_iter().filter(|line| line.contains("Paused.work")).collect::<Vec<_>>();
        // Inside `one`; between two; inside `one` again, and so the sum.
        let expected = match step {
            "third" => "8 8 [main [one]];Paused.main([Ljava/lang/String,)V;Paused.work()V",
            _ => "3 3 [main [one]];Paused.main([Ljava/lang/String,)V;Paused.work()V",
        };
        assert_eq!(work, [expected], "{step}");
        assert_eq!(profile.meta["selection"], "regions");
        fs::write(jvm.profile_path().with_file_name(format!("{step}.go")), b"").unwrap();
    }
    let run: Run = jvm.wait();
    run.assert_code(0);
}

fn run_recovers_by_itself(jdk: &'static Jdk) {
    let here = folder("run-killed");
    let script = format!(
        "java -cp {} Ending wait & sleep 0.1; while ! grep -q ready out; do sleep 0.1; done; kill -9 $!; wait; exit 0",
        fixture("ending/classes").display()
    );
    let output = Command::new(env!("CARGO_BIN_EXE_cctrewrite"))
        .current_dir(&here)
        .env("JAVA_HOME", jdk.home())
        .env("CCTREWRITE_CACHE", crate::support::scratch().join("cache-of-runs"))
        .args(["run", "--", "sh", "-c", &script])
        .stdout(fs::File::create(here.join("out")).unwrap())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(
        said.contains(
            "was killed, crashed, or was ended by native code; its profile was recovered from its memory"
        ),
        "{said}"
    );
    let profile = Profile::read(&fs::read(here.join("cctrewrite.cct")).unwrap()).unwrap();
    assert_eq!(of(&profile, "Ending", "work").0, 10);
}

#[test]
fn a_run_without_trees_is_reported() {
    let own = cctrewrite(&["snapshot", &std::process::id().to_string(), "-o", "-"]);
    assert_eq!(own.status.code(), Some(1));
    assert!(
        text(&own.stderr).contains("is not profiled; start the program with `cctrewrite run"),
        "{}",
        text(&own.stderr)
    );
    let none = cctrewrite(&["snapshot", "4194305", "-o", "-"]);
    assert!(text(&none.stderr).contains("no process 4194305"), "{}", text(&none.stderr));
}

jdks!(a_killed_jvm_leaves_what_it_had_recorded, a_killed_jvm_leaves_what_it_had_recorded, feature);
jdks!(a_jvm_that_ends_takes_the_file_along, a_jvm_that_ends_takes_the_file_along, [8, 17]);
jdks!(a_file_that_cannot_be_made_stops_the_jvm, a_file_that_cannot_be_made_stops_the_jvm, [8, 17]);
jdks!(a_jvm_that_refuses_to_run_leaves_no_file, a_jvm_that_refuses_to_run_leaves_no_file, [8, 17]);
jdks!(a_file_that_is_there_stays, a_file_that_is_there_stays, [17]);
jdks!(
    a_profile_that_cannot_be_written_can_be_recovered,
    a_profile_that_cannot_be_written_can_be_recovered,
    [17]
);
jdks!(killed_at_any_moment, killed_at_any_moment, feature);
jdks!(snapshots_only_grow, snapshots_only_grow, [17]);
jdks!(regions_in_the_middle, regions_in_the_middle, [8, 17]);
jdks!(run_recovers_by_itself, run_recovers_by_itself, [17]);
