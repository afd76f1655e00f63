//! The class library of a whole JDK, marked; and what the image carries for the program's classes
//! (docs/reference/images.md).
//!
//! A folder beside it has the rules, what is above which class of the library, how many places each
//! rule has there, and the automata of properties. The runtime finds it from `java.home`, and the
//! load-time library marks by it, so that a moved or copied image keeps its rules.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cct_archive::{Input, Target};
use cct_image::record;

use super::Wanted;
use super::all::{Done, Manner, mark_all};
use crate::exit::say;
use crate::inputs::BadClasses;
use crate::marking::above::world;

/// The folder, in that of the image's own files.
pub const FOLDER: &str = "markers";

/// Whether the home of a JDK is one whose class library was marked.
pub fn is_in(home: &Path) -> bool {
    ["lib", "jre/lib"].iter().any(|lib| home.join(lib).join(record::FOLDER).join(FOLDER).is_dir())
}

/// What was marked in a class library.
#[derive(Debug)]
pub struct Summary {
    done: Done,
    lines: Vec<String>,
}

/// Marks the files of a class library, each to its target, and writes what the image carries into
/// `own`, the folder of its own files. From JDK 9 on `options` are in it.
pub fn mark(
    wanted: &Wanted,
    inputs: &[Input],
    libraries: &[Input],
    targets: &[Target],
    level: u32,
    options: Option<&str>,
    own: &Path,
) -> Result<Summary> {
    // Those of the image alone: what else is known is no part of it.
    let carried = world(inputs)?.table();
    let world = world(inputs.iter().chain(libraries))?;
    let manner =
        Manner { bad: BadClasses::Refuse, level, patches: false, lines: None, verify: false, options };
    let mut done = mark_all(wanted, &world, inputs, targets, &manner)?;
    for output in std::mem::take(&mut done.outputs) {
        output.commit()?;
    }
    carry(wanted, &carried, done.tally.places(), own)?;
    let lines = done.tally.lines(&wanted.rules);
    Ok(Summary { done, lines })
}

/// Writes what an image carries into `own`, the folder of its own files: the rules, what is above
/// which class, how many places each rule has in the class library, and the automata of properties.
pub fn carry(wanted: &Wanted, classes: &[u8], places: &[u64], own: &Path) -> Result<()> {
    let folder = own.join(FOLDER);
    fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let write = |name: &str, bytes: &[u8]| {
        let file: PathBuf = folder.join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))
    };
    write("rules.toml", wanted.rules.text().as_bytes())?;
    write("classes", classes)?;
    let places: String = places.iter().map(|count| format!("{count}\n")).collect();
    write("places", places.as_bytes())?;
    if let Some(tables) = wanted.tables() {
        write("typestate", tables.as_bytes())?;
    }
    Ok(())
}

impl Summary {
    /// Says what became of rules: of what is not in the class library the program may have some.
    pub fn print(&self, quiet: bool) {
        self.done.warn();
        if quiet {
            return;
        }
        for line in &self.lines {
            say(&of_library(line));
        }
        say(&format!("{} of the class library", self.done.totals()));
    }
}

/// What is said of a rule, where that is about the class library: the program may have what
/// matches.
pub fn of_library(line: &str) -> String {
    line.replace("matches nothing", "matches nothing in the class library")
}
