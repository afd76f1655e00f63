//! Target for an image's metadata, and for the files that `run` leaves for its JVMs: text files
//! that decide which code runs.

use std::path::{Component, Path};

use cct_image::{Manifest, Record};
use cct_profile::collection::{Entry, Options};
use cctrewrite_vm::options::chosen;

/// Reads a manifest and a record. If they are accepted, they are written and read back as the same,
/// and no path leads out of the image.
pub fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::parse(bytes) {
        assert!(
            Manifest::parse(&manifest.bytes()).as_ref() == Ok(&manifest),
            "what was written is another manifest"
        );
        assert!(manifest.files.len() <= bytes.len(), "more files than bytes");
        for file in &manifest.files {
            let is_inside = file.path.components().all(|part| matches!(part, Component::Normal(_)));
            assert!(
                is_inside && Path::new("/image").join(&file.path) != Path::new("/image"),
                "{:?}",
                file.path
            );
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(record) = Record::parse(text) {
        let written = record.text();
        assert!(Record::parse(&written).unwrap().text() == written, "what was written is another record");
    }
}

/// Keys that JVMs ask for.
const KEYS: &[&str] = &["markers.clients", "markers.client-path", "max-contexts", "trace-last", "record", ""];

/// Reads the options that `run` leaves for JVMs, the entry of a JVM, and the built-in options of a
/// JDK 8 image.
pub fn options(bytes: &[u8]) {
    let options = Options::of_bytes(bytes);
    let text = String::from_utf8_lossy(bytes);
    for key in KEYS {
        let Some(value) = options.get(key) else { continue };
        assert!(!value.contains('\n'), "a value of two lines");
        assert!(text.lines().any(|line| line == format!("{key}={value}")), "a value that no line has");
    }
    let entry = Entry::of_bytes(bytes, Path::new("/run/000001.jvm"));
    assert!(
        entry.profile == Path::new("/run/000001.cct") && entry.arena == Path::new("/run/000001.cct.arena")
    );
    assert!(
        entry.arguments.len() <= bytes.len()
            && entry.arguments.iter().all(|argument| !argument.contains('\0'))
    );

    // The second half represents the user's environment.
    let middle = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let (file, environment) = text.split_at(middle);
    let ours = chosen(file, environment);
    assert!(ours.iter().all(|option| !option.is_empty() && file.lines().any(|line| line == *option)));
    assert!(chosen(file, "").len() >= ours.len(), "an environment adds options");
    assert!(
        chosen(file, file).iter().all(|option| option.contains(char::is_whitespace)),
        "what the user sets is set again"
    );
}
