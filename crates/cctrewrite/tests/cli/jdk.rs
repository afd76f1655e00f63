//! `cctrewrite jdk`: its refusals. (tests/jvm tests images.)

use std::path::Path;

use super::support::{class, files, jar, object, put, run, scratch};

/// Files that look like the home of a JDK 8, with a class library of two classes.
fn home(folder: &Path) {
    let lib = "jdk/jre/lib";
    put(folder, &format!("{lib}/rt.jar"), &jar(&[("java/lang/Object.class", &object())]));
    put(folder, &format!("{lib}/amd64/jvm.cfg"), b"-server KNOWN\n");
    put(folder, &format!("{lib}/amd64/server/libjvm.so"), b"not a library");
    put(folder, "jdk/release", b"JAVA_VERSION=\"1.8.0_0\"\n");
}

/// Runs the command, and checks that nothing changed.
fn refused(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let before = files(folder);
    let arguments: Vec<&str> = ["jdk", "-q"].iter().chain(arguments).copied().collect();
    run(folder, &arguments).fails_saying(parts);
    assert!(files(folder) == before, "{arguments:?} changed something");
}

#[test]
fn what_is_no_home_of_a_jdk() {
    let folder = scratch();
    let folder = folder.path();
    home(folder);
    put(folder, "openj9/lib/modules", b"");
    put(folder, "openj9/release", b"JVM_VARIANT=\"Openj9\"\n");
    refused(folder, &["gone", "-o", "image"], &["gone", "cannot find"]);
    refused(folder, &["jdk/release", "-o", "image"], &["jdk/release", "not a folder"]);
    refused(folder, &["jdk/jre/lib/amd64", "-o", "image"], &["not the home of a JDK", "`bin` and `lib`"]);
    refused(folder, &["openj9", "-o", "image"], &["openj9", "OpenJ9", "only HotSpot"]);
}

#[test]
fn places_that_an_image_may_not_take() {
    let folder = scratch();
    let folder = folder.path();
    home(folder);
    put(folder, "full/precious.txt", b"precious");
    refused(folder, &["jdk", "-o", "full"], &["full", "neither empty nor a profiled JDK"]);
    refused(folder, &["jdk", "-o", "full/precious.txt"], &["precious.txt", "a file"]);
    refused(folder, &["jdk", "-o", "jdk/image"], &["jdk/image", "in the JDK"]);
    refused(folder, &["jdk", "-o", "jdk"], &["jdk", "in the JDK"]);
    refused(folder, &["jdk", "-o", "."], &["holds the JDK", "name another folder"]);
    refused(folder, &["jdk", "-o", "gone/image"], &["gone/image", "cannot find the folder"]);
    refused(folder, &["jdk", "-o", "image", "--report", "full"], &["full", "folder"]);
    refused(folder, &["jdk", "-o", "image", "--library", "gone.jar"], &["gone.jar"]);
}

#[test]
fn an_image_that_cannot_be_completed_is_not_there() {
    let folder = scratch();
    let folder = folder.path();
    home(folder);
    // Its launcher is missing, so the check that it starts fails.
    refused(folder, &["jdk", "-o", "image", "--report", "report.json"], &["cannot start", "bin/java"]);
    let twice = jar(&[("p/A.class", &class("p/A", None)), ("p/Bad.class", b"no class")]);
    put(folder, "jdk/jre/lib/jce.jar", &twice);
    refused(folder, &["jdk", "-o", "image"], &["jce.jar!/p/Bad.class"]);
}

#[test]
fn options_that_exclude_markers() {
    let folder = scratch();
    let folder = folder.path();
    home(folder);
    put(folder, "rules.toml", b"[[marker]]\ntoken = \"t\"\nat = \"method\"\n");
    put(folder, "bad.toml", b"[[marker]]\ntoken = \"t\"\nat = \"here\"\n");
    put(folder, "udi.jar", b"");
    let markers = ["jdk", "-o", "image", "--tool", "markers"];
    refused(folder, &markers, &["--tool markers needs rules"]);
    let refused = |more: &[&str], part| refused(folder, &[&markers, more].concat(), &[part]);
    refused(&["--markers", "bad.toml"], "bad.toml: line 3: at = \"here\"");
    let rules = ["--markers", "rules.toml"];
    refused(&[&rules[..], &["--report", "report.json"]].concat(), "--report cannot be combined");
    refused(&[&rules[..], &["--udi", "udi.jar"]].concat(), "--udi cannot be combined");
    refused(&[&rules[..], &["--call-sites"]].concat(), "--call-sites, which decides what a profile contains");
    // Not skipped silently, either.
    let traced = ["jdk", "-q", "jdk", "-o", "image", "--tool", "trace", "--typestate", "iterator"];
    run(folder, &traced).fails_saying(&["markers work with a calling-context tree or alone"]);
    let counted = ["jdk", "-q", "jdk", "-o", "image", "--typestate", "iterator", "--udi", "udi.jar"];
    run(folder, &counted).fails_saying(&["--udi cannot be combined with markers and"]);

    for (arguments, part) in [
        (&["--client", "A"][..], "--client needs rules for markers"),
        (&["--markers", "bad.toml"], "bad.toml: line 3"),
        (&["--markers", "rules.toml", "--typestate-budget", "5"], "--typestate-budget needs properties"),
        (&["--tool", "trace", "--markers", "rules.toml"], "markers work with a calling-context tree or"),
        (
            &["--tool", "markers", "--markers", "rules.toml", "--max-contexts", "1"],
            "--max-contexts is for --tool profile and has no effect with --tool markers",
        ),
        (
            &["--tool", "markers", "--markers", "rules.toml", "--typestate-budget", "5"],
            "--typestate-budget needs properties",
        ),
        (&["--tool", "markers", "--markers", "bad.toml"], "bad.toml: line 3"),
    ] {
        let arguments = [&["run", "--jdk", "jdk"], arguments, &["--", "jdk/bin/java"]].concat();
        let run = run(folder, &arguments);
        assert_eq!(run.code, Some(125), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
    }
}
