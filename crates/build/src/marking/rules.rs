//! Rules and properties for markers: files of rules, and files of properties, whose events become
//! rules.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use cct_markers::Rules;
use cct_settings::Choices;
use cct_typestate::{Property, encoded};
use xxhash_rust::xxh3::xxh3_64;

use super::{TYPESTATE, properties};
use crate::inputs::TOOL;

/// Maximum size of a file of rules, in bytes.
const LARGEST: u64 = 16 << 20;

/// Reads files of rules.
///
/// # Errors
/// Fails if a file cannot be read, or if it has no rules.
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
    /// Reads the rules and properties for programs with markers alone.
    ///
    /// # Errors
    /// Fails as [`Marking::beside`] does, if options cannot be combined, or if nothing is to be
    /// marked.
    pub fn alone(choices: &Choices) -> Result<Marking> {
        choices.check_marking()?;
        Marking::beside(choices)
    }

    /// Reads the rules and properties for programs with markers and a calling-context tree.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or if its rules or properties are invalid.
    pub fn beside(choices: &Choices) -> Result<Marking> {
        let mut rules = rules(&choices.markers)?;
        let properties = properties::all(&choices.typestate)?;
        if !properties.is_empty() {
            let first = rules.list.len();
            rules.add(&cct_typestate::rules::rules(&properties)).context("rules of the properties")?;
            // Messages state the lines of the file that the user wrote.
            let places = properties.iter().flat_map(|p| &p.events).flat_map(|event| &event.places);
            for (rule, place) in rules.list.iter_mut().skip(first).zip(places) {
                rule.line = place.line;
            }
        }
        Ok(Marking { rules, properties })
    }

    /// The tables of the properties for the runtime; `None` without properties.
    pub fn tables(&self) -> Option<String> {
        (!self.properties.is_empty()).then(|| encoded::encoded(&self.properties))
    }

    /// The lines of an output's description.
    pub fn lines(&self) -> String {
        let typestate = if self.properties.is_empty() { String::new() } else { format!("{TYPESTATE}\n") };
        format!("rules={:016x}\ntool={TOOL}\n{typestate}", self.rules.hash())
    }

    /// The options for these rules and properties, with hashes of contents instead of paths. So the
    /// location of the files does not matter.
    pub fn spelled(&self) -> Vec<String> {
        ["--tool=markers".to_owned()].into_iter().chain(self.spelled_rules()).collect()
    }

    /// The options of [`Marking::spelled`] without `--tool`, as with a calling-context tree.
    pub fn spelled_rules(&self) -> Vec<String> {
        let tables = self.tables().map(|tables| format!("--typestate={:016x}", xxh3_64(tables.as_bytes())));
        let rules = format!("--markers={:016x}", self.rules.hash());
        [rules].into_iter().chain(tables).collect()
    }
}
