//! Markers with a calling-context tree (docs/research/markers.md). Classes are marked while they
//! are rewritten; an account has the results.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cct_archive::Layout;
use cct_markers::MarkedClass;
use cct_rewrite::markers::{Markers, SharedMarkers};

use super::image::of_library;
use super::{BESIDE, Marking, MarkingError, Tally, tables_of, world};
use crate::file_error::FileError;
use crate::inputs::Sources;
use crate::instrument::filter::{FilterError, filter};
use crate::instrument::request::InstrumentRequest;
use crate::pending_file::PendingFile;
use crate::text::counted;

/// Markers with a calling-context tree that cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum TreeMarkingError {
    /// Choices do not go together, or name no classes to record.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// There is a user's module, too.
    #[error("--udi cannot be combined with markers and a calling-context tree yet; leave it out")]
    Module,
    /// The class library of a JDK from 9 on is to be marked as a whole.
    #[error(
        "{}: with markers the class library of a JDK from 9 on becomes patches: give --patches",
        .0.display()
    )]
    NoPatches(PathBuf),
    /// Rules or properties cannot be used.
    #[error(transparent)]
    Marking(#[from] MarkingError),
    /// An input or library cannot be read.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
}

/// The rules and properties for markers with a calling-context tree.
#[derive(Debug)]
pub struct TreeMarking {
    /// The lines of each output's description.
    lines: String,
    /// The tables of properties for the runtime, if there are any.
    tables: Option<String>,
    /// The options for the rules and properties, with hashes of contents.
    spelled: Vec<String>,
    /// Whether these markers are for a whole class library of a JDK. Rules that match nothing there
    /// may still match in programs.
    is_library: bool,
    /// The rules and the class hierarchy, shared by all writers of classes.
    pub markers: SharedMarkers,
}

impl TreeMarking {
    /// The markers that a request asks for; `None` if it asks for none.
    ///
    /// # Errors
    /// Fails if options cannot be combined, or if a file cannot be read.
    pub fn of(
        request: &InstrumentRequest,
        sources: &Sources,
    ) -> Result<Option<TreeMarking>, TreeMarkingError> {
        if !request.choices.marks_beside() {
            return Ok(None);
        }
        filter(&request.choices)?;
        if request.module.module.is_some() {
            return Err(TreeMarkingError::Module);
        }
        if let Some(input) = sources.inputs.iter().find(|input| input.layout() != Layout::Plain)
            && !request.patches
        {
            return Err(TreeMarkingError::NoPatches(input.path().to_path_buf()));
        }
        Ok(Some(TreeMarking::new(&Marking::beside(&request.choices)?, sources, false)?))
    }

    /// The markers for the class library of a JDK, for an image.
    ///
    /// # Errors
    /// Fails if the class library cannot be read.
    pub fn of_library(marking: &Marking, sources: &Sources) -> Result<TreeMarking, cct_archive::Error> {
        TreeMarking::new(marking, sources, true)
    }

    fn new(
        marking: &Marking,
        sources: &Sources,
        is_library: bool,
    ) -> Result<TreeMarking, cct_archive::Error> {
        let world = world(sources.inputs.iter().chain(&sources.libraries))?;
        let lines = format!("{BESIDE}\n{}", marking.lines());
        let (tables, spelled) = (marking.tables(), marking.spelled_rules());
        let markers = Arc::new(Markers { rules: Arc::new(marking.rules.clone()), world });
        Ok(TreeMarking { lines, tables, spelled, is_library, markers })
    }

    /// The lines of each output's description.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// The options for the rules and properties, with hashes of contents.
    pub fn spelled(&self) -> &[String] {
        &self.spelled
    }

    /// The pending file with the tables of properties beside an output; `None` without properties.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn tables(&self, output: &Path) -> Result<Option<PendingFile>, FileError> {
        let Some(tables) = &self.tables else { return Ok(None) };
        Ok(Some(PendingFile::write(&tables_of(output), |out| out.write_all(tables.as_bytes()))?))
    }
}

/// The account of the results of rules.
#[derive(Debug)]
pub struct Account {
    is_of_library: bool,
    markers: SharedMarkers,
    tally: Tally,
    classes: u64,
    placed: u64,
}

impl Account {
    /// Creates an empty account.
    pub fn new(beside: &TreeMarking) -> Account {
        let tally = Tally::new(&beside.markers.rules);
        let (is_of_library, markers) = (beside.is_library, Arc::clone(&beside.markers));
        Account { is_of_library, markers, tally, classes: 0, placed: 0 }
    }

    /// Adds the results of a class.
    pub fn add(&mut self, marked: &MarkedClass) {
        self.tally.add(marked);
        self.classes += u64::from(!marked.descriptors.is_empty());
        self.placed += marked.descriptors.len() as u64;
    }

    /// Number of locations that each rule marked, in the order of the rules.
    pub fn places(&self) -> &[u64] {
        self.tally.places()
    }

    /// A line for each rule, one for each reason why locations are not marked, and one with the
    /// totals.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.tally.lines(&self.markers.rules);
        if self.is_of_library {
            lines.iter_mut().for_each(|line| *line = of_library(line));
        }
        lines.push(format!("{} in {}", counted(self.placed, "marker"), counted(self.classes, "class")));
        lines
    }
}
