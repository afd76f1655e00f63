//! Markers beside a calling-context tree (docs/markers.md): what is marked while classes are rewritten to be counted, and what became of it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use cct_archive::Layout;
use cct_markers::Marked;
use cct_rewrite::markers::{Markers, Shared};

use super::{BESIDE, Tally, Wanted, tables_of, world};
use crate::args::Instrument;
use crate::inputs::Sources;
use crate::pending_file::PendingFile;
use crate::text::counted;

/// What is to be marked beside.
#[derive(Debug)]
pub struct Beside {
    wanted: Wanted,
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
        for (given, option) in [
            (arguments.udi.udi.is_some(), "--udi"),
            (arguments.verify, "--verify"),
            (arguments.class_path, "--class-path"),
        ] {
            if given {
                bail!(
                    "{option} does not go together with markers beside a calling-context tree yet; leave it out"
                );
            }
        }
        if let Some(input) = sources.inputs.iter().find(|input| input.layout() != Layout::Plain)
            && !arguments.patches
        {
            bail!(
                "{}: with markers the class library of a JDK from 9 on becomes patches: give --patches",
                input.path().display()
            );
        }
        let wanted = Wanted::beside(&arguments.choices)?;
        let world = world(sources.inputs.iter().chain(&sources.libraries))?;
        let markers = Arc::new(Markers { rules: wanted.rules.clone(), world });
        Ok(Some(Beside { wanted, markers }))
    }

    /// What outputs say of themselves.
    pub fn lines(&self) -> String {
        format!("{BESIDE}\n{}", self.wanted.lines())
    }

    /// It as it would stand on a command line, by contents.
    pub fn spelled(&self) -> Vec<String> {
        self.wanted.spelled_rules()
    }

    /// What lies beside an output, to be put in its place: what the runtime reads of properties.
    pub fn tables(&self, output: &Path) -> Result<Option<PendingFile>> {
        let Some(tables) = self.wanted.tables() else { return Ok(None) };
        PendingFile::write(&tables_of(output), |out| Ok(out.write_all(tables.as_bytes())?)).map(Some)
    }
}

/// What became of rules.
#[derive(Debug)]
pub struct Account {
    markers: Shared,
    tally: Tally,
    classes: u64,
    placed: u64,
}

impl Account {
    /// Nothing yet.
    pub fn new(beside: &Beside) -> Account {
        let tally = Tally::new(&beside.markers.rules);
        Account { markers: Arc::clone(&beside.markers), tally, classes: 0, placed: 0 }
    }

    /// A class more.
    pub fn add(&mut self, marked: &Marked) {
        self.tally.add(marked);
        self.classes += u64::from(!marked.descriptors.is_empty());
        self.placed += marked.descriptors.len() as u64;
    }

    /// A line for each rule, one for each reason for which places are not marked, and one for all.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.tally.lines(&self.markers.rules);
        lines.push(format!("{} in {}", counted(self.placed, "marker"), counted(self.classes, "class")));
        lines
    }
}
