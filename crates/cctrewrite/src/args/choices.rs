//! The options that decide how classes are rewritten, for the commands that rewrite or explain
//! classes.

use std::fs;
use std::ops::Deref;

use cct_settings::{Access, ChoiceOption, Heading, OPTIONS, tables};
use cct_tables::CostModel;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Maximum size of a table's file, in bytes.
const LARGEST_TABLE: u64 = 1 << 20;

/// The user's choices, read from the command line by the rows of [`OPTIONS`].
#[derive(Debug, Clone, Default)]
pub struct Choices(cct_settings::Choices);

impl Deref for Choices {
    type Target = cct_settings::Choices;

    fn deref(&self) -> &cct_settings::Choices {
        &self.0
    }
}

impl Choices {
    /// The choices themselves.
    pub fn get(&self) -> &cct_settings::Choices {
        &self.0
    }
}

/// The choices that `bench` offers.
#[derive(Debug, Clone, Default)]
pub struct BenchChoices(pub Choices);

impl Args for BenchChoices {
    fn augment_args(command: Command) -> Command {
        let rows = OPTIONS.iter().filter(|row| row.in_bench);
        by_heading(rows).into_iter().fold(command, |command, row| command.arg(argument(row)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        BenchChoices::augment_args(command)
    }
}

impl FromArgMatches for BenchChoices {
    fn from_arg_matches(matches: &ArgMatches) -> Result<BenchChoices, clap::Error> {
        let mut choices = BenchChoices::default();
        choices.update_from_arg_matches(matches)?;
        Ok(choices)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.read(matches, |row| row.in_bench)
    }
}

impl Args for Choices {
    fn augment_args(command: Command) -> Command {
        by_heading(OPTIONS.iter()).into_iter().fold(command, |command, row| command.arg(argument(row)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Choices::augment_args(command)
    }
}

impl FromArgMatches for Choices {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Choices, clap::Error> {
        let mut choices = Choices::default();
        choices.update_from_arg_matches(matches)?;
        Ok(choices)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.read(matches, |_| true)
    }
}

impl Choices {
    /// Reads the given values of the options that a command offers.
    fn read(
        &mut self,
        matches: &ArgMatches,
        is_offered: fn(&ChoiceOption) -> bool,
    ) -> Result<(), clap::Error> {
        for row in OPTIONS.iter().filter(|row| is_offered(row)) {
            let values: Vec<&str> = match row.access {
                Access::Switch { .. } if matches.get_flag(row.flag) => vec![""],
                Access::Switch { .. } => Vec::new(),
                _ => matches.get_many::<String>(row.flag).into_iter().flatten().map(String::as_str).collect(),
            };
            if matches.value_source(row.flag) == Some(ValueSource::CommandLine) {
                self.0.note_given(row.flag);
            }
            for value in values {
                apply(row, &mut self.0, value)
                    .map_err(|message| clap::Error::raw(ErrorKind::ValueValidation, message))?;
            }
        }
        Ok(())
    }
}

/// Applies one value of an option to the choices.
fn apply(row: &ChoiceOption, choices: &mut cct_settings::Choices, value: &str) -> Result<(), String> {
    match row.access {
        Access::Switch { set, .. } => set(choices),
        Access::OneOf { words, set, .. } => match words.iter().position(|word| word.name == value) {
            Some(index) => set(choices, index),
            None => return Err(format!("--{}: unknown value {value}", row.flag)),
        },
        Access::Table { set, .. } => set(choices, value, &read_table)?,
        Access::List { push, .. } => push(choices, value)?,
    }
    Ok(())
}

/// Rows sorted by heading: `--help` lists arguments in their order.
fn by_heading(rows: impl Iterator<Item = &'static ChoiceOption>) -> Vec<&'static ChoiceOption> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|row| row.heading);
    rows
}

/// An argument with its help. `-h` shows the first sentence of common options, `--help` all
/// sentences of all options.
pub fn headed(argument: Arg, help: &'static str, heading: Heading, is_common: bool) -> Arg {
    let first = help.find(". ").map_or(help, |end| &help[..end]);
    argument.help(first).long_help(help).help_heading(heading.text()).hide_short_help(!is_common)
}

/// The argument of an option.
fn argument(row: &'static ChoiceOption) -> Arg {
    let argument = headed(Arg::new(row.flag).long(row.flag), row.help, row.heading, row.is_common);
    let argument = match row.default() {
        Some(default) => argument.default_value(default),
        None => argument,
    };
    // This only tries the value on default choices, so that a message names the option. `read`
    // applies the value when all arguments are known.
    let try_value =
        |value: &str| apply(row, &mut cct_settings::Choices::default(), value).map(|()| value.to_owned());
    match row.access {
        Access::Switch { .. } => argument.action(ArgAction::SetTrue),
        Access::OneOf { words, .. } => {
            let values = words.iter().map(|word| PossibleValue::new(word.name).help(word.help));
            argument.value_name("VALUE").value_parser(PossibleValuesParser::new(values))
        }
        Access::Table { value, .. } => argument.value_name(value).value_parser(try_value),
        Access::List { value, .. } => {
            argument.value_name(value).value_parser(try_value).action(ArgAction::Append)
        }
    }
}

/// The built-in cost model of this name, or the one in this file.
pub fn cost_model(given: &str) -> Result<&'static CostModel, String> {
    tables::cost_model(given, &read_table)
}

/// The text of a table that a user wrote.
fn read_table(path: &str) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|e| e.to_string())?;
    if about.is_file() && about.len() > LARGEST_TABLE {
        return Err(format!("it has {} bytes; the limit for a table is {LARGEST_TABLE} bytes", about.len()));
    }
    fs::read_to_string(path).map_err(|e| e.to_string())
}
