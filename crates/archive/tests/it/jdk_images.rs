//! The image of each available JDK of [`cct_jdk::TESTED`], from `JAVA11_HOME`, `JAVA17_HOME` and so
//! on, and from `JAVA_HOME`. Missing ones are skipped with a note.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cct_archive::{Action, Input, InputKind, Limits, Location, RewriteOptions};

use crate::support::*;

const MODULES: &str = "lib/modules";

fn homes() -> Vec<PathBuf> {
    let versions = cct_jdk::TESTED.iter().map(u32::to_string).chain([String::new()]);
    let homes =
        versions.filter_map(|version| std::env::var_os(format!("JAVA{version}_HOME"))).map(PathBuf::from);
    let mut homes: Vec<PathBuf> = homes.filter(|home| home.join(MODULES).is_file()).collect();
    homes.sort();
    homes.dedup();
    if homes.is_empty() {
        println!("SKIPPED: no JDK from 9 on; set JAVA17_HOME to one");
    }
    homes
}

fn open(image: &Path) -> Input {
    let input = Input::open(image, &Limits::default()).unwrap();
    assert_eq!(input.kind(), InputKind::Image);
    input
}

/// Contents by name.
fn resources(input: &Input) -> BTreeMap<String, Vec<u8>> {
    let entry = |index: usize| {
        let bytes = input.read(index).unwrap().unwrap().into_owned();
        (input.entries()[index].name.to_string(), bytes)
    };
    (0..input.entries().len()).map(entry).collect()
}

#[test]
fn images_of_jdks_come_out_as_they_went_in() {
    for home in homes() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("modules");
        let input = open(&home.join(MODULES));
        let survey = input.survey(|_, bytes| Ok::<_, ()>(bytes.len())).unwrap();
        assert!(survey.classes.len() > 5000);
        rewrite_to(&input, &out, &RewriteOptions::default(), &keep).unwrap();
        assert!(fs::read(&out).unwrap() == fs::read(input.path()).unwrap(), "{} changed", home.display());
        assert_eq!(list(folder.path()), ["modules"]);

        let replace = |_: &Location<'_>, bytes: &[u8]| Ok::<_, ()>(Action::Replace(bytes.to_vec()));
        rewrite_to(&input, &out, &RewriteOptions::default(), &replace).unwrap();
        assert!(resources(&open(&out)) == resources(&input), "{} changed", home.display());
        println!("{}: {} entries", home.display(), input.entries().len());
    }
}

/// Flags say which resources, folders and packages have versions for previews: they equal those of
/// jlink.
#[test]
fn previews_come_out_as_they_went_in() {
    const SOURCES: [(&str, &str); 5] = [
        ("plain/module-info.java", "module m { exports p; }"),
        ("plain/p/X.java", "package p; public class X {}"),
        ("plain/p/q/Q.java", "package p.q; class Q {}"),
        ("preview/p/X.java", "package p; public class X { int later; }"),
        ("preview/p/New.java", "package p; class New {}"),
    ];
    for home in homes() {
        if fs::read(home.join(MODULES)).unwrap()[4..8] != [1, 0, 1, 0] {
            println!("{}: resources have no versions for previews", home.display());
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let (sources, module) = (folder.path().join("sources"), folder.path().join("m"));
        let javac = |part: &str, out: &Path| {
            let mut javac = Command::new(home.join("bin/javac"));
            javac.arg("-d").arg(out);
            javac.args(
                SOURCES.iter().filter(|(name, _)| name.starts_with(part)).map(|(name, _)| sources.join(name)),
            );
            assert!(javac.status().unwrap().success());
        };
        for (name, text) in SOURCES {
            let file = sources.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        javac("plain", &module);
        javac("preview", &module.join("META-INF/preview"));
        let linked = folder.path().join("image");
        let mut jlink = Command::new(home.join("bin/jlink"));
        jlink
            .args(["--add-modules", "java.base,m", "--module-path"])
            .arg(&module)
            .arg("--output")
            .arg(&linked);
        if !jlink.output().unwrap().status.success() {
            println!("SKIPPED: {} has no jlink, or it cannot link", home.display());
            continue;
        }
        let (image, out) = (linked.join(MODULES), folder.path().join("again"));
        let input = open(&image);
        let names: Vec<&str> = input.entries().iter().map(|entry| &*entry.name).collect();
        assert!(names.contains(&"m/META-INF/preview/p/New.class"));
        rewrite_to(&input, &out, &RewriteOptions::default(), &keep).unwrap();
        assert!(fs::read(&out).unwrap() == fs::read(&image).unwrap());
    }
}

#[test]
fn compressed_images_hold_what_the_jdk_finds_in_them() {
    for home in homes() {
        let mut seen = 0;
        for kind in ["2"] {
            let folder = tempfile::tempdir().unwrap();
            let Some(image) = link(&home, folder.path(), kind) else { continue };
            let input = open(&image);
            let extracted = folder.path().join("extracted");
            let mut jimage = Command::new(home.join("bin/jimage"));
            jimage.arg("extract").arg("--dir").arg(&extracted).arg(&image);
            assert!(jimage.output().unwrap().status.success());
            let found = resources(&input);
            assert!(found.len() > 5000);
            for (name, bytes) in &found {
                let expected = fs::read(extracted.join(name)).unwrap();
                assert!(*bytes == expected, "{}: {name} with --compress={kind}", home.display());
            }
            let (packed, full) =
                (fs::metadata(&image).unwrap().len(), found.values().map(Vec::len).sum::<usize>());
            assert!(packed < full as u64, "nothing is compressed");

            let out = folder.path().join("again");
            rewrite_to(&input, &out, &RewriteOptions::default(), &keep).unwrap();
            assert!(fs::read(&out).unwrap() == fs::read(&image).unwrap());
            println!(
                "{}: {} entries with --compress={kind}, {packed} bytes for {full}",
                home.display(),
                found.len()
            );
            seen += 1;
        }
        if seen == 0 {
            println!("SKIPPED: {} has no jlink, or it cannot link", home.display());
        }
    }
}

/// The image that jlink creates from some modules; `None` if it fails (it may not know the
/// compression).
fn link(home: &Path, folder: &Path, kind: &str) -> Option<PathBuf> {
    let image = folder.join("image");
    let mut jlink = Command::new(home.join("bin/jlink"));
    jlink.args(["--add-modules", "java.base,java.logging,jdk.zipfs", "--compress", kind]);
    let status = jlink.arg("--output").arg(&image).output().ok()?.status;
    status.success().then(|| image.join(MODULES))
}
