//! Attacks by another user, who tries to write, read and replace files and folders while cctrewrite
//! works and afterwards (SECURITY.md). The targets are those that `run`, `jdk`, `bench`,
//! `snapshot`, `recover` and the runtime create.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::private::{
    classes, collection, command, kill, modes, process, set_mode, text, wait_for_a_word, watch,
};
use crate::support::{Jdk, fixture, jdks};

/// The attacking user, who owns nothing.
pub(crate) const NOBODY: u32 = 65_534;

/// Attempts of forbidden actions on the named files and folders: each success is a line. A file
/// that its owner has removed meanwhile is no success: a file of that name is then the attacker's
/// own (`-O`).
const ATTACK: &str = r#"for f do
    [ -e "$f" ] || continue
    (: >> "$f") 2> /dev/null && [ ! -O "$f" ] && echo "wrote $f"
    (: < "$f") 2> /dev/null && [ ! -O "$f" ] && echo "read $f"
    (: > "$f/new") 2> /dev/null && echo "created in $f"
    chmod 777 "$f" 2> /dev/null && [ ! -O "$f" ] && echo "opened $f"
    mv "$f" "$f.moved" 2> /dev/null && [ ! -O "$f.moved" ] && echo "moved $f"
    [ -d "$f" ] && ln -s /etc/passwd "$f" 2> /dev/null && echo "linked in $f"
    [ ! -O "$f" ] && rm "$f" < /dev/null 2> /dev/null && echo "removed $f"
    rm -f "$f" "$f.moved" 2> /dev/null
done"#;

/// Runs a script as another user, with a group of its own or with that of this process. (Others
/// share that group where the umask is 002.) Returns `None`, with a message, if this process
/// cannot.
fn as_nobody(is_in_group: bool, script: &str, arguments: &[&str]) -> Option<String> {
    let group = if is_in_group { fs::metadata("/proc/self").unwrap().gid() } else { NOBODY }.to_string();
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        &NOBODY.to_string(),
        "--regid",
        &group,
        "--clear-groups",
        "sh",
        "-c",
        script,
        "sh",
    ]);
    let output = command.args(arguments).current_dir("/").output();
    match output {
        Ok(output) if !text(&output.stderr).contains("setpriv: ") => Some(text(&output.stdout)),
        _ => {
            eprintln!("skipped: not the right to be another user, or no setpriv");
            None
        }
    }
}

/// A folder that other users can reach, like `/tmp`.
fn public_folder(mode: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    set_mode(folder.path(), mode);
    folder
}

/// Attacks everything below a folder. Returns the number of attacked files and folders; 0 if this
/// process cannot become another user.
fn attack(below: &Path) -> usize {
    attack_some(below, |_| true, &[])
}

/// Attacks the wanted part below a folder. Nothing succeeds except the granted actions, which are
/// prefixes of lines.
fn attack_some(below: &Path, is_wanted: impl Fn(&str) -> bool, granted: &[&str]) -> usize {
    let all: Vec<String> = modes(below)
        .into_keys()
        .filter(|path| is_wanted(path))
        .map(|path| below.join(path).to_str().unwrap().to_owned())
        .collect();
    let all: Vec<&str> = all.iter().map(|path| &**path).collect();
    for is_in_group in [false, true] {
        // The attacker reaches the folder: otherwise the test would prove nothing.
        let his = format!("{}/his", below.display());
        let Some(reached) = as_nobody(is_in_group, "touch \"$1\" && rm \"$1\" && echo reached", &[&his])
        else {
            return 0;
        };
        assert_eq!(reached, "reached\n");
        for some in all.chunks(500) {
            let succeeded = as_nobody(is_in_group, ATTACK, some).unwrap();
            let succeeded: Vec<&str> =
                succeeded.lines().filter(|line| !granted.iter().any(|word| line.starts_with(word))).collect();
            assert_eq!(succeeded, [""; 0], "in the group: {is_in_group}");
        }
    }
    all.len()
}

/// Files that a run, its JVMs, `snapshot` and `recover` create.
fn files_of_a_run(jdk: &'static Jdk) {
    for umask in ["000", "002"] {
        let here = public_folder(0o1777);
        let here = here.path();
        let succeed = |arguments: &[&str]| {
            let output = command(jdk, umask, here, arguments).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        };
        let script = format!("java -cp {0} Ending return && java -cp {0} Ending wait", classes());
        let mut run = command(jdk, umask, here, &["run", "-q", "--", "sh", "-c", &script]);
        let mut running = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_a_word(&mut running);
        let folder = collection(here);
        let jvm = process(&folder, 2);
        succeed(&["snapshot", &jvm, "-o", "now.cct"]);
        // The folder, its lock and options, two JVMs, the profile of one, the trees of the other,
        // the snapshot.
        let attacked = attack(here);
        fs::copy(folder.join("000002.cct.arena"), here.join("copy.arena")).unwrap();
        kill(&jvm);
        running.wait().unwrap();
        succeed(&["recover", "copy.arena", "-o", "recovered.cct"]);
        let left = attack(here);
        assert!(attacked == 0 || attacked >= 8 && left >= 6, "{attacked} {left}");
        for file in [
            "cctrewrite.cct",
            "cctrewrite.jvms/1-Ending.cct",
            "cctrewrite.jvms/2-Ending.cct",
            "recovered.cct",
        ] {
            assert!(here.join(file).is_file(), "{file}");
        }

        // Files that a killed run leaves, and that `recover` collects.
        let mut run =
            command(jdk, umask, here, &["run", "-q", "-o", "killed.cct", "--", "sh", "-c", &script]);
        let mut running = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_a_word(&mut running);
        let folder = collection(here);
        running.kill().unwrap();
        running.wait().unwrap();
        kill(&process(&folder, 2));
        attack(here);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while folder.exists() && std::time::Instant::now() < deadline {
            command(jdk, umask, here, &["recover", folder.to_str().unwrap()]).output().unwrap();
        }
        attack(here);
        assert!(!folder.exists() && here.join("killed.recovered.cct").is_file());
    }
}

