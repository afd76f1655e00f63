//! Files of `run`, `bench`, `jdk`, `snapshot`, `recover` and the runtime are their user's alone,
//! whatever the umask (SECURITY.md).

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use walkdir::WalkDir;

use crate::attacks::NOBODY;
use crate::support::{Jdk, fixture, folder, jdks, scratch};

/// A `cctrewrite` command in a folder, with this umask. All its temporary files are below the
/// folder.
pub(crate) fn command(jdk: &Jdk, umask: &str, here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "CCTREWRITE_RUN"]
    {
        command.env_remove(variable);
    }
    command.current_dir(here).env("JAVA_HOME", jdk.home()).env("TMPDIR", here);
    command.env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
    command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_cctrewrite")]);
    command.args(arguments);
    command
}

pub(crate) fn classes() -> String {
    fixture("ending/classes").to_str().unwrap().to_owned()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Everything below a folder, by its relative path, with its mode; a link with mode 0.
pub(crate) fn modes(below: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    // Files that a process has removed meanwhile are ignored.
    for entry in WalkDir::new(below).min_depth(1).into_iter().flatten() {
        let Ok(its) = entry.metadata() else { continue };
        let mode = if its.is_symlink() { 0 } else { its.mode() & 0o7777 };
        found.insert(entry.path().strip_prefix(below).unwrap().to_str().unwrap().to_owned(), mode);
    }
    found
}

/// Nothing below the folder grants anything to others.
fn assert_private(below: &Path, what: &str) -> BTreeMap<String, u32> {
    let all = modes(below);
    let open: Vec<String> = all
        .iter()
        .filter(|(_, mode)| *mode & 0o077 != 0)
        .map(|(path, mode)| format!("{path} {mode:o}"))
        .collect();
    assert_eq!(open, [""; 0], "{what}");
    all
}

/// Waits until a command's program prints something.
pub(crate) fn wait_for_a_word(running: &mut Child) {
    running.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
}

pub(crate) fn kill(process: &str) {
    assert!(Command::new("kill").args(["-9", process]).status().unwrap().success());
}

/// The only folder below with this suffix.
pub(crate) fn collection(here: &Path) -> PathBuf {
    let all = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path());
    let mut all = all.filter(|path| path.to_str().unwrap().ends_with(".run"));
    let found = all.next().unwrap();
    assert_eq!(all.next(), None);
    found
}

/// The process of a JVM of a run.
pub(crate) fn process(collection: &Path, number: u32) -> String {
    let entry = text(&fs::read(collection.join(format!("{number:06}.jvm"))).unwrap());
    entry.split('\0').next().unwrap().to_owned()
}

fn run_and_what_reads_its_jvms(jdk: &'static Jdk) {
    for umask in ["000", "002"] {
        let here = folder("private-run");
        let succeed = |arguments: &[&str]| {
            let output = command(jdk, umask, &here, arguments).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        };
        let script = format!("java -cp {0} Ending return && java -cp {0} Ending wait", classes());
        let mut run = command(jdk, umask, &here, &["run", "-q", "--", "sh", "-c", &script]);
        let mut running = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_a_word(&mut running);
        let collection = collection(&here);
        let jvm = process(&collection, 2);
        succeed(&["snapshot", &jvm, "-o", "now.cct"]);
        let seen = assert_private(&here, "while a JVM runs");
        let name = collection.file_name().unwrap().to_str().unwrap();
        for file in ["", "/options", "/000001.jvm", "/000001.cct", "/000002.jvm", "/000002.cct.arena"] {
            assert!(seen.contains_key(&format!("{name}{file}")), "{file} of {seen:?}");
        }
        fs::copy(collection.join("000002.cct.arena"), here.join("copy.arena")).unwrap();
        kill(&jvm);
        let output = running.wait_with_output().unwrap();
        assert!(text(&output.stderr).contains("was recovered from its memory"), "{}", text(&output.stderr));
        succeed(&["recover", "copy.arena", "-o", "recovered.cct"]);
        let left = assert_private(&here, "at the end");
        for file in ["cctrewrite.cct", "cctrewrite.jvms/2-Ending.cct", "now.cct", "recovered.cct"] {
            assert!(left.contains_key(file), "{file} of {left:?}");
        }
        assert!(!collection.exists());
    }
}

fn other_tools(jdk: &'static Jdk) {
    let typestate = ["--tool", "markers", "--typestate", "file-api"];
    for options in [&["--tool", "trace"][..], &["--tool", "pcc", "--pcc-at", "Ending.work"], &typestate] {
        for umask in ["000", "002"] {
            let here = folder("private-tools");
            let program = ["--", "java", "-cp", &classes(), "Ending", "return"];
            let arguments = [&["run", "-q"], options, &program].concat();
            let output = command(jdk, umask, &here, &arguments).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            assert_eq!(assert_private(&here, options[1]).len(), 1);
        }
    }
}

/// Calls `look` repeatedly while a command runs.
pub(crate) fn watch(mut command: Command, mut look: impl FnMut()) -> Output {
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while running.try_wait().unwrap().is_none() {
        look();
        sleep(Duration::from_millis(20));
    }
    running.wait_with_output().unwrap()
}

fn bench(jdk: &'static Jdk) {
    for (umask, baseline) in [("000", 0o644), ("002", 0o644), ("077", 0o600)] {
        bench_with(jdk, umask, baseline);
    }
}

