//! `cctrewrite doctor`, without a trial run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use cct_test_classes::executable;

use super::support::{Run, command, scratch};

/// Runs a command in an environment of its own, with only the JDKs of the system's folders.
fn doctor(mut command: Command, folder: &Path, variables: &[(&str, &str)]) -> Run {
    command.env_clear().env("HOME", folder).env("CCTREWRITE_CACHE", folder.join("cache"));
    command.envs(variables.iter().copied()).args(["doctor", "--no-trial"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The lines below a heading.
fn section<'a>(run: &'a Run, heading: &str) -> Vec<&'a str> {
    let lines = run.stdout.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// The first line says what is checked, and how to read the rest.
#[test]
fn the_first_line_is_for_newcomers() {
    let run = doctor(command(), scratch().path(), &[]);
    let first = run.stdout.lines().next().unwrap();
    assert!(first.starts_with(concat!("cctrewrite ", env!("CARGO_PKG_VERSION"), " on linux ")), "{first}");
    assert!(first.ends_with(": each line with FAULT says what to do"), "{first}");
}

/// The lines about libraries. The last one is about the code inside the JVM.
fn libraries(run: &Run) -> Vec<&str> {
    let mut lines = section(run, "Libraries");
    let last = lines.pop().unwrap();
    assert!(last.starts_with("  ok     ") && last.contains(", compiled by javac "), "{last}");
    lines
}

#[test]
fn libraries_that_are_missing_are_faults() {
    let folder = scratch();
    let whole = doctor(command(), folder.path(), &[]);
    let found = libraries(&whole);
    assert_eq!(found.len(), 3, "{}", whole.stdout);
    assert!(found.iter().all(|line| line.starts_with("  ok     ")), "{}", whole.stdout);

    let alone = folder.path().join("cctrewrite");
    executable::copy(Path::new(env!("CARGO_BIN_EXE_cctrewrite")), &alone).unwrap();
    let run = doctor(Command::new(&alone), folder.path(), &[]);
    let found = libraries(&run);
    if cfg!(feature = "embed") {
        let is_inside =
            |line: &&str| line.starts_with("  ok     libcctrewrite_") && line.contains("is embedded");
        assert_eq!(found.iter().filter(|line| is_inside(line)).count(), 3, "{}", run.stdout);
        assert!(!folder.path().join("cache").exists(), "looking makes nothing");
        return;
    }
    assert!(found.iter().all(|line| line.starts_with("  FAULT  ")), "{}", run.stdout);
    assert!(found[0].contains("libcctrewrite_loadtime.so is not beside this command"), "{}", run.stdout);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.ends_with(" faults\n"), "{}", run.stdout);
}

#[test]
fn a_cache_that_others_may_write_is_a_fault() {
    let folder = scratch();
    let images = folder.path().join("cache/images");
    assert!(section(&doctor(command(), folder.path(), &[]), "Cache")[0].ends_with(": 0 images, 0 MB"));
    assert!(!images.exists(), "looking makes nothing");
    fs::create_dir_all(&images).unwrap();
    fs::set_permissions(&images, fs::Permissions::from_mode(0o777)).unwrap();
    let run = doctor(command(), folder.path(), &[]);
    let line = section(&run, "Cache")[0];
    assert!(line.starts_with("  FAULT  ") && line.contains("chmod go-w"), "{}", run.stdout);
    assert_eq!(run.code, Some(1));
}

#[test]
fn options_from_outside_are_named() {
    let folder = scratch();
    let run = doctor(command(), folder.path(), &[("JAVA_TOOL_OPTIONS", "-Xmx1g\u{1b}[2J -Dkey=secret")]);
    let lines = section(&run, "Environment");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("  note   JAVA_TOOL_OPTIONS=-Xmx1g\\u{1b}[2J -Dkey=...: every JVM")),
        "{}",
        run.stdout
    );
}

#[test]
fn a_home_that_cannot_be_profiled_says_why() {
    let folder = scratch();
    let home = folder.path().join("jdk");
    fs::create_dir_all(home.join("lib/j9vm")).unwrap();
    fs::write(home.join("lib/modules"), b"").unwrap();
    let home = home.to_str().unwrap();
    let run = doctor(command(), folder.path(), &[("JAVA_HOME", home)]);
    let lines = section(&run, "JDKs");
    assert!(
        lines[0].starts_with("  note   ") && lines[0].contains("OpenJ9") && lines[0].ends_with("(JAVA_HOME)"),
        "{}",
        run.stdout
    );
}
