//! Rules and properties for markers: files of rules, and files of properties, whose events become
//! rules.

use std::fs;
use std::path::PathBuf;

use cct_markers::{Rules, RulesError};
use cct_settings::{Choices, RefusedOptions};
use cct_typestate::{Property, encoded};
use xxhash_rust::xxh3::xxh3_64;

use super::properties::PropertiesError;
use super::{TYPESTATE, properties};
use crate::file_error::{FileError, Operation};
use crate::inputs::TOOL;

/// A file of rules that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesFileError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is too large.
    #[error("{} has {size} bytes, too many for a file of markers", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// It is invalid.
    #[error("{}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The fault in a line.
        source: RulesError,
    },
}

/// Rules and properties that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MarkingError {
    /// Options cannot be combined.
    #[error(transparent)]
    Refused(#[from] RefusedOptions),
    /// A file of rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesFileError),
    /// A file of properties cannot be used.
    #[error(transparent)]
    Properties(#[from] PropertiesError),
    /// The rules that the properties become are invalid.
    #[error("rules of the properties")]
    OfProperties(#[source] RulesError),
}

/// Maximum size of a file of rules, in bytes.
const LARGEST: u64 = 16 << 20;

/// Reads files of rules.
///
/// # Errors
/// Fails if a file cannot be read, or if it has no rules.
pub fn rules(files: &[PathBuf]) -> Result<Rules, RulesFileError> {
    let mut rules = Rules::default();
    for file in files {
        let cannot = Operation::Read.failed_on(file);
        let size = fs::metadata(file).map_err(cannot)?.len();
        if size > LARGEST {
            return Err(RulesFileError::TooLarge { path: file.clone(), size });
        }
        let text = fs::read_to_string(file).map_err(cannot)?;
        rules.add(&text).map_err(|source| RulesFileError::Invalid { path: file.clone(), source })?;
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
    pub fn alone(choices: &Choices) -> Result<Marking, MarkingError> {
        choices.check_marking()?;
        Marking::beside(choices)
    }

    /// Reads the rules and properties for programs with markers and a calling-context tree.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or if its rules or properties are invalid.
    pub fn beside(choices: &Choices) -> Result<Marking, MarkingError> {
        let mut rules = rules(&choices.markers)?;
        let properties = properties::all(&choices.typestate)?;
        if !properties.is_empty() {
            let first = rules.list.len();
            rules.add(&cct_typestate::rules::rules(&properties)).map_err(MarkingError::OfProperties)?;
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
