//! Markers beside a calling-context tree (docs/research/markers.md): what is marked while classes
//! are rewritten to be counted, and what became of it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use cct_archive::Layout;
use cct_build::pending_file::PendingFile;
use cct_markers::Marked;
use cct_rewrite::markers::{Markers, Shared};

use super::image::of_library;
use super::{BESIDE, Tally, Wanted, tables_of, world};
use crate::args::Instrument;
use crate::inputs::Sources;
use crate::text::counted;

/// What is to be marked beside.
#[derive(Debug)]
pub struct Beside {
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

impl Beside {
    /// What a command line wants; `None` if it is nothing. Refuses what does not go together.
    pub fn of(arguments: &Instrument, sources: &Sources) -> Result<Option<Beside>> {
        if !arguments.choices.marks_beside() {
            return Ok(None);
        }
        arguments.choices.filter()?;
        if arguments.udi.udi.is_some() {
            bail!("--udi does not go together with markers beside a calling-context tree yet; leave it out");
        }
        if let Some(input) = sources.inputs.iter().find(|input| input.layout() != Layout::Plain)
            && !arguments.patches
        {
            bail!(
                "{}: with markers the class library of a JDK from 9 on becomes patches: give --patches",
                input.path().display()
            );
        }
        Beside::new(&Wanted::beside(&arguments.choices)?, sources, false).map(Some)
    }

    /// What is wanted of the class library of a JDK, for an image.
    pub fn of_library(wanted: &Wanted, sources: &Sources) -> Result<Beside> {
        Beside::new(wanted, sources, true)
    }

    fn new(wanted: &Wanted, sources: &Sources, is_library: bool) -> Result<Beside> {
        let world = world(sources.inputs.iter().chain(&sources.libraries))?;
        let lines = format!("{BESIDE}\n{}", wanted.lines());
        let (tables, spelled) = (wanted.tables(), wanted.spelled_rules());
        let markers = Arc::new(Markers { rules: Arc::new(wanted.rules.clone()), world });
        Ok(Beside { lines, tables, spelled, is_library, markers })
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
    pub fn new(beside: &Beside) -> Account {
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
