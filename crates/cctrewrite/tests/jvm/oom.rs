//! JVMs that the kernel kills for lack of memory (docs/internals/faults.md): their records can be
//! recovered as a profile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cct_profile::Profile;

use crate::support::{Blocks, Jdk, fixture, folder, jdks, profiled, scratch};

/// Memory limit of a group's processes, in MiB: enough for a JVM's start, and far less than the
/// maximum Java heap.
const LIMIT: u64 = 200;

/// Makes the shell enter the group, and then become the program that follows.
const ENTER: &str = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";

/// A control group with limited memory. It is removed with its value.
struct Group(PathBuf);

impl Group {
    /// Creates a group, if the kernel and the machine's setup allow it.
    fn new() -> Option<Group> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("cctrewrite-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let group = memory_hierarchies().into_iter().map(|mount| mount.join(&name)).find_map(|folder| {
            fs::create_dir(&folder).ok()?;
            let group = Group(folder);
            group.limit().then_some(group)
        });
        if group.is_none() {
            eprintln!("skipped: no control group with a limit of memory can be made here");
        }
        group
    }

    /// Sets the limit, without swap; returns whether a process can be put under it.
    fn limit(&self) -> bool {
        let bytes = (LIMIT << 20).to_string();
        let set = |file: &str, value: &str| fs::write(self.0.join(file), value).is_ok();
        // Names of version 1, and of version 2. Without swap accounting there are no such files.
        let is_set = set("memory.limit_in_bytes", &bytes) || set("memory.max", &bytes);
        let _ = set("memory.memsw.limit_in_bytes", &bytes) || set("memory.swap.max", "0");
        let entered = || Command::new("sh").args(["-c", ENTER]).arg(&self.0).arg("true").status().unwrap();
        is_set && entered().success()
    }

    /// Number of processes that the kernel has killed here.
    fn killed(&self) -> u64 {
        let text = ["memory.oom_control", "memory.events"].map(|file| fs::read_to_string(self.0.join(file)));
        let text: String = text.into_iter().flatten().collect();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An ended process is counted for a moment longer.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        eprintln!("{} stays", self.0.display());
    }
}

/// Folders in which groups with memory accounting can be created, for either version.
fn memory_hierarchies() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted = mounts.lines().filter_map(|line| {
        let [_, at, kind, options] = line.split(' ').take(4).collect::<Vec<_>>().try_into().ok()?;
        let has_memory = match kind {
            "cgroup" => options.split(',').any(|option| option == "memory"),
            _ => kind == "cgroup2",
        };
        has_memory.then(|| PathBuf::from(at))
    });
    mounted.collect()
}

/// Calls of `Hoard.keep`.
fn kept(profile: &Profile) -> u64 {
    let is_it = |method: u32| {
        profile.methods.get(method as usize).is_some_and(|m| &*m.class == "Hoard" && &*m.name == "keep")
    };
    profile.threads.iter().flat_map(|t| t.tree.nodes()).filter(|n| is_it(n.method)).map(|n| n.calls).sum()
}

/// Each call that the program has reported is there, and at most the one after it.
fn assert_all_is_there(profile: &Profile, out: &str) {
    let said: u64 = out.lines().filter_map(|line| line.parse().ok()).next_back().unwrap_or(0);
    assert!(said > 10, "{out}");
    assert!((said..=said + 1).contains(&kept(profile)), "{} of {said}", kept(profile));
    assert_eq!(profile.meta["recovered"], "killed");
    assert_eq!(profile.damage, []);
}

fn a_jvm_that_the_kernel_ended_for_want_of_memory_can_be_recovered(jdk: &'static Jdk) {
    let Some(group) = Group::new() else { return };
    let mut java = profiled(jdk, Blocks::Exact, "oom");
    java.option("-Dcctrewrite.arena=x.arena").option("-Xmx2g").class_path([fixture("recover/classes")]);
    let run = java.through(&["sh", "-c", ENTER, group.0.to_str().unwrap()]).run("Hoard", &[]);
    assert_eq!((run.code, group.killed()), (None, 1), "{}", run.err);
    assert!(!run.profile_path().exists());

    let output = Command::new(env!("CARGO_BIN_EXE_cctrewrite"))
        .arg("recover")
        .arg(run.folder.join("x.arena"))
        .args(["-o", "-"])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    assert_all_is_there(&Profile::read(&output.stdout).unwrap(), &run.out);
}

fn run_recovers_a_jvm_that_the_kernel_ended(jdk: &'static Jdk) {
    let Some(group) = Group::new() else { return };
    let here = folder("oom-run");
    let output = Command::new(env!("CARGO_BIN_EXE_cctrewrite"))
        .current_dir(&here)
        .env("JAVA_HOME", jdk.home())
        .env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"))
        .args(["run", "--", "sh", "-c", ENTER])
        .arg(&group.0)
        .args(["java", "-Xmx2g", "-cp"])
        .arg(fixture("recover/classes"))
        .arg("Hoard")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // A shell's exit code for a command that a signal ended.
    assert_eq!((output.status.code(), group.killed()), (Some(128 + 9), 1), "{said}");
    assert!(said.contains("its profile was recovered from its memory"), "{said}");
    let profile = fs::read(Path::new(&here).join("cctrewrite.cct")).unwrap();
    assert_all_is_there(&Profile::read(&profile).unwrap(), &String::from_utf8_lossy(&output.stdout));
}

jdks!(recovered, a_jvm_that_the_kernel_ended_for_want_of_memory_can_be_recovered, [8, 17, 25]);
jdks!(recovered_by_run, run_recovers_a_jvm_that_the_kernel_ended, [8, 17]);
