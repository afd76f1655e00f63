//! Faults of a profiled JVM, and around it (docs/internals/faults.md): the program's end is
//! unaffected, and the profile is complete or absent.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cct_profile::Profile;

use crate::support::{Blocks, Java, Jdk, Run, RunningJvm, folder, jdks, profiled};

/// A number from the environment, for more cases than a test normally has time for.
fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Pseudorandom numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

/// Files in a folder whose names the test did not choose.
fn temporary(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".tmp")).collect()
}

/// SIGTERM at moments from the start of the process on: `TERMS=1000` for that many.
fn terminated_at_random_moments(jdk: &'static Jdk) {
    let java = profiled(jdk, Blocks::Exact, "measured");
    // Measured from here: building the profiled JDK may take a minute, after which the program ends
    // by itself.
    let started = Instant::now();
    let mut jvm = java.start("Busy", &[]);
    jvm.wait_for("ready");
    let until_ready = started.elapsed();
    terminate(&jvm);
    jvm.wait().assert_code(128 + 15);

    // Twice as many while the program runs; two start more slowly than one.
    let span = (until_ready * 3).as_millis() as u64;
    let (mut dice, mut with, mut without, mut lost, mut upset) = (Dice(jdk.version.into()), 0, 0, 0, 0);
    let cases = number("TERMS", 34);
    for pair in 0..cases.div_ceil(2) {
        let started: Vec<(RunningJvm, u64)> = (0..2)
            .map(|_| {
                let java = profiled(jdk, Blocks::Exact, &format!("terminated-{pair}"));
                (java.start("Busy", &[]), dice.below(span))
            })
            .collect();
        let begun = Instant::now();
        let mut order: Vec<&(RunningJvm, u64)> = started.iter().collect();
        order.sort_by_key(|(_, moment)| *moment);
        for (jvm, moment) in order {
            std::thread::sleep(Duration::from_millis(*moment).saturating_sub(begun.elapsed()));
            terminate(jvm);
        }
        for (jvm, moment) in started {
            lost += insist(&jvm);
            let run = jvm.wait();
            if is_upset(&run) {
                upset += 1;
                continue;
            }
            // Before the JVM handles signals, the system ends it: no exit code.
            assert!(matches!(run.code, None | Some(143)), "{moment} ms: {:?} {}", run.code, run.err);
            assert_eq!(temporary(&run.folder), [""; 0], "{moment} ms");
            if run.profile_path().exists() {
                check_busy(&run);
                with += 1;
            } else {
                assert!(run.out.is_empty(), "{moment} ms: main() ran, and there is no profile: {}", run.err);
                without += 1;
            }
            // A thousand of them would fill disks.
            fs::remove_dir_all(&run.folder).unwrap();
        }
    }
    let version = jdk.version;
    eprintln!(
        "JDK {version}: {with} profiles, {without} ended before anything was recorded, {upset} upset, {lost} signals lost"
    );
    assert!(with > 0, "none of {cases}");
}

/// Whether the signal came while the JVM was initialised: one thread then ends it, which another
/// thread that continues takes for a fault. This happened in one of 150 starts of a plain JDK 17.
fn is_upset(run: &Run) -> bool {
    const SAID: &str = "Error occurred during initialization of VM\njava.lang.InternalError: Bad level: ";
    // One exits with 1, the other as for the signal; the first wins.
    matches!(run.code, Some(1 | 143)) && run.out.starts_with(SAID) && !run.profile_path().exists()
}

/// Sends the signal again until the process ends: a starting JVM may lose a signal, the plain JDK 8
/// lost 18 of 120. Returns the number of lost signals.
fn insist(jvm: &RunningJvm) -> u64 {
    for lost in 0.. {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            // The state follows the program's name; an ended process is a zombie until its parent
            // waits for it.
            let stat = fs::read_to_string(format!("/proc/{}/stat", jvm.id())).unwrap_or_default();
            if stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('Z')) {
                return lost;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        terminate(jvm);
    }
    0
}

fn terminate(jvm: &RunningJvm) {
    // A process that has ended already needs no signal.
    let _ = Command::new("kill").arg(jvm.id().to_string()).output().unwrap();
}

/// The profile is complete, `info` says so, and callees were entered as often as their callers
/// imply.
fn check_busy(run: &Run) {
    let info =
        Command::new(env!("CARGO_BIN_EXE_cctrewrite")).arg("info").arg(run.profile_path()).output().unwrap();
    assert!(info.status.success(), "{}", String::from_utf8_lossy(&info.stderr));
    let profile = run.profile();
    for thread in profile.threads.iter().filter(|thread| ["one", "two"].contains(&&*thread.name)) {
        let calls = |name: &str| -> u64 {
            let is_it = |method: u32| {
                profile.methods.get(method as usize).is_some_and(|m| &*m.class == "Busy" && &*m.name == name)
            };
            thread.tree.nodes()[1..].iter().filter(|n| is_it(n.method)).map(|n| n.calls).sum()
        };
        // The round counter is read before its calls, and grows meanwhile.
        assert!(
            calls("leaf") >= 3 * calls("round").saturating_sub(1),
            "{} {}",
            calls("leaf"),
            calls("round")
        );
    }
}

