//! The options that the runtime acts on, as arguments of `cctrewrite run`.

use std::ops::Deref;

use cct_rewrite::marks::MethodName;
use cct_settings::{Kind, RECORDING, RecordingOption};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use super::choices::headed;

/// The recording options of a run, read from the command line by the rows of [`RECORDING`].
#[derive(Debug, Clone, Default)]
pub struct Recording(cct_settings::Recording);

impl Deref for Recording {
    type Target = cct_settings::Recording;

    fn deref(&self) -> &cct_settings::Recording {
        &self.0
    }
}

impl Args for Recording {
    fn augment_args(command: Command) -> Command {
        RECORDING.iter().fold(command, |command, row| command.arg(argument(row)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Recording::augment_args(command)
    }
}

impl FromArgMatches for Recording {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Recording, clap::Error> {
        let mut recording = Recording::default();
        recording.update_from_arg_matches(matches)?;
        Ok(recording)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for row in RECORDING {
            if let Kind::Switch(_) = row.kind {
                if matches.get_flag(row.flag) {
                    self.0.set(row, "");
                }
                continue;
            }
            for value in matches.get_many::<String>(row.flag).into_iter().flatten() {
                self.0.set(row, value);
            }
        }
        Ok(())
    }
}

/// The argument of an option.
fn argument(row: &'static RecordingOption) -> Arg {
    let mut argument = headed(Arg::new(row.flag).long(row.flag), row.help, row.heading, row.is_common);
    if let Some(other) = row.requires {
        argument = argument.requires(other);
    }
    if let Some(other) = row.conflicts {
        argument = argument.conflicts_with(other);
    }
    match &row.kind {
        Kind::Switch(_) => argument.action(ArgAction::SetTrue),
        Kind::OneOf(words) => {
            let values = words.iter().map(|word| PossibleValue::new(word.name).help(word.help));
            let argument = argument.value_name("VALUE").value_parser(PossibleValuesParser::new(values));
            words.iter().take(1).fold(argument, |argument, word| argument.default_value(word.name))
        }
        Kind::Number { value, range } => {
            let numbers = value_parser!(u64).range(range.clone()).map(|number: u64| number.to_string());
            argument.value_name(value).value_parser(numbers)
        }
        Kind::Method => argument.value_name("METHOD").value_parser(method),
        Kind::Methods => argument.value_name("METHOD").value_parser(method).action(ArgAction::Append),
        Kind::Classes => argument.value_name("CLASS").action(ArgAction::Append),
        Kind::Path => argument.value_name("FILE").value_parser(path),
        Kind::Paths => argument.value_name("PATH").value_parser(path).action(ArgAction::Append),
        Kind::Text { value, default, check } => {
            let check = *check;
            let parse = move |text: &str| check(text).map(|()| text.to_owned());
            let argument = argument.value_name(value).value_parser(parse);
            default.iter().fold(argument, |argument, default| argument.default_value(default))
        }
    }
}

/// Checks that a method is written as the runtime reads it.
fn method(text: &str) -> Result<String, String> {
    match MethodName::parse(text) {
        Some(_) => Ok(text.to_owned()),
        None => {
            Err("expected a class and a method, as in com.acme.Main.run or com.acme.Main.run(I)V".to_owned())
        }
    }
}

/// Makes a path absolute: the JVM may run in another folder.
fn path(text: &str) -> Result<String, String> {
    let path = std::path::absolute(text).map_err(|e| e.to_string())?;
    path.into_os_string().into_string().map_err(|_| "the path is not Unicode; rename it".to_owned())
}