/// Files of JVMs that trace, record values, and check properties.
fn files_of_other_tools(jdk: &'static Jdk) {
    let typestate = ["--tool", "markers", "--typestate", "file-api"];
    for options in [&["--tool", "trace"][..], &["--tool", "pcc", "--pcc-at", "Ending.work"], &typestate] {
        let here = public_folder(0o1777);
        let program = ["--", "java", "-cp", &classes(), "Ending", "wait"];
        let mut run = command(jdk, "000", here.path(), &[&["run", "-q"], options, &program].concat());
        let mut running = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_a_word(&mut running);
        attack(here.path());
        let jvm = process(&collection(here.path()), 1);
        // It ends normally, so that it writes its files.
        assert!(Command::new("kill").arg(&jvm).status().unwrap().success());
        running.wait().unwrap();
        assert!(attack(here.path()) <= modes(here.path()).len());
        assert_eq!(modes(here.path()).len(), 1, "{options:?}: {:?}", modes(here.path()));
    }
}

/// Files of `bench`: its folder with the classes that JVMs load, kept profiles, and the baseline,
/// which others may read.
fn files_of_bench(jdk: &'static Jdk) {
    for umask in ["000", "002"] {
        let here = public_folder(0o1777);
        let here = here.path();
        let program = fixture("bench/before/classes");
        let arguments =
            ["bench", "-q", "--update", "--profiles", "kept", "-c", program.to_str().unwrap(), "Work.loop"];
        let mut harness = 0;
        let output = watch(command(jdk, umask, here, &arguments), || {
            let is_harness = |path: &String| path.ends_with("Harness.class");
            if harness < 3 && modes(here).keys().any(is_harness) {
                attack(here);
                harness += 1;
            }
        });
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(harness > 0);
        let baseline = format!("read {}", here.join("cctrewrite-bench.json").display());
        attack_some(here, |_| true, &[&baseline]);
        assert!(here.join("kept/Work.loop.cct").is_file());
    }
}

/// Files of `jdk`: its working folder, the cache, and an image that others may run.
fn files_of_images(jdk: &'static Jdk) {
    for umask in ["000", "002"] {
        let here = public_folder(0o1777);
        let here = here.path();
        let home = jdk.home().to_str().unwrap();
        let arguments = ["jdk", home, "-q", "--no-cds", "--cache=cache/images", "-o", "image"];
        let mut attacks = 0;
        let output = watch(command(jdk, umask, here, &arguments), || {
            let in_cache = here.join("cache/images");
            let is_at_work = fs::read_dir(&in_cache)
                .into_iter()
                .flatten()
                .flatten()
                .any(|entry| entry.path().join("image/bin").is_dir());
            if attacks < 5 && is_at_work {
                attack_some(here, |path| !path.contains("/image/") || path.contains("/image/bin/"), &[]);
                attacks += 1;
            }
        });
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(attacks > 0);
        // Others may run the image and list it. The attack covers those of its files that determine
        // the behaviour of its JVMs.
        let reading = format!("read {}", here.join("image").display());
        let decides = |path: &str| {
            ["cctrewrite", "bin/", "server"].iter().any(|part| path.contains(part)) || !path.contains('.')
        };
        assert!(attack_some(here, decides, &[&reading]) != 1);
        let java = fs::metadata(here.join("image/bin/java")).unwrap().mode() & 0o777;
        assert_eq!((java, modes(here)["image"]), (0o755, 0o755));
    }
}

/// In a folder in which everybody may rename everything, another user can replace the folder of a
/// run.
fn a_folder_in_its_place_is_refused(jdk: &'static Jdk) {
    let here = public_folder(0o777);
    let script = format!("echo started; read line; exec java -cp {} Ending return", classes());
    let mut run = command(jdk, "000", here.path(), &["run", "-q", "--", "sh", "-c", &script]);
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = run.spawn().unwrap();
    wait_for_a_word(&mut running);
    let folder = collection(here.path());
    let replace =
        r#"mv "$1" "$1.moved" && mkdir "$1" && echo max-contexts=none > "$1/options" && echo replaced"#;
    let replaced = as_nobody(false, replace, &[folder.to_str().unwrap()]);
    running.stdin.take().unwrap().write_all(b"\n").unwrap();
    let output = running.wait_with_output().unwrap();
    let Some(replaced) = replaced else { return };
    assert_eq!(replaced, "replaced\n");
    let said = text(&output.stderr);
    assert!(
        said.contains("CCTREWRITE_RUN is ignored") && said.contains("another user (uid 65534)"),
        "{said}"
    );
    assert!(said.contains("another process moved or replaced it"), "{said}");
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(folder.join("options").is_file());
}

jdks!(files_of_runs_stay, files_of_a_run, [8, 17, 25]);
jdks!(files_of_tools_stay, files_of_other_tools, [17]);
jdks!(files_of_bench_stay, files_of_bench, [17]);
jdks!(files_of_images_stay, files_of_images, [17], all[8]);
jdks!(a_replaced_folder_is_refused, a_folder_in_its_place_is_refused, [17]);
