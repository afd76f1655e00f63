//! Programs in the form of build tools: an archive with classes and jars inside, and jars that a
//! manifest names.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use cct_profile::Profile;
use zip::write::SimpleFileOptions;

use crate::support::{Jdk, assert_succeeded, fixture, folder, jdks, scratch};

/// Calls of `work` by `main`: ten, and the recursion below.
const CALLS: u64 = 276;

/// The bytes of an archive.
fn archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        // Servers and launchers read jars in place, so they are stored.
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let options = if name.ends_with(".jar") { stored } else { SimpleFileOptions::default() };
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn class(below: &str) -> Vec<u8> {
    fs::read(fixture("packed/classes").join(below)).unwrap()
}

fn cctrewrite(here: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.current_dir(here).env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
    command
}

/// Runs a program on the profiled image of a JDK; returns calls and bytecodes of each method of the
/// program.
fn counts(jdk: &Jdk, here: &Path, command: &[&str]) -> Vec<(String, u64, u64)> {
    let mut run = cctrewrite(here);
    run.args(["run", "-q", "-o", "run.cct", "--jdk"]).arg(jdk.home()).arg("--").args(command);
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout, &*said), (Some(0), &b"88\n"[..], ""));
    let profile = Profile::read(&fs::read(here.join("run.cct")).unwrap()).unwrap();
    assert_eq!(profile.notes, Vec::<String>::new());
    let mut counts = Vec::new();
    for node in profile.threads.iter().flat_map(|thread| thread.tree.nodes()) {
        let Some(method) = profile.methods.get(node.method as usize) else { continue };
        if method.class.starts_with("app/") || method.class.starts_with("lib/") {
            counts.push((format!("{}.{}", method.class, method.name), node.calls, node.bytecodes));
        }
    }
    counts.sort();
    counts
}

/// Instruments `DIR/NAME` of a kind of packing to `DIR/out/NAME`, with the plain JDK as the
/// library.
fn instrument(jdk: &Jdk, here: &Path, name: &str, options: &[&str]) {
    fs::create_dir_all(here.join("out")).unwrap();
    let mut command = cctrewrite(here);
    command.args(["instrument", "-q", name, "-o", &format!("out/{name}"), "--library"]).arg(jdk.home());
    assert_succeeded(command.args(options));
}

fn runs_out_of_archives(jdk: &'static Jdk) {
    let here = folder("packed-archives");
    let launcher = fixture("packed/classes/launcher");
    let jar = archive(&[("lib/Part.class", class("lib/lib/Part.class"))]);
    for (name, prefix) in [("app.war", "WEB-INF"), ("fat.jar", "BOOT-INF")] {
        let start = format!("{prefix}/classes/app/Start.class");
        let lib = format!("{prefix}/lib/part.jar");
        let entries = [(&*start, class("app/app/Start.class")), (&*lib, jar.clone())];
        fs::write(here.join(name), archive(&entries)).unwrap();
        instrument(jdk, &here, name, &[]);
        let run = |archive: &str| {
            counts(jdk, &here, &["java", "-cp", launcher.to_str().unwrap(), "Launcher", archive])
        };
        let counted = run(&format!("out/{name}"));
        // The numbers are the same when rewritten in advance or when loaded.
        assert_eq!(counted, run(name), "{name}");
        let calls = |method: &str| {
            counted.iter().filter(|(name, ..)| name == method).map(|(_, calls, _)| calls).sum::<u64>()
        };
        assert_eq!((calls("app/Start.main"), calls("lib/Part.work")), (1, CALLS), "{counted:?}");
    }
}

fn runs_with_a_manifest(jdk: &'static Jdk) {
    let here = folder("packed-manifest");
    let manifest = "Manifest-Version: 1.0\nMain-Class: app.Start\nClass-Path: libs/part.jar\n\n";
    let app = [
        ("META-INF/MANIFEST.MF", manifest.as_bytes().to_vec()),
        ("app/Start.class", class("app/app/Start.class")),
    ];
    fs::write(here.join("app.jar"), archive(&app)).unwrap();
    fs::create_dir(here.join("libs")).unwrap();
    let part = archive(&[("lib/Part.class", class("lib/lib/Part.class"))]);
    fs::write(here.join("libs/part.jar"), part).unwrap();
    let live = counts(jdk, &here, &["java", "-jar", "app.jar"]);
    for options in [&["--class-path"][..], &["--class-path", "--manifest", "--if-changed"]] {
        instrument(jdk, &here, "app.jar", options);
        // Of the library only the output is left.
        let moved: PathBuf = here.join("moved");
        fs::rename(here.join("libs"), &moved).unwrap();
        assert_eq!(counts(jdk, &here, &["java", "-jar", "out/app.jar"]), live);
        fs::rename(&moved, here.join("libs")).unwrap();
    }
}

jdks!(archives_with_jars_inside, runs_out_of_archives, feature);
jdks!(jars_named_by_a_manifest, runs_with_a_manifest, feature);
