//! Limits of `cctrewrite diff`: no selection of the documentation lets a regression pass that is in
//! the class library, below a pool's threads.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Jdk, fixture, folder, jdks, scratch};

fn cctrewrite(here: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.current_dir(here).env("CCTREWRITE_CACHE", scratch().join("cache-of-runs")).env_remove("COLUMNS");
    command.args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn a_slow_cache_never_passes(jdk: &'static Jdk) {
    let here = folder("gates");
    let source = fixture("quickstart/Cache.java");
    let javac = Command::new(jdk.path("bin/javac")).arg("-d").arg(here.join("classes")).arg(source).output();
    assert!(javac.unwrap().status.success());
    let home = jdk.home().to_str().unwrap();
    for (profile, slow) in [("good.cct", "-Dslow=false"), ("bad.cct", "-Dslow=true")] {
        let command = ["--", "java", slow, "-cp", "classes", "Cache"];
        let run = [&["run", "-q", "--jdk", home, "-o", profile], &command[..]].concat();
        let output = cctrewrite(&here, &run);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        for (part, option) in [("mine", "--collapse-library"), ("only", "--only=Cache*")] {
            let name = format!("{part}-{profile}");
            assert!(cctrewrite(&here, &["merge", profile, "-o", &name, option]).status.success());
        }
    }
    let gate = |sides: [&str; 2], options: &[&str]| {
        let arguments = [&["diff", sides[0], sides[1], "--fail-above", "50%"], options].concat();
        let output = cctrewrite(&here, &arguments);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let whole = ["good.cct", "bad.cct"];
    let (code, said, _) = gate(whole, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    let grown = json["bytecodes"]["new"].as_u64().unwrap() / json["bytecodes"]["base"].as_u64().unwrap();
    assert!(code == Some(1) && grown >= 7, "{code:?}: {grown} times as much");
    // What keeps the work fails.
    for options in [
        &[][..],
        &["--mine", "Cache*"],
        &["--collapse-library"],
        &["--collapse-library", "--root", "Cache.work"],
        &["--root", "Cache.work"],
        &["--focus", "Cache.length", "--keep-at-least", "20%"],
        &["--thread", "pool-*"],
        &["--drop", "*.<clinit>"],
        &["--per-thread"],
        &["--by", "package"],
        &["--fold-recursion"],
        &["--calls-only"],
    ] {
        let (code, _, said) = gate(whole, options);
        assert_eq!(code, Some(1), "{options:?}: {said}");
    }
    assert_eq!(gate(["mine-good.cct", "mine-bad.cct"], &[]).0, Some(1));
    // What leaves it out is refused, and the message has the share.
    for options in [
        &["--drop", "java.*"][..],
        &["--drop", "Cache.*"],
        &["--only", "Cache*"],
        &["--except", "java.**"],
        &["--thread", "main"],
        &["--root", "Cache.main"],
        &["--focus", "Cache.length"],
    ] {
        let (code, shown, said) = gate(whole, options);
        assert_eq!((code, &*shown), (Some(2), ""), "{options:?}: {said}");
        assert!(said.contains("the selection keeps ") && said.contains("% of the bytecodes of "), "{said}");
    }
    let (code, _, said) = gate(["only-good.cct", "only-bad.cct"], &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is without the work of some classes"), "{said}");
    fs::remove_dir_all(&here).unwrap();
}

jdks!(selections, a_slow_cache_never_passes, [17, 25]);
