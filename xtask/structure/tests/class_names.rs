//! Names of classes that Java code in `jdk-wrap` has in strings. `javac` does not check them, and
//! `Launch` ignores a class that this JDK does not have.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

fn jdk_wrap() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("jdk-wrap")
}

/// The names of classes of this project that are string literals of a Java source.
fn class_names(source: &str) -> Vec<&str> {
    let literals = source.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
    let is_ours = |name: &&str| name.starts_with("cctrewrite.") || name.starts_with("java.lang.Cct");
    let is_class = |name: &&str| {
        let simple = name.rsplit('.').next().unwrap();
        simple.len() > "Cct".len() && simple.starts_with(char::is_uppercase) && !name.contains(' ')
    };
    literals.filter(is_ours).filter(is_class).collect()
}

/// Whether one of the folders of class files has the class.
fn has_class(folders: &[PathBuf], name: &str) -> bool {
    let file = format!("{}.class", name.replace('.', "/"));
    folders.iter().any(|folder| folder.join(&file).is_file())
}

#[test]
fn string_literals_name_classes_that_exist() {
    let classes = fs::read_dir(jdk_wrap().join("classes")).unwrap();
    let folders: Vec<PathBuf> = classes.map(|entry| entry.unwrap().path()).collect();
    let (mut found, mut missing) = (0, Vec::new());
    for entry in WalkDir::new(jdk_wrap()).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_none_or(|ending| ending != "java") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for name in class_names(&source) {
            found += 1;
            if !has_class(&folders, name) {
                missing.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "no such class: {missing:#?}");
    assert!(found >= 20, "{found}");
}
