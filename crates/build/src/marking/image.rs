//! The class library of a whole JDK, marked; and what the image carries for the program's classes
//! (docs/reference/images.md).
//!
//! A folder beside it has the rules, what is above which class of the library, how many places each
//! rule has there, and the automata of properties. The runtime finds it from `java.home`, and the
//! load-time library marks by it, so that a moved or copied image keeps its rules.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cct_archive::Target;
use cct_image::record;

use super::above::world;
use super::all::{MarkedInputs, OutputOptions, mark_all};
use super::rules::Marking;
use crate::inputs::Sources;
use crate::observer::Observer;

/// The folder, in that of the image's own files.
pub const FOLDER: &str = "markers";

/// Whether the home of a JDK is one whose class library was marked.
pub fn is_in(home: &Path) -> bool {
    ["lib", "jre/lib"].iter().any(|lib| home.join(lib).join(record::FOLDER).join(FOLDER).is_dir())
}

/// What was marked in a class library.
#[derive(Debug)]
pub struct Summary {
    marked: MarkedInputs,
    lines: Vec<String>,
}

/// Marks the files of a class library, each to its target, and writes what the image carries into
/// `own`, the folder of its own files.
///
/// # Errors
/// As [`mark_all`], and files that cannot be written.
pub fn mark(
    marking: &Marking,
    library: &Sources,
    targets: &[Target],
    how: &OutputOptions<'_>,
    own: &Path,
    observer: &dyn Observer,
) -> Result<Summary> {
    let Sources { inputs, libraries, .. } = library;
    // Those of the image alone: what else is known is no part of it.
    let carried = world(inputs)?.table();
    let world = world(inputs.iter().chain(libraries))?;
    let mut marked = mark_all(marking, &world, inputs, targets, how, observer)?;
    for output in std::mem::take(&mut marked.outputs) {
        output.commit()?;
    }
    carry(marking, &carried, marked.tally.places(), own)?;
    let lines = marked.tally.lines(&marking.rules);
    Ok(Summary { marked, lines })
}

/// Writes what an image carries into `own`, the folder of its own files: the rules, what is above
/// which class, how many places each rule has in the class library, and the automata of properties.
///
/// # Errors
/// Files that cannot be written.
pub fn carry(marking: &Marking, classes: &[u8], places: &[u64], own: &Path) -> Result<()> {
    let folder = own.join(FOLDER);
    fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let write = |name: &str, bytes: &[u8]| {
        let file: PathBuf = folder.join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))
    };
    write("rules.toml", marking.rules.text().as_bytes())?;
    write("classes", classes)?;
    let places: String = places.iter().map(|count| format!("{count}\n")).collect();
    write("places", places.as_bytes())?;
    if let Some(tables) = marking.tables() {
        write("typestate", tables.as_bytes())?;
    }
    Ok(())
}

impl Summary {
    /// Says what became of rules: of what is not in the class library the program may have some.
    pub fn say(&self, observer: &dyn Observer) {
        self.marked.warn(observer);
        for line in &self.lines {
            observer.note(&of_library(line));
        }
        observer.note(&format!("{} of the class library", self.marked.totals()));
    }
}

/// What is said of a rule, where that is about the class library: the program may have what
/// matches.
pub fn of_library(line: &str) -> String {
    line.replace("matches nothing", "matches nothing in the class library")
}
