//! `cctrewrite recover` of folders, without JVMs: which folders it finds, and what it does with
//! their files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cct_profile::Method;

use super::support::{Context, Run, command, profile_of, scratch};

/// A folder as a killed run leaves it.
fn left(parent: &Path, name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = parent.join(format!(".cctrewrite-{name}.run"));
    cct_private::create_folders(&folder).unwrap();
    for (name, bytes) in files {
        cct_private::write(&folder.join(name), bytes).unwrap();
    }
    folder
}

const LOCK: (&str, &[u8]) = ("lock", b"app.cct\0java\0Main\0");

/// No process has this id.
const JVM: &[u8] = b"4194305\0java\0Main\0";

fn profile() -> Vec<u8> {
    let method = Method {
        class: "app/Main".into(),
        name: "main".into(),
        descriptor: "()V".into(),
        site: None,
        mid: 0,
        flags: 0,
    };
    profile_of(&[Context { depth: 1, method, calls: 3, bytecodes: 12 }], None)
}

/// Runs `recover` in a folder that is also the one for temporary files.
fn recover(here: &Path, arguments: &[&str]) -> Run {
    let output =
        command().current_dir(here).env("TMPDIR", here).arg("recover").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn names(here: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn profiles_are_collected_from_all_folders() {
    let here = scratch();
    let profile = profile();
    left(here.path(), "a", &[LOCK, ("options", b""), ("000001.jvm", JVM), ("000001.cct", &profile)]);
    let two: [(&str, &[u8]); 5] = [
        ("lock", b"all.cct\0"),
        ("000001.jvm", JVM),
        ("000001.cct", &profile),
        ("000002.jvm", JVM),
        ("000002.cct", &profile),
    ];
    left(here.path(), "b", &two);
    let said = recover(here.path(), &[]).succeeds().stderr;
    assert!(said.contains("a killed run (-- java Main) left what 1 JVM recorded"), "{said}");
    assert!(said.contains("all.recovered.cct: 2 JVMs, 6 calls"), "{said}");
    assert_eq!(names(here.path()), ["all.recovered.cct", "all.recovered.jvms", "app.recovered.cct"]);
    assert_eq!(fs::read(here.path().join("app.recovered.cct")).unwrap(), profile);
    let said = recover(here.path(), &[]).succeeds().stderr;
    assert!(said.contains("no files of killed runs in the current folder"), "{said}");
}

/// In the folder for temporary files; the output goes to another folder.
#[test]
fn an_output_elsewhere_is_named_by_its_path() {
    let (here, there, gone) = (scratch(), scratch(), scratch());
    let output = format!("{}/\u{e4}.cct\0", there.path().display());
    let files: [(&str, &[u8]); 3] =
        [("lock", output.as_bytes()), ("000001.jvm", JVM), ("000001.cct", &profile())];
    left(here.path(), "a", &files);
    recover(here.path(), &[]).succeeds();
    assert_eq!((names(here.path()), names(there.path())), (vec![], vec!["\u{e4}.recovered.cct".to_owned()]));
    // That folder no longer exists.
    let output = format!("{}/gone/b.cct\0", gone.path().display());
    left(here.path(), "a", &[("lock", output.as_bytes()), files[1], files[2]]);
    recover(here.path(), &[]).succeeds();
    assert_eq!(names(here.path()), ["b.recovered.cct"]);
}

#[test]
fn an_output_may_be_named_for_one_folder() {
    let here = scratch();
    let profile = profile();
    let files = [LOCK, ("000001.jvm", JVM), ("000001.cct", &*profile)];
    let first = left(here.path(), "a", &files);
    left(here.path(), "b", &files);
    recover(here.path(), &["-o", "x.cct"]).fails_saying(&["but there are 2", "name the folder of one"]);
    recover(here.path(), &["-o", "-"]).fails_saying(&["several files", "name a file"]);
    recover(here.path(), &[first.to_str().unwrap(), "-o", "x.cct"]).succeeds();
    assert_eq!(names(here.path()), [".cctrewrite-b.run", "x.cct"]);
    recover(here.path(), &["-o", "x.cct"]).succeeds();
    assert_eq!(names(here.path()), ["x.cct"]);
}

#[test]
fn a_locked_folder_is_not_touched() {
    let here = scratch();
    let folder = left(here.path(), "a", &[LOCK, ("000001.jvm", JVM), ("000001.cct", &profile())]);
    let lock = fs::File::open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let said = recover(here.path(), &[]).succeeds().stderr;
    assert!(said.contains("its run is still running"), "{said}");
    assert_eq!(names(&folder), ["000001.cct", "000001.jvm", "lock"]);
}

#[test]
fn a_folder_that_a_process_still_uses_is_not_touched() {
    let here = scratch();
    // Processes that use folders of other tests do not matter to this one.
    let folder = left(here.path(), "used", &[LOCK, ("000001.jvm", JVM), ("000001.cct", &profile())]);
    let mut user = std::process::Command::new("sleep");
    let mut user = user.arg("60").env("CCTREWRITE_RUN", &folder).spawn().unwrap();
    // Before it executes the command, it has the variables of this process.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let run = recover(here.path(), &[]);
    user.kill().unwrap();
    user.wait().unwrap();
    let expected = format!("and process {}, which may start JVMs, still runs: sleep 60", user.id());
    assert!(run.code == Some(3) && run.stderr.contains(&expected), "{}", run.stderr);
    assert_eq!(names(&folder), ["000001.cct", "000001.jvm", "lock"]);
    recover(here.path(), &[]).succeeds();
    assert!(!folder.exists());
}

/// Links, folders that others may read, and files of that name.
#[test]
fn other_folders_are_not_looked_at() {
    let (here, there) = (scratch(), scratch());
    let files: [(&str, &[u8]); 3] = [LOCK, ("000001.jvm", JVM), ("000001.cct", &profile())];
    let theirs = left(there.path(), "theirs", &files);
    let link = here.path().join(".cctrewrite-link.run");
    symlink(&theirs, &link).unwrap();
    let open = left(here.path(), "open", &files);
    fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
    fs::write(here.path().join(".cctrewrite-file.run"), b"").unwrap();
    let before = names(here.path());
    let said = recover(here.path(), &[]).succeeds().stderr;
    assert!(said.contains("no files of killed runs"), "{said}");
    recover(here.path(), &[open.to_str().unwrap()]).fails_saying(&["others may read it"]);
    recover(here.path(), &[link.to_str().unwrap()]).fails_saying(&[".cctrewrite-link.run"]);
    assert_eq!((names(here.path()), names(&theirs).len()), (before, 3));
}

/// A profile that is a link to something else is not followed.
#[test]
fn links_in_a_folder_are_not_followed() {
    let (here, there) = (scratch(), scratch());
    let mine = there.path().join("mine.cct");
    fs::write(&mine, profile()).unwrap();
    let folder = left(here.path(), "a", &[LOCK, ("000001.jvm", JVM)]);
    symlink(&mine, folder.join("000001.cct")).unwrap();
    let run = recover(here.path(), &[]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("not removed, since 000001.cct in it cannot be collected"), "{}", run.stderr);
    assert!(mine.is_file() && folder.is_dir());
    assert_eq!(names(here.path()), [".cctrewrite-a.run"]);
}

#[test]
fn a_folder_without_a_lock_is_collected_when_it_is_named() {
    let here = scratch();
    let folder = left(here.path(), "old", &[("000001.jvm", JVM), ("000001.cct", &profile())]);
    let run = recover(here.path(), &[]);
    assert!(
        run.code == Some(3) && run.stderr.contains("has no lock, as with earlier versions"),
        "{}",
        run.stderr
    );
    assert_eq!(names(&folder), ["000001.cct", "000001.jvm"]);
    recover(here.path(), &[".cctrewrite-old.run"]).succeeds();
    assert_eq!(names(here.path()), ["cctrewrite.recovered.cct"]);
}

/// The others are collected, only once.
#[test]
fn what_cannot_be_collected_stays() {
    let here = scratch();
    let files: [(&str, &[u8]); 7] = [
        LOCK,
        ("000001.jvm", JVM),
        ("000001.cct", &profile()),
        ("000002.jvm", JVM),
        ("000002.cct", b"not a profile"),
        ("000003.jvm", JVM),
        ("000003.cct.arena", &[0; 4096]),
    ];
    let folder = left(here.path(), "a", &files);
    for found in [&["app.recovered.cct"][..], &["app.recovered.cct"]] {
        let run = recover(here.path(), &[]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("nothing can be recovered"), "{}", run.stderr);
        // The third JVM; nothing is expected of the first any more.
        assert_eq!(run.stderr.matches("left no files").count(), 1, "{}", run.stderr);
        assert!(
            run.stderr.contains("not removed, since 000002.cct in it cannot be collected"),
            "{}",
            run.stderr
        );
        let mut expected = vec![".cctrewrite-a.run"];
        expected.extend(found);
        assert_eq!(names(here.path()), expected);
        assert!(names(&folder).contains(&"000002.cct".to_owned()));
    }
}

/// As when a JVM is killed right after it has registered itself.
#[test]
fn a_folder_in_which_nothing_is_goes() {
    let here = scratch();
    left(here.path(), "a", &[LOCK, ("options", b"x=y\n"), ("000001.jvm", JVM)]);
    let said = recover(here.path(), &[]).succeeds().stderr;
    assert!(said.contains("removed; a killed run left it"), "{said}");
    left(here.path(), "b", &[LOCK, ("000001.jvm", JVM), ("000001.cct.arena", &[0; 4096])]);
    let run = recover(here.path(), &[]);
    assert!(run.code == Some(3) && run.stderr.contains("left no files"), "{}", run.stderr);
    assert_eq!(names(here.path()), [""; 0]);
}

#[test]
fn what_clients_of_markers_printed_is_collected() {
    let here = scratch();
    let printed: &[u8] = b"cctrewrite: markers: 3 delivered\n";
    left(here.path(), "a", &[("lock", b"m.markers\0"), ("000001.jvm", JVM), ("000001.cct.markers", printed)]);
    recover(here.path(), &[]).succeeds();
    left(
        here.path(),
        "b",
        &[LOCK, ("000001.jvm", JVM), ("000001.cct", &profile()), ("000001.cct.markers", printed)],
    );
    recover(here.path(), &[]).succeeds();
    assert_eq!(names(here.path()), ["app.recovered.cct", "app.recovered.markers", "m.recovered.markers"]);
}

#[test]
fn a_file_needs_an_output() {
    let here = scratch();
    fs::write(here.path().join("x.arena"), b"").unwrap();
    let run = recover(here.path(), &["x.arena"]);
    assert!(run.code == Some(2) && run.stderr.contains("--output"), "{}", run.stderr);
    recover(here.path(), &["gone", "-o", "x.cct"]).fails_saying(&["cannot open gone"]);
}
