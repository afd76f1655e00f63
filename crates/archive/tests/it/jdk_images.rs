//! The image of each JDK at hand: those that `JAVA11_HOME`, `JAVA17_HOME`, `JAVA21_HOME`, `JAVA25_HOME` and `JAVA_HOME` lead to.
//! What is not there is skipped with a note.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cct_archive::{Action, Input, InputKind, Limits, Location, RewriteOptions};

use crate::support::*;

const MODULES: &str = "lib/modules";

fn homes() -> Vec<PathBuf> {
    let names = ["JAVA11_HOME", "JAVA17_HOME", "JAVA21_HOME", "JAVA25_HOME", "JAVA_HOME"];
    let homes = names.into_iter().filter_map(std::env::var_os).map(PathBuf::from);
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

/// The image that jlink makes of some modules; none if it fails (it may know no such compression).
fn link(home: &Path, folder: &Path, kind: &str) -> Option<PathBuf> {
    let image = folder.join("image");
    let mut jlink = Command::new(home.join("bin/jlink"));
    jlink.args(["--add-modules", "java.base,java.logging,jdk.zipfs", "--compress", kind]);
    let status = jlink.arg("--output").arg(&image).output().ok()?.status;
    status.success().then(|| image.join(MODULES))
}