/// Others may read the baseline, as the umask allows; nobody else may write it.
fn bench_with(jdk: &Jdk, umask: &str, baseline: u32) {
    let here = folder("private-bench");
    let program = fixture("bench/before/classes");
    let arguments =
        ["bench", "-q", "--update", "--profiles", "kept", "-c", program.to_str().unwrap(), "Work.loop"];
    let mut harness = 0;
    let output = watch(command(jdk, umask, &here, &arguments), || {
        let seen = modes(&here);
        let its = seen.iter().filter(|(path, _)| path.starts_with(".cctrewrite-") && path.contains(".bench"));
        for (path, mode) in its {
            // The JVM restricts its folder and the file in it step by step
            // (`Finish.keepPrivate`), out of others' reach: this folder is closed.
            let is_of_jvm = path.contains(".tmp");
            assert!(is_of_jvm || mode & 0o077 == 0, "{path} {mode:o}");
            harness += usize::from(path.ends_with("Harness.class"));
        }
    });
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(harness > 0);
    let left = modes(&here);
    assert_eq!(
        [left["kept"], left["kept/Work.loop.cct"], left["cctrewrite-bench.json"]],
        [0o700, 0o600, baseline]
    );
    assert!(!left.keys().any(|path| path.contains(".bench")), "{left:?}");
}

fn images(jdk: &'static Jdk) {
    ["000", "002"].iter().for_each(|umask| images_with(jdk, umask));
}

fn images_with(jdk: &Jdk, umask: &str) {
    let here = folder("private-image");
    // A JDK whose package was unpacked with umask 000 is not the image's fault, but JVMs run it as
    // the image's user.
    let home = jdk.home().to_str().unwrap();
    let arguments = ["jdk", home, "-q", "--no-cds", "--cache=cache/images", "-o", "image"];
    let mut workshops = 0;
    let output = watch(command(jdk, umask, &here, &arguments), || {
        for below in [here.clone(), here.join("cache/images")] {
            let entries = fs::read_dir(below).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_name().to_str().unwrap().ends_with(".tmp")) {
                let Ok(its) = entry.metadata() else { continue };
                assert_eq!(its.mode() & 0o777, 0o700, "{:?}", entry.path());
                workshops += 1;
            }
        }
    });
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(workshops > 0);
    let left = modes(&here);
    let writable: Vec<&String> =
        left.iter().filter(|(_, mode)| *mode & 0o022 != 0).map(|(path, _)| path).collect();
    assert_eq!(writable, [""; 0]);
    assert_eq!([left["cache"], left["cache/images"]], [0o700; 2]);
    let locks: Vec<u32> =
        left.iter().filter(|(path, _)| path.ends_with(".lock")).map(|(_, mode)| *mode).collect();
    assert_eq!(locks, [0o600]);
    // Others may use it.
    let java = fs::metadata(here.join("image/bin/java")).unwrap().mode() & 0o777;
    assert_eq!([left["image"], java], [0o755; 2]);
}

/// The home of the image on which `run` runs its commands.
fn image(jdk: &Jdk, here: &Path) -> PathBuf {
    let output =
        command(jdk, "022", here, &["run", "-q", "--", "sh", "-c", "echo $JAVA_HOME"]).output().unwrap();
    PathBuf::from(text(&output.stdout).trim())
}

fn a_jvm_trusts_its_user_alone(jdk: &'static Jdk) {
    let here = folder("private-options");
    let java = image(jdk, &here).join("bin/java");
    let run = here.join("run");
    let options = run.join("options");
    let start = |variable: &Path| {
        let mut command = Command::new(&java);
        command.current_dir(&here).env("CCTREWRITE_RUN", variable).args([
            "-cp",
            &classes(),
            "Ending",
            "return",
        ]);
        command.output().unwrap()
    };
    let ways: [(&str, &dyn Fn()); 6] = [
        ("", &|| {}),
        ("options: others may write to it (mode 666)", &|| set_mode(&options, 0o666)),
        ("run: others may write to it (mode 777)", &|| set_mode(&run, 0o777)),
        ("run: others may write to it (mode 770)", &|| set_mode(&run, 0o770)),
        ("options: not a regular file", &|| {
            fs::rename(&options, run.join("target")).unwrap();
            symlink("target", &options).unwrap();
        }),
        ("options: belongs to another user (uid 65534)", &|| match chown(&options, Some(NOBODY), None) {
            Ok(()) => {}
            Err(_) => {
                eprintln!("skipped: not the right to give a file away");
                set_mode(&options, 0o600);
            }
        }),
    ];
    for (message, change) in ways {
        let _ = fs::remove_dir_all(&run);
        cct_private::create_folders(&run).unwrap();
        // A JVM that obeyed would report that this is no number, and stop.
        cct_private::write(&options, b"max-contexts=none\n").unwrap();
        change();
        let output = start(&run);
        let said = text(&output.stderr);
        if message.is_empty() || message.contains("65534") && fs::metadata(&options).unwrap().uid() != NOBODY
        {
            assert_eq!(output.status.code(), Some(70), "{said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{message}: {said}");
        assert!(said.contains("CCTREWRITE_RUN is ignored: ") && said.contains(message), "{message}: {said}");
        assert!(modes(&run).keys().all(|name| !name.ends_with(".jvm")), "{message}");
    }
    // A run that is over.
    let output = start(&here.join("nothing"));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

jdks!(files_of_runs_are_their_users, run_and_what_reads_its_jvms, 8..=25);
jdks!(what_other_tools_leave_is_their_users, other_tools, [17]);
jdks!(files_of_bench_are_their_users, bench, [17]);
jdks!(nobody_else_writes_to_images, images, [17], all[8]);
jdks!(options_of_others_are_ignored, a_jvm_trusts_its_user_alone, 8..=25);
