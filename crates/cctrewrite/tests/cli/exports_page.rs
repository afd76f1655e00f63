//! `docs/use/exports.md`: its commands run, print the output that it shows, and draw its picture.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::{run, scratch};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the page, each with the lines shown below it.
fn commands(page: &str) -> Vec<(Vec<String>, Vec<&str>)> {
    let mut commands: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    let mut shown = false;
    for line in page.lines() {
        let Some(code) = line.strip_prefix("    ") else {
            shown = false;
            continue;
        };
        if let Some(command) = code.strip_prefix("cctrewrite ") {
            let command = command.split(" | ").next().unwrap();
            commands.push((command.split_whitespace().map(str::to_owned).collect(), Vec::new()));
            shown = command.ends_with("-o -");
        } else if shown {
            commands.last_mut().unwrap().1.push(code);
        }
    }
    commands
}

#[test]
fn the_page_tells_the_truth() {
    let folder = scratch();
    let sample = repository().join("crates/export/tests/data/sample.cct");
    for name in ["run.cct", "before.cct", "after.cct"] {
        fs::copy(&sample, folder.path().join(name)).unwrap();
    }
    let page = fs::read_to_string(repository().join("docs/use/exports.md")).unwrap();
    let commands = commands(&page);
    assert!(commands.len() >= 9, "only {} commands were found", commands.len());
    assert_eq!(commands.iter().filter(|(_, shown)| !shown.is_empty()).count(), 1);
    for (command, shown) in commands {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let printed = run(folder.path(), &arguments).succeeds().stdout;
        for line in shown {
            assert!(printed.lines().any(|printed| printed == line), "{command:?} does not print {line}");
        }
    }
    let drawn = folder.path().join("quickstart.svg");
    let kept = repository().join("docs/get-started/quickstart.svg");
    if std::env::var_os("BLESS").is_some() {
        fs::copy(&drawn, &kept).unwrap();
    }
    assert!(
        fs::read(drawn).unwrap() == fs::read(kept).unwrap(),
        "docs/get-started/quickstart.svg differs (BLESS=1 renews it)"
    );
}
