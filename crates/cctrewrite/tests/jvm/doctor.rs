//! `cctrewrite doctor`: its trial run on each JDK.

use std::process::Command;

use crate::support::{Jdk, folder, jdks, scratch};

fn doctor(jdk: &Jdk) -> Command {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    doctor.current_dir(folder("doctor")).env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
    doctor.env("JAVA_HOME", jdk.home()).arg("doctor").arg("--jdk").arg(jdk.home());
    doctor
}

fn trial(jdk: &'static Jdk) {
    let output = doctor(jdk).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().skip_while(|line| *line != "Trial run").nth(1).unwrap();
    assert!(line.starts_with("  ok     "), "{said}");
    assert!(line.contains(": 177 calls, 1,589 bytecodes as expected; exact: yes"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.ends_with("\nno fault: `cctrewrite run -- java ...` works here\n"), "{said}");

    // A variable that switches recording off.
    let output = doctor(jdk).env("JAVA_TOOL_OPTIONS", "-Dcctrewrite.record=off").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().skip_while(|line| *line != "Trial run").nth(1).unwrap();
    assert!(line.starts_with("  FAULT  "), "{said}");
    assert!(said.contains("  note   JAVA_TOOL_OPTIONS=-Dcctrewrite.record=..."), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

jdks!(trials, trial, [8, 17, 25]);
