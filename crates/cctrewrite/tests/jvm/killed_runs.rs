//! A killed `cctrewrite run`: its folder, the next `run`, and `cctrewrite recover`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use cct_profile::Profile;

use crate::support::{Jdk, fixture, folder, jdks, scratch};

fn command(jdk: &Jdk, here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        command.env_remove(variable);
    }
    // Leftovers of other runs in the usual folder are theirs.
    command
        .current_dir(here)
        .env("JAVA_HOME", jdk.home())
        .env("TMPDIR", here)
        .env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"))
        .args(arguments);
    command
}

fn cctrewrite(jdk: &Jdk, here: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command(jdk, here, arguments).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// Starts a run of a shell script, and waits until it has printed `ready`.
fn started(jdk: &Jdk, here: &Path, script: &str) -> Child {
    let mut run = command(jdk, here, &["run", "-o", "app.cct", "--", "sh", "-c", script]);
    let mut run = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut word = [0; 6];
    run.stdout.as_mut().unwrap().read_exact(&mut word).unwrap();
    assert_eq!(&word, b"ready\n");
    run
}

/// Kills a run; the processes that it started go on. Returns its command's input.
fn kill(mut run: Child) -> Option<ChildStdin> {
    // Waiting would close it.
    let stdin = run.stdin.take();
    run.kill().unwrap();
    run.wait().unwrap();
    stdin
}

fn signal(signal: &str, process: &str) {
    assert!(Command::new("kill").args(["-s", signal, process]).status().unwrap().success());
    wait_for_end(process);
}

/// Waits for the end of a process that has no parent any more.
fn wait_for_end(process: &str) {
    let has_ended = || fs::read(format!("/proc/{process}/cmdline")).map_or(true, |text| text.is_empty());
    let ended = (0..3_000).any(|_| {
        sleep(Duration::from_millis(10));
        has_ended()
    });
    assert!(ended, "process {process} still runs");
}

fn wait_for(path: &Path) {
    let there = (0..6_000).any(|_| {
        path.exists() || {
            sleep(Duration::from_millis(10));
            false
        }
    });
    assert!(there, "{}", path.display());
}

fn names(here: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The only folder of a run.
fn left_by_run(here: &Path) -> PathBuf {
    let mut all = names(here).into_iter().filter(|name| name.ends_with(".run"));
    let found = here.join(all.next().unwrap());
    assert_eq!(all.next(), None);
    found
}

/// The processes of the JVMs that have registered themselves.
fn jvms(folder: &Path) -> Vec<String> {
    let entries = names(folder).into_iter().filter(|name| name.ends_with(".jvm"));
    let process = |name| fs::read_to_string(folder.join::<String>(name)).unwrap();
    entries.map(process).map(|text| text.split('\0').next().unwrap().to_owned()).collect()
}

fn works(profile: impl AsRef<Path>) -> u64 {
    let profile = Profile::read(&fs::read(profile).unwrap()).unwrap();
    assert!(profile.damage.is_empty());
    let is = |method: u32| profile.methods.get(method as usize).is_some_and(|m| &*m.name == "work");
    profile.threads.iter().flat_map(|t| t.tree.nodes()).filter(|n| is(n.method)).map(|n| n.calls).sum()
}

fn classes() -> String {
    fixture("ending/classes").to_str().unwrap().to_owned()
}

/// The messages of the next run, which succeeds: it has a JVM of its own, and touches nothing of
/// the other.
fn next_run(jdk: &Jdk, here: &Path) -> String {
    let before = left_by_run(here);
    let before = (before.clone(), names(&before));
    let (code, said) = cctrewrite(
        jdk,
        here,
        &["run", "-q", "-o", "app.cct", "--", "java", "-cp", &classes(), "Ending", "return"],
    );
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(works(here.join("app.cct")), 10);
    if before.0.exists() {
        assert_eq!(names(&before.0), before.1);
    }
    said
}

/// The run is killed before a JVM has started.
fn before_a_jvm(jdk: &'static Jdk) {
    let here = folder("killed-early");
    let script = format!("echo $$ > shell; echo ready; read line; java -cp {} Ending return", classes());
    // The shell never starts its JVM.
    let run = started(jdk, &here, &script);
    let shell = fs::read_to_string(here.join("shell")).unwrap();
    let stdin = kill(run);
    let said = next_run(jdk, &here);
    let expected =
        format!("its run was killed, and process {}, which may start JVMs, still runs: sh -c", shell.trim());
    assert!(said.contains(&expected), "{said}");
    let (code, said) = cctrewrite(jdk, &here, &["recover"]);
    assert!(code == Some(3) && said.contains(&expected), "{said}");
    signal("KILL", shell.trim());
    drop(stdin);
    let (code, said) =
        cctrewrite(jdk, &here, &["run", "-o", "x.cct", "--", "java", "-cp", &classes(), "Ending", "return"]);
    assert!(code == Some(0) && said.contains(".run: removed; a killed run left it"), "{said}");
    assert_eq!(names(&here), ["app.cct", "shell", "x.cct"]);

    // The shell starts its JVM after its run is gone.
    let stdin = kill(started(jdk, &here, &script));
    let folder = left_by_run(&here);
    drop(stdin);
    wait_for(&folder.join("000001.cct"));
    wait_for_end(fs::read_to_string(here.join("shell")).unwrap().trim());
    let (code, said) = cctrewrite(jdk, &here, &["recover", "."]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a killed run (-- sh -c") && said.contains("what 1 JVM recorded"), "{said}");
    assert_eq!(works(here.join("app.recovered.cct")), 10);
    assert_eq!(names(&here), ["app.cct", "app.recovered.cct", "shell", "x.cct"]);
}

/// The run is killed while its JVM runs, which is killed later.
fn while_a_jvm_runs(jdk: &'static Jdk) {
    let here = folder("killed-at-work");
    let run = started(jdk, &here, &format!("exec java -cp {} Ending wait", classes()));
    let folder = left_by_run(&here);
    // As long as the JVM lives, its folder is its own.
    let (code, said) = cctrewrite(jdk, &here, &["recover"]);
    assert!(code == Some(0) && said.contains("its run is still running"), "{said}");
    kill(run);
    let [jvm] = &jvms(&folder)[..] else { panic!("{:?}", names(&folder)) };
    let said = next_run(jdk, &here);
    let expected = format!("its run was killed, and the JVM of process {jvm} still runs: java -cp");
    assert!(said.contains(&expected), "{said}");
    let (code, said) = cctrewrite(jdk, &here, &["recover", folder.to_str().unwrap()]);
    assert!(code == Some(3) && said.contains(&expected), "{said}");
    signal("KILL", jvm);
    let said = next_run(jdk, &here);
    let how = format!("collect it: cctrewrite recover {}", folder.display());
    assert!(said.contains("a killed run (-- sh -c exec java") && said.contains(&how), "{said}");
    let (code, said) = cctrewrite(jdk, &here, &["recover"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(works(here.join("app.recovered.cct")), 10);
    let profile = Profile::read(&fs::read(here.join("app.recovered.cct")).unwrap()).unwrap();
    assert_eq!(profile.meta["recovered"], "killed");
    assert_eq!(names(&here), ["app.cct", "app.cct.old", "app.recovered.cct"]);
    let (code, said) = cctrewrite(jdk, &here, &["recover"]);
    assert!(code == Some(0) && said.contains("no files of killed runs"), "{said}");
}

/// The run is killed when one profile is complete, and it waits for another JVM that outlives the
/// command.
fn before_delivery(jdk: &'static Jdk) {
    let here = folder("killed-late");
    let script = format!(
        "java -cp {0} Ending return; mkfifo out; java -cp {0} Ending wait > out & read line < out; echo ready",
        classes()
    );
    let run = started(jdk, &here, &script);
    let folder = left_by_run(&here);
    // The shell has ended, or is about to.
    sleep(Duration::from_millis(500));
    kill(run);
    assert!(folder.join("000001.cct").is_file() && !here.join("app.cct").exists());
    let jvms = jvms(&folder);
    // This one writes its profile although nobody waits for it.
    signal("TERM", &jvms[1]);
    assert!(folder.join("000002.cct").is_file());
    // Nothing is overwritten.
    fs::write(here.join("app.recovered.cct"), b"mine").unwrap();
    let (code, said) = cctrewrite(jdk, &here, &["recover"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read(here.join("app.recovered.cct")).unwrap(), b"mine");
    assert_eq!(works(here.join("app.recovered-2.cct")), 20);
    let each = here.join("app.recovered-2.jvms");
    assert_eq!(names(&each), ["1-Ending.cct", "2-Ending.cct"]);
    assert_eq!([works(each.join("1-Ending.cct")), works(each.join("2-Ending.cct"))], [10, 10]);
    assert_eq!(names(&here), ["app.recovered-2.cct", "app.recovered-2.jvms", "app.recovered.cct", "out"]);
}

/// A profile that cannot be delivered is kept, and can be collected.
fn undeliverable_images_are_refused(jdk: &'static Jdk) {
    let here = folder("undelivered");
    let script = format!("java -cp {} Ending return; mkdir -p app.cct/full", classes());
    let (code, said) = cctrewrite(jdk, &here, &["run", "-o", "app.cct", "--", "sh", "-c", &script]);
    let folder = left_by_run(&here);
    assert_eq!(code, Some(125), "{said}");
    assert!(
        said.contains(&format!("collect them later with `cctrewrite recover {}`", folder.display())),
        "{said}"
    );
    let (code, said) = cctrewrite(jdk, &here, &["recover", "-o", "other.cct"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(works(here.join("other.cct")), 10);
    assert_eq!(names(&here), ["app.cct", "other.cct"]);
}

jdks!(before_a_jvm_has_started, before_a_jvm, [8, 25]);
jdks!(while_its_jvm_runs, while_a_jvm_runs, [8, 25]);
jdks!(before_it_has_delivered, before_delivery, [8, 25]);
jdks!(what_cannot_be_delivered_stays, undeliverable_images_are_refused, [17]);
