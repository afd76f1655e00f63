//! `cctrewrite typestate`: properties, and reports of runs about them (docs/research/typestate.md).

mod check;
mod report;

use anyhow::{Result, anyhow};
use cct_build::marking::properties::properties;
use cct_typestate::{encoded, rules, shipped};

use crate::args::{TypestateCommand, TypestateShipped};
use crate::exit::Outcome;
use crate::typestate_command::report::write;

/// Runs the command.
pub fn run(command: &TypestateCommand) -> Result<Outcome> {
    match command {
        TypestateCommand::Check(arguments) => check::run(arguments)?,
        TypestateCommand::Shipped(arguments) => show(arguments)?,
        TypestateCommand::Rules(arguments) => {
            write(arguments.output.as_deref(), &rules::rules(&properties(&arguments.file)?))?;
        }
        TypestateCommand::Tables(arguments) => {
            write(arguments.output.as_deref(), &encoded::encoded(&properties(&arguments.file)?))?;
        }
        TypestateCommand::Report(arguments) => return report::run(arguments),
    }
    Ok(Outcome::Complete)
}

fn show(arguments: &TypestateShipped) -> Result<()> {
    let names = || shipped::names().collect::<Vec<_>>();
    let text = match &arguments.name {
        None => names().join("\n") + "\n",
        Some(name) => shipped::text(name)
            .ok_or_else(|| anyhow!("no built-in property '{name}'; there are {}", names().join(", ")))?
            .to_owned(),
    };
    write(None, &text)
}