/// Whether this user may mount file systems in a namespace of its own.
fn can_mount() -> bool {
    let mut tried = Command::new("unshare");
    let can = tried.args(["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).output();
    let can = can.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: file systems cannot be mounted here");
    }
    can
}

/// A JVM whose profile goes to a file system with these options; its remaining files are listed in
/// `listing`.
fn on_tmpfs(jdk: &'static Jdk, options: &str) -> Java {
    let mut java = profiled(jdk, Blocks::Exact, "tmpfs");
    let mount = java.folder.join("disk");
    fs::create_dir(&mount).unwrap();
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs disk || exit 99; \"$@\"; code=$?; ls -A disk > listing; exit $code"
    );
    java.through(&["unshare", "-m", "sh", "-c", &script, "sh"]);
    java.forget("-Dcctrewrite.out=")
        .option(format!("-Dcctrewrite.out={}", mount.join("profile.cct").display()));
    java
}

/// The program's end is unaffected, there is a message, and no file is left.
fn assert_reported(run: &Run, why: &str) {
    run.assert_code(3);
    assert_eq!(run.out, "");
    let told =
        run.err.lines().filter(|line| line.starts_with("cctrewrite: the profile could not be written: "));
    assert_eq!(told.filter(|line| line.contains(why)).count(), 1, "{why}: {}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
}

fn a_disk_that_is_full_when_the_profile_is_written(jdk: &'static Jdk) {
    if !can_mount() {
        return;
    }
    let whole = profiled(jdk, Blocks::Exact, "whole").run("Ending", &["exit"]);
    let pages = fs::metadata(whole.profile_path()).unwrap().len().div_ceil(4096);
    let mut sizes = vec![1, 2, 3, pages / 4, pages / 2, pages - 2];
    sizes.sort();
    sizes.dedup();
    for size in sizes {
        let run = on_tmpfs(jdk, &format!("size={}k", 4 * size)).run("Ending", &["exit"]);
        assert_reported(&run, "No space left on device");
        assert_eq!(fs::read_to_string(run.folder.join("listing")).unwrap(), "", "{size} pages");
    }
    let run = on_tmpfs(jdk, &format!("size={}k", 4 * (pages + 2))).run("Ending", &["exit"]);
    run.assert_code(3);
    assert_eq!((&*run.err, &*fs::read_to_string(run.folder.join("listing")).unwrap()), ("", "profile.cct\n"));
    // Not even a file can be created.
    let run = on_tmpfs(jdk, "nr_inodes=1").run("Ending", &["exit"]);
    assert_reported(&run, "No space left on device");
    // A device that accepts nothing.
    let mut java = profiled(jdk, Blocks::Exact, "dev-full");
    let run = java.forget("-Dcctrewrite.out=").option("-Dcctrewrite.out=/dev/full").run("Ending", &["exit"]);
    assert_reported(&run, "No space left on device");
}

fn a_folder_that_is_read_only(jdk: &'static Jdk) {
    if !can_mount() {
        return;
    }
    let run = on_tmpfs(jdk, "ro").run("Ending", &["exit"]);
    assert_reported(&run, "Read-only file system");
    assert_eq!(fs::read_to_string(run.folder.join("listing")).unwrap(), "");
}

/// HotSpot ignores SIGXFSZ, so a write fails.
fn a_profile_that_may_not_grow(jdk: &'static Jdk) {
    for blocks in [0, 1, 16, 100] {
        let mut java = profiled(jdk, Blocks::Exact, "limit");
        // The JVM's performance data file has 32 KiB.
        java.option("-XX:-UsePerfData");
        java.through(&["sh", "-c", &format!("ulimit -f {blocks} && exec \"$0\" \"$@\"")]);
        let run = java.run("Ending", &["exit"]);
        run.assert_code(3);
        assert!(!run.profile_path().exists());
        assert_eq!(temporary(&run.folder), [""; 0]);
        if blocks > 0 {
            assert_reported(&run, "File too large");
        }
    }
}

fn a_profile_where_a_folder_is(jdk: &'static Jdk) {
    let java = profiled(jdk, Blocks::Exact, "folder");
    fs::create_dir_all(java.folder.join("profile.cct/precious")).unwrap();
    let run = java.run("Ending", &["exit"]);
    assert_reported(&run, "profile.cct");
    assert!(run.folder.join("profile.cct/precious").is_dir());
}

/// Allocation fails anywhere in two threads at once, thousands of times.
fn sums_of_a_program_whose_heap_is_full(jdk: &'static Jdk) {
    let rounds = number("FULL", 150);
    let mut java = profiled(jdk, Blocks::Exact, "heap");
    java.option("-Xmx16m");
    let run = java.succeed("HeapFull", &[&rounds.to_string()]);
    let words: Vec<&str> = run.out.split_whitespace().collect();
    let [_, kept, _, deep, _, full] = words[..] else { panic!("{} {}", run.out, run.err) };
    let number = |text: &str| text.parse::<u64>().unwrap();
    assert_eq!(number(full), 2 * rounds, "{}", run.out);
    let profile = run.profile();
    let sums = |name: &str| {
        let is_it = |method: u32| {
            profile.methods.get(method as usize).is_some_and(|m| &*m.class == "HeapFull" && &*m.name == name)
        };
        let nodes = profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
        nodes.filter(|n| is_it(n.method)).fold((0, 0), |sum, n| (sum.0 + n.calls, sum.1 + n.bytecodes))
    };
    assert_eq!([sums("keep").0, sums("deep").0, sums("fill").0], [number(kept), number(deep), 2 * rounds]);
    assert_eq!(sums("below"), (4 * rounds, 4 * rounds * 15));
    let notes: Vec<_> = profile.notes.iter().filter(|note| note.contains("heap")).collect();
    assert!(notes.is_empty(), "{notes:?}");
    eprintln!("JDK {}: {}", jdk.version, run.out);
}

/// In each of its methods, in both ways. If it did so in its last call, no profile used to be
/// written.
fn agents_that_end_the_jvm(jdk: &'static Jdk) {
    for ending in
        ["register exit", "register halt", "report exit", "report halt", "end exit", "end halt", "end throw"]
    {
        let mut java = profiled(jdk, Blocks::Reporting, "exiting");
        java.option("-Dcctrewrite.agent=ExitingAgent").option(format!("-Dending={ending}"));
        let started = Instant::now();
        let run = java.run("AgentWork", &[]);
        eprintln!("JDK {}: {ending}: {:?} in {:?}\n{}", jdk.version, run.code, started.elapsed(), run.err);
        run.assert_code(if ending == "end throw" { 0 } else { 9 });
        let said = run.err.contains("ended the JVM in its last call");
        assert_eq!(said, ending == "end exit" || ending == "end halt", "{ending}: {}", run.err);
        assert_eq!(temporary(&run.folder), [""; 0], "{ending}");
        // The records until then, complete.
        let profile = run.profile();
        assert!(profile.contexts() > 50, "{ending}: {}", profile.contexts());
    }
}

/// A dozen JVMs end at the same time, each with a profile of its own in one folder.
fn many_jvms_at_once(jdk: &'static Jdk) {
    let place = folder("many");
    let started: Vec<RunningJvm> = (0..number("JVMS", 12))
        .map(|i| {
            let mut java = profiled(jdk, Blocks::Exact, "many");
            java.option(format!("-Dcctrewrite.out={}", place.join(format!("{i}-%p.cct")).display()));
            java.start("Ending", &["wait"])
        })
        .collect();
    let mut jvms = Vec::new();
    for mut jvm in started {
        jvm.wait_for("ready");
        jvms.push(jvm);
    }
    let ids: Vec<String> = jvms.iter().map(|jvm| jvm.id().to_string()).collect();
    assert!(Command::new("kill").args(&ids).status().unwrap().success());
    for jvm in jvms {
        let run = jvm.wait();
        run.assert_code(128 + 15);
        assert_eq!(run.err, "");
    }
    let files: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), ids.len());
    for file in files {
        assert_eq!(Profile::read(&fs::read(&file).unwrap()).unwrap().damage, [], "{}", file.display());
    }
}

jdks!(terminated_at_random_moments, terminated_at_random_moments, [8, 25], all[17]);
jdks!(
    a_disk_that_is_full_when_the_profile_is_written,
    a_disk_that_is_full_when_the_profile_is_written,
    [8, 25]
);
jdks!(a_folder_that_is_read_only, a_folder_that_is_read_only, [8, 25]);
jdks!(a_profile_that_may_not_grow, a_profile_that_may_not_grow, [8, 25]);
jdks!(a_profile_where_a_folder_is, a_profile_where_a_folder_is, [8, 25]);
jdks!(sums_of_a_program_whose_heap_is_full, sums_of_a_program_whose_heap_is_full, [8, 17, 25]);
jdks!(agents_that_end_the_jvm, agents_that_end_the_jvm, [8, 17, 25]);
jdks!(many_jvms_at_once, many_jvms_at_once, [8, 25]);
