//! The jars of a JDK, if one is available.

use std::fs;
use std::path::{Path, PathBuf};

use cct_archive::{Action, Input, Limits, Location, RewriteOptions};

use crate::support::*;

/// All jars and jmods below `JAVA_HOME`.
fn jdk_archives() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let Ok(list) = fs::read_dir(folder) else { return };
        for path in list.flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.is_symlink() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "jar" || extension == "jmod") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        walk(Path::new(&home), &mut found);
    }
    found.sort();
    found
}

#[test]
fn archives_of_a_jdk_survive() {
    let archives = jdk_archives();
    if archives.is_empty() {
        println!("SKIPPED: no jar or jmod found; set JAVA_HOME to a JDK");
        return;
    }
    let (folder, mut classes) = (tempfile::tempdir().unwrap(), 0);
    let out = folder.path().join("out.jar");
    for path in &archives {
        let input = Input::open(path, &Limits::default()).unwrap();
        let survey = input.survey(|_, bytes| Ok::<_, ()>(bytes.to_vec())).unwrap();
        classes += survey.classes.len();
        rewrite_to(&input, &out, &RewriteOptions::default(), &keep).unwrap();
        assert!(fs::read(&out).unwrap() == fs::read(path).unwrap(), "{} changed", path.display());

        let replace = |_: &Location<'_>, bytes: &[u8]| Ok::<_, ()>(Action::Replace(bytes.to_vec()));
        rewrite_to(&input, &out, &RewriteOptions::default(), &replace).unwrap();
        let again = Input::open(&out, &Limits::default()).unwrap();
        assert!(again.survey(|_, bytes| Ok::<_, ()>(bytes.to_vec())).unwrap().classes == survey.classes);
    }
    println!("{} archives, {classes} classes", archives.len());
}
