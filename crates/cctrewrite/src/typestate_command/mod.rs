//! `cctrewrite typestate`: properties and what runs found of them (docs/typestate.md).

mod check;
mod report;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cct_typestate::{Property, encoded, file, rules, shipped};

use crate::args::{TypestateCommand, TypestateShipped};
use crate::exit::{Outcome, to_stdout};
use crate::pending_file::PendingFile;

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

/// The properties of several files, or of such as come along.
pub fn all(files: &[PathBuf]) -> Result<Vec<Property>> {
    let mut all: Vec<Property> = Vec::new();
    for path in files {
        for property in properties(path)? {
            if all.iter().any(|known| known.name == property.name) {
                bail!(
                    "{}: there is a property \"{}\" in another file already",
                    path.display(),
                    property.name
                );
            }
            all.push(property);
        }
    }
    Ok(all)
}

/// The properties of a file, or of one that comes along.
fn properties(path: &Path) -> Result<Vec<Property>> {
    let text = match path.to_str().and_then(shipped::text) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(path).with_context(|| {
            let known = shipped::names().collect::<Vec<_>>().join(", ");
            format!("cannot read {} (what comes along is {known})", path.display())
        })?,
    };
    let properties = file::parse(&text).with_context(|| path.display().to_string())?;
    if properties.is_empty() {
        return Err(anyhow!("{} has no [[property]]", path.display()));
    }
    Ok(properties)
}

fn show(arguments: &TypestateShipped) -> Result<()> {
    let names = || shipped::names().collect::<Vec<_>>();
    let text = match &arguments.name {
        None => names().join("\n") + "\n",
        Some(name) => shipped::text(name)
            .ok_or_else(|| {
                anyhow!("no file of properties comes along as '{name}': there are {}", names().join(", "))
            })?
            .to_owned(),
    };
    write(None, &text)
}

fn write(output: Option<&Path>, text: &str) -> Result<()> {
    match output {
        None => to_stdout(|out| out.write_all(text.as_bytes())),
        Some(path) => PendingFile::write(path, |out| Ok(out.write_all(text.as_bytes())?))?.commit(),
    }
}
