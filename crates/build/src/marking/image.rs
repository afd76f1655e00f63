//! Marking of a whole JDK's class library, and the files that the image carries for the program's
//! classes (docs/reference/images.md).
//!
//! A folder beside the class library has the rules, the supertypes of the library's classes, and
//! the automata of properties. It also has the number of locations that each rule marks there. The
//! runtime finds the folder from `java.home`, and the load-time library marks by it. So a moved or
//! copied image keeps its rules.

use std::fs;
use std::path::{Path, PathBuf};

use cct_archive::{Failure, Target};
use cct_image::record;

use super::above::world;
use super::all::{MarkedInputs, OutputOptions, mark_all};
use super::rules::Marking;
use crate::file_error::{FileError, Operation};
use crate::inputs::Sources;
use crate::observer::Observer;

/// The name of the folder of marker files, inside the folder of the image's own files.
pub const FOLDER: &str = "markers";

/// Whether this is the home of a JDK with a marked class library.
pub fn is_in(home: &Path) -> bool {
    ["lib", "jre/lib"].iter().any(|lib| home.join(lib).join(record::FOLDER).join(FOLDER).is_dir())
}

/// A class library that cannot be marked.
#[derive(Debug, thiserror::Error)]
pub enum MarkLibraryError {
    /// A file of it cannot be read or put in its place.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// A class of it cannot be marked.
    #[error(transparent)]
    Class(#[from] Failure<cct_markers::Error>),
    /// A marker file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The summary of a marked class library.
#[derive(Debug)]
pub struct Summary {
    marked: MarkedInputs,
    lines: Vec<String>,
}

/// Marks the files of a class library, each to its target. Writes the image's marker files into
/// `own`, the folder of its own files (see [`carry`]).
///
/// # Errors
/// Fails as [`mark_all`] does, or if a file cannot be written.
pub fn mark(
    marking: &Marking,
    library: &Sources,
    targets: &[Target],
    how: &OutputOptions<'_>,
    own: &Path,
    observer: &dyn Observer,
) -> Result<Summary, MarkLibraryError> {
    let Sources { inputs, libraries, .. } = library;
    // Only the image's own classes: the libraries named are no part of it.
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

/// Writes the marker files of an image into `own`, the folder of its own files. They hold the
/// rules, the supertypes of classes, the number of locations that each rule marks in the class
/// library, and the automata of properties.
///
/// # Errors
/// Fails if a file cannot be written.
pub fn carry(marking: &Marking, classes: &[u8], places: &[u64], own: &Path) -> Result<(), FileError> {
    let folder = own.join(FOLDER);
    fs::create_dir(&folder).map_err(Operation::Make.failed_on(&folder))?;
    let write = |name: &str, bytes: &[u8]| {
        let file: PathBuf = folder.join(name);
        fs::write(&file, bytes).map_err(Operation::Write.failed_on(&file))
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
    /// Reports the results of each rule. A rule that matches nothing in the class library may still
    /// match in the program.
    pub fn say(&self, observer: &dyn Observer) {
        self.marked.warn(observer);
        for line in &self.lines {
            observer.note(&of_library(line));
        }
        observer.note(&format!("{} of the class library", self.marked.totals()));
    }
}

/// Restricts the line about a rule to the class library: the rule may still match in the program.
pub fn of_library(line: &str) -> String {
    line.replace("matches nothing", "matches nothing in the class library")
}
