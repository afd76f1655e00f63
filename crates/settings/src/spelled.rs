//! Choices as options of a command line.

use crate::access::Access;
use crate::choices::{Choices, TOOL, ToolName};
use crate::options::{ChoiceOption, OPTIONS, SpellingCondition};

impl Choices {
    /// The options other than `--tool` that the user gave: flag, and the option with its values as
    /// on a command line. Options that name files are omitted, since only the contents matter.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        let is_given = |row: &&ChoiceOption| {
            row.spelled != SpellingCondition::Never && row.flag != TOOL && self.given.contains(row.flag)
        };
        OPTIONS.iter().filter(is_given).map(|row| (row.flag, row.spelling(self)))
    }

    /// The choices as options of a command line, in the order of [`OPTIONS`], those with defaults
    /// too. Paths are omitted: the location of a file does not matter.
    pub fn spelled(&self) -> Vec<String> {
        let is_spelled = |row: &&ChoiceOption| match row.spelled {
            SpellingCondition::Always => true,
            SpellingCondition::IfGiven => row.is_given(self),
            SpellingCondition::WithValues => self.tool == ToolName::Pcc,
            SpellingCondition::Never => false,
        };
        OPTIONS.iter().filter(is_spelled).flat_map(|row| row.spelling(self)).collect()
    }
}

impl ChoiceOption {
    /// The option with its value, as on a command line; one for each value of a list.
    fn spelling(&self, choices: &Choices) -> Vec<String> {
        let flag = self.flag;
        match self.access {
            Access::Switch { get, .. } if get(choices) => vec![format!("--{flag}")],
            Access::Switch { .. } => Vec::new(),
            Access::OneOf { words, get, .. } => {
                words.get(get(choices)).map(|word| format!("--{flag}={}", word.name)).into_iter().collect()
            }
            Access::Table { get, .. } => {
                get(choices).map(|id| format!("--{flag}={id}")).into_iter().collect()
            }
            Access::List { get, .. } => {
                get(choices).into_iter().map(|value| format!("--{flag}={value}")).collect()
            }
        }
    }
}
