//! `cctrewrite pcc`: reads values of calling contexts (docs/research/pcc.md).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cct_build::text::counted;
use cct_pcc::RecordedValues;
use cct_values::collisions::Counts;
use cct_values::contexts::{DisplayOptions, everywhere, found, write};
use cct_values::report;

use crate::args::{PccCollisions, PccCommand, PccContexts, PccDump, PccInfo};
use crate::exit::{say, to_stdout};
use crate::profile_file::read;

/// Runs the command.
pub fn run(command: &PccCommand) -> Result<()> {
    match command {
        PccCommand::Info(arguments) => info(arguments),
        PccCommand::Dump(arguments) => dump(arguments),
        PccCommand::Contexts(arguments) => contexts(arguments),
        PccCommand::Collisions(arguments) => collisions(arguments),
    }
}

/// Reads a file of values.
pub fn read_values(path: &Path) -> Result<RecordedValues> {
    let shown = || path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    RecordedValues::of_bytes(&bytes).with_context(shown)
}

fn info(arguments: &PccInfo) -> Result<()> {
    let recorded = read_values(&arguments.file)?;
    to_stdout(|out| {
        writeln!(out, "{}", arguments.file.display())?;
        report::info(&recorded, out)
    })
}

fn dump(arguments: &PccDump) -> Result<()> {
    let recorded = read_values(&arguments.file)?;
    to_stdout(|out| report::dump(&recorded, out))
}

fn contexts(arguments: &PccContexts) -> Result<()> {
    let profile = read(&arguments.tree)?;
    let tree = || arguments.tree.display().to_string();
    let recorded = match &arguments.file {
        Some(file) => read_values(file)?,
        None => everywhere(&arguments.value, &profile).with_context(tree)?,
    };
    let found = found(&recorded, &profile).with_context(tree)?;
    let shown = DisplayOptions { top: arguments.top, how_often: arguments.file.is_some() };
    to_stdout(|out| write(&recorded, &profile, &found, shown, out))?;
    if found.left_out > 0 {
        say(&format!(
            "note: {} of the tree have no value: methods without a name call them",
            counted(found.left_out, "context")
        ));
    }
    if !recorded.meta.get("pcc-only").is_none_or(String::is_empty) {
        say("note: values cover only some methods (--pcc-only): contexts that differ only in other \
             methods share a value");
    }
    Ok(())
}

fn collisions(arguments: &PccCollisions) -> Result<()> {
    let profile = read(&arguments.tree)?;
    let counts = Counts::of(&profile).with_context(|| arguments.tree.display().to_string())?;
    to_stdout(|out| counts.write(out))
}
