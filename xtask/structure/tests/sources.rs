//! Source files: each is part of a crate, and a module with a folder is the `mod.rs` in it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// The source files of all crates, except the roots of crates.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let folders = ["crates", "jdk-wrap", "xtask", "examples"].map(|name| root.join(name));
    let entries = folders.iter().flat_map(|folder| {
        let is_source = |entry: &walkdir::DirEntry| entry.file_name() != "target";
        WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_source)
    });
    let files = entries.map(|entry| entry.unwrap().into_path()).filter(|path| {
        let is_root = ["lib.rs", "main.rs"].iter().any(|name| path.ends_with(Path::new("src").join(name)));
        path.extension().is_some_and(|ending| ending == "rs") && !is_root && has_folder(path, "src")
    });
    let files: Vec<PathBuf> = files.collect();
    assert!(files.len() > 500, "{}", files.len());
    files
}

/// The files that can declare a module of this file: those of its folder.
fn declaring(file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().unwrap();
    let is_mod = file.file_name().unwrap() == "mod.rs";
    let folder = if is_mod { folder.parent().unwrap() } else { folder };
    let files = ["lib.rs", "main.rs", "mod.rs"].map(|name| folder.join(name));
    files.into_iter().filter(|path| path != file).collect()
}

/// Whether one of its declaring files has `mod name;`.
fn is_declared(file: &Path) -> bool {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let folder = file.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let name = if stem == "mod" { folder } else { stem };
    let declaration = format!("mod {name};");
    declaring(file).iter().any(|path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().any(|line| line.ends_with(&declaration) && !line.trim_start().starts_with("//"))
    })
}

#[test]
fn each_source_file_is_compiled() {
    let files = sources();
    let orphans: Vec<&PathBuf> = files.iter().filter(|file| !is_declared(file)).collect();
    assert!(orphans.is_empty(), "no module includes these: {orphans:#?}");
}

#[test]
fn a_module_with_a_folder_is_the_mod_file_in_it() {
    let beside: Vec<PathBuf> =
        sources().into_iter().filter(|file| file.with_extension("").is_dir()).collect();
    assert!(beside.is_empty(), "move each of these to `mod.rs` in its folder: {beside:#?}");
}

fn has_folder(path: &Path, name: &str) -> bool {
    path.parent().unwrap().components().any(|part| part.as_os_str() == name)
}
