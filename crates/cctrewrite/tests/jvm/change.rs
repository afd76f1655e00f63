//! `cctrewrite diff` of two versions of a program: a longer line of a loop shows in its context,
//! with the expected number.

use std::path::Path;
use std::process::Command;

use crate::support::{Blocks, Image, Jdk, fixture, jdks};

/// The exit code of the difference, and its output.
fn diff(base: &Path, new: &Path, options: &[&str]) -> (Option<i32>, serde_json::Value) {
    let mut diff = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    // The JVM's actions before and after may depend on the class path's name.
    diff.arg("diff").args([base, new]).args(["--root", "Change.main", "--format", "json"]).args(options);
    let output = diff.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let json = serde_json::from_str(&text);
    (output.status.code(), json.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

fn a_longer_line_shows(jdk: &'static Jdk) {
    let image = Image::of(jdk, Blocks::Exact);
    let run = |version: &str| {
        let classes = fixture("change").join(version).join("classes");
        image.java(version).class_path([classes]).succeed("Change", &[])
    };
    let (before, after) = (run("before"), run("after"));
    let (base, new) = (before.profile_path(), after.profile_path());
    // `iload` and `iadd`, 100 times in each of 1000 calls, and 7 times in one.
    let (code, found) = diff(&base, &new, &[]);
    let change = |value: &serde_json::Value| {
        value["self"]["new"].as_u64().unwrap() - value["self"]["base"].as_u64().unwrap()
    };
    let method = &found["methods"][0];
    assert_eq!((code, method["name"].as_str(), change(method)), (Some(0), Some("Change.work([I)I"), 200_014));
    let contexts = found["largest_contexts"].as_array().unwrap();
    let listed: Vec<(String, u64)> = contexts
        .iter()
        .map(|context| (serde_json::to_string(&context["path"]).unwrap(), change(context)))
        .collect();
    let (main, work) = ("\"Change.main([Ljava/lang/String,)V\"", "\"Change.work([I)I\"");
    let expected =
        [(format!("[{main},\"Change.repeat([I)I\",{work}]"), 200_000), (format!("[{main},{work}]"), 14)];
    assert_eq!(listed, expected);
    let bytecodes = &found["bytecodes"];
    let total = bytecodes["new"].as_u64().unwrap() - bytecodes["base"].as_u64().unwrap();
    assert_eq!((total, &found["calls"]["base"]), (200_014, &found["calls"]["new"]));

    let limited = |limit| diff(&base, &new, &["--fail-above", limit]).0;
    assert_eq!((limited("5%"), limited("50%")), (Some(1), Some(0)));
    let same = diff(&base, &base, &["--fail-above", "0"]);
    assert_eq!((same.0, &same.1["identical"]), (Some(0), &true.into()));
}

jdks!(a_longer_line, a_longer_line_shows, [8, 17, 25]);
