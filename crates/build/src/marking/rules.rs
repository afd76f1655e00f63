//! What is to be marked: files of rules, and properties, whose events have rules of their own.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use cct_markers::Rules;
use cct_settings::Choices;
use cct_typestate::{Property, encoded};
use xxhash_rust::xxh3::xxh3_64;

use super::{TYPESTATE, properties};
use crate::inputs::TOOL;

/// A file larger than this is none of rules.
const LARGEST: u64 = 16 << 20;

/// The rules in files.
///
/// # Errors
/// A file that cannot be read or has no rules.
pub fn rules(files: &[PathBuf]) -> Result<Rules> {
    let mut rules = Rules::default();
    for file in files {
        let cannot = || format!("cannot read {}", file.display());
        let about = fs::metadata(file).with_context(cannot)?;
        if about.len() > LARGEST {
            bail!("{} has {} bytes, too many for a file of markers", file.display(), about.len());
        }
        let text = fs::read_to_string(file).with_context(cannot)?;
        rules.add(&text).with_context(|| file.display().to_string())?;
    }
    Ok(rules)
}

/// Rules and properties.
#[derive(Debug)]
pub struct Marking {
    /// All rules: those of the files, then those of the properties.
    pub rules: Rules,
    properties: Vec<Property>,
}

impl Marking {
    /// Reads what is named, for programs that get nothing else.
    ///
    /// # Errors
    /// As [`Marking::beside`], and choices that markers alone have no use for.
    pub fn alone(choices: &Choices) -> Result<Marking> {
        choices.check_marking()?;
        Marking::beside(choices)
    }

    /// Reads what is named, for programs that are counted, too.
    ///
    /// # Errors
    /// Files that cannot be read, rules and properties that are none.
    pub fn beside(choices: &Choices) -> Result<Marking> {
        let mut rules = rules(&choices.markers)?;
        let properties = properties::all(&choices.typestate)?;
        if !properties.is_empty() {
            let first = rules.list.len();
            rules.add(&cct_typestate::rules::rules(&properties)).context("rules of the properties")?;
            // Messages go by the lines of the file that the user wrote.
            let places = properties.iter().flat_map(|p| &p.events).flat_map(|event| &event.places);
            for (rule, place) in rules.list.iter_mut().skip(first).zip(places) {
                rule.line = place.line;
            }
        }
        Ok(Marking { rules, properties })
    }

    /// What the runtime reads of the properties; `None` if there are none.
    pub fn tables(&self) -> Option<String> {
        (!self.properties.is_empty()).then(|| encoded::encoded(&self.properties))
    }

    /// What an output says of itself.
    pub fn lines(&self) -> String {
        let typestate = if self.properties.is_empty() { String::new() } else { format!("{TYPESTATE}\n") };
        format!("rules={:016x}\ntool={TOOL}\n{typestate}", self.rules.hash())
    }

    /// The rules and properties as they would stand on a command line, by contents: where the files
    /// are does not matter.
    pub fn spelled(&self) -> Vec<String> {
        ["--tool=markers".to_owned()].into_iter().chain(self.spelled_rules()).collect()
    }

    /// The rules and properties as they would stand on a command line without `--tool`, as where
    /// the program is counted.
    pub fn spelled_rules(&self) -> Vec<String> {
        let tables = self.tables().map(|tables| format!("--typestate={:016x}", xxh3_64(tables.as_bytes())));
        let rules = format!("--markers={:016x}", self.rules.hash());
        [rules].into_iter().chain(tables).collect()
    }
}
