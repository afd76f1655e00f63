//! Access to an option's value: its kind, and the functions that read and set it.

use crate::choices::Choices;
use crate::tables::ReadFile;
use crate::word::Word;

/// The kind of an option's value, with the functions that read and set it.
#[derive(Clone, Copy)]
pub enum Access {
    /// No value: the option is present or not.
    Switch {
        /// Whether it was given.
        get: fn(&Choices) -> bool,
        /// Turns it on.
        set: fn(&mut Choices),
    },
    /// One of several words, by position.
    OneOf {
        /// The words.
        words: &'static [Word],
        /// The chosen one.
        get: fn(&Choices) -> usize,
        /// Chooses one.
        set: fn(&mut Choices, usize),
    },
    /// A built-in table or a file.
    Table {
        /// Placeholder in `--help`.
        value: &'static str,
        /// Name of the default, if there is one.
        default: Option<&'static str>,
        /// The table, if there is one: its name, or its name and the hash of its contents.
        get: fn(&Choices) -> Option<String>,
        /// Chooses the table of that name or in that file.
        set: fn(&mut Choices, &str, &ReadFile<'_>) -> Result<(), String>,
    },
    /// Any number of values.
    List {
        /// Placeholder in `--help`.
        value: &'static str,
        /// The values.
        get: fn(&Choices) -> Vec<String>,
        /// Adds one.
        push: fn(&mut Choices, &str) -> Result<(), String>,
    },
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Access::Switch { .. } => "Switch",
            Access::OneOf { .. } => "OneOf",
            Access::Table { .. } => "Table",
            Access::List { .. } => "List",
        })
    }
}
