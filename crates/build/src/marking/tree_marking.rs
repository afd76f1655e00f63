//! Markers beside a calling-context tree (docs/research/markers.md): what is marked while classes
//! are rewritten to be counted, and what became of it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use cct_archive::Layout;
use cct_markers::Marked;
use cct_rewrite::markers::{Markers, Shared};

use super::image::of_library;
use super::{BESIDE, Marking, Tally, tables_of, world};
use crate::inputs::Sources;
use crate::instrument::filter::filter;
use crate::instrument::request::InstrumentRequest;
use crate::pending_file::PendingFile;
use crate::text::counted;

/// What is to be marked beside what counts.
#[derive(Debug)]
pub struct TreeMarking {
    /// What outputs say of themselves.
    lines: String,
    /// What the runtime reads of properties, if there are any.
    tables: Option<String>,
    /// The rules and properties as they would stand on a command line.
    spelled: Vec<String>,
    /// Whether the class library of a JDK is marked as a whole: programs may have what is not in
    /// it.
    is_library: bool,
    /// The same for all that write classes.
    pub markers: Shared,
}

impl TreeMarking {
    /// What is asked for; `None` if it is nothing.
    ///
    /// # Errors
    /// Options that do not go together, and files that cannot be read.
    pub fn of(request: &InstrumentRequest, sources: &Sources) -> Result<Option<TreeMarking>> {
        if !request.choices.marks_beside() {
            return Ok(None);
        }
        filter(&request.choices)?;
        if request.module.module.is_some() {
            bail!("--udi does not go together with markers beside a calling-context tree yet; leave it out");
        }
        if let Some(input) = sources.inputs.iter().find(|input| input.layout() != Layout::Plain)
            && !request.patches
        {
            bail!(
                "{}: with markers the class library of a JDK from 9 on becomes patches: give --patches",
                input.path().display()
            );
        }
        TreeMarking::new(&Marking::beside(&request.choices)?, sources, false).map(Some)
    }

    /// What is wanted of the class library of a JDK, for an image.
    pub fn of_library(marking: &Marking, sources: &Sources) -> Result<TreeMarking> {
        TreeMarking::new(marking, sources, true)
    }

    fn new(marking: &Marking, sources: &Sources, is_library: bool) -> Result<TreeMarking> {
        let world = world(sources.inputs.iter().chain(&sources.libraries))?;
        let lines = format!("{BESIDE}\n{}", marking.lines());
        let (tables, spelled) = (marking.tables(), marking.spelled_rules());
        let markers = Arc::new(Markers { rules: Arc::new(marking.rules.clone()), world });
        Ok(TreeMarking { lines, tables, spelled, is_library, markers })
    }

    /// What outputs say of themselves.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// It as it would stand on a command line, by contents.
    pub fn spelled(&self) -> &[String] {
        &self.spelled
    }

    /// What lies beside an output, to be put in its place: what the runtime reads of properties.
    pub fn tables(&self, output: &Path) -> Result<Option<PendingFile>> {
        let Some(tables) = &self.tables else { return Ok(None) };
        PendingFile::write(&tables_of(output), |out| Ok(out.write_all(tables.as_bytes())?)).map(Some)
    }
}

/// What became of rules.
#[derive(Debug)]
pub struct Account {
    is_of_library: bool,
    markers: Shared,
    tally: Tally,
    classes: u64,
    placed: u64,
}

impl Account {
    /// Nothing yet.
    pub fn new(beside: &TreeMarking) -> Account {
        let tally = Tally::new(&beside.markers.rules);
        let (is_of_library, markers) = (beside.is_library, Arc::clone(&beside.markers));
        Account { is_of_library, markers, tally, classes: 0, placed: 0 }
    }

    /// A class more.
    pub fn add(&mut self, marked: &Marked) {
        self.tally.add(marked);
        self.classes += u64::from(!marked.descriptors.is_empty());
        self.placed += marked.descriptors.len() as u64;
    }

    /// How many places each rule has, in their order.
    pub fn places(&self) -> &[u64] {
        self.tally.places()
    }

    /// A line for each rule, one for each reason for which places are not marked, and one for all.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.tally.lines(&self.markers.rules);
        if self.is_of_library {
            lines.iter_mut().for_each(|line| *line = of_library(line));
        }
        lines.push(format!("{} in {}", counted(self.placed, "marker"), counted(self.classes, "class")));
        lines
    }
}
