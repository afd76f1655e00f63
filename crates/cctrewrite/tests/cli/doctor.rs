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

#[test]
fn libraries_that_are_missing_are_faults() {
    let folder = scratch();
    let whole = doctor(command(), folder.path(), &[]);
    let libraries = section(&whole, "Libraries");
    assert_eq!(libraries.len(), 3, "{}", whole.stdout);
    assert!(libraries.iter().all(|line| line.starts_with("  ok     ")), "{}", whole.stdout);

    let alone = folder.path().join("cctrewrite");
    executable::copy(Path::new(env!("CARGO_BIN_EXE_cctrewrite")), &alone).unwrap();
    let run = doctor(Command::new(&alone), folder.path(), &[]);
    let libraries = section(&run, "Libraries");
    if cfg!(feature = "embed") {
        let is_inside =
            |line: &&str| line.starts_with("  ok     libcctrewrite_") && line.contains("is embedded");
        assert_eq!(libraries.iter().filter(|line| is_inside(line)).count(), 3, "{}", run.stdout);
        assert!(!folder.path().join("cache").exists(), "looking makes nothing");
        return;
    }
    assert!(libraries.iter().all(|line| line.starts_with("  FAULT  ")), "{}", run.stdout);
    assert!(libraries[0].contains("libcctrewrite_loadtime.so is not beside this command"), "{}", run.stdout);
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
