//! `cctrewrite pcc`: values of calling contexts, read (docs/pcc.md).

mod collisions;
mod contexts;
mod values;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cct_pcc::{Place, Recorded};
use cct_profile::names::escaped;
use cct_profile::report::grouped;

use crate::args::{PccCommand, PccDump, PccInfo};
use crate::exit::to_stdout;

/// Runs the command.
pub fn run(command: &PccCommand) -> Result<()> {
    match command {
        PccCommand::Info(arguments) => info(arguments),
        PccCommand::Dump(arguments) => dump(arguments),
        PccCommand::Contexts(arguments) => contexts::run(arguments),
        PccCommand::Collisions(arguments) => collisions::run(arguments),
    }
}

/// Reads a file of values.
pub fn read_values(path: &Path) -> Result<Recorded> {
    let shown = || path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Recorded::of_bytes(&bytes).with_context(shown)
}

/// A place as people read it.
fn method(place: &Place) -> String {
    let Place { class, name, descriptor } = place;
    escaped(&format!("{}.{name}{}", class.replace('/', "."), descriptor.replace(';', ",")))
}

fn info(arguments: &PccInfo) -> Result<()> {
    let recorded = read_values(&arguments.file)?;
    let values: usize = recorded.counts.values().map(|values| values.len()).sum();
    let counts = recorded.counts.values().flat_map(|values| values.values());
    let entries: u128 = counts.map(|&count| u128::from(count)).sum();
    to_stdout(|out| {
        writeln!(out, "{}", arguments.file.display())?;
        for key in ["main", "tool", "java.version", "exact", "selection", "pcc-at", "pcc-only"] {
            if let Some(value) = recorded.meta.get(key).filter(|value| !value.is_empty()) {
                writeln!(out, "  {key}: {}", escaped(value))?;
            }
        }
        let number = |number: usize| grouped(number as u128);
        writeln!(out, "{:>15}  methods at which values were recorded", number(recorded.counts.len()))?;
        writeln!(out, "{:>15}  values at these", number(values))?;
        writeln!(out, "{:>15}  entries", grouped(entries))?;
        if recorded.lost > 0 {
            let lost = grouped(u128::from(recorded.lost));
            writeln!(out, "{lost:>15}  entries for which there was no room: INCOMPLETE")?;
        }
        for note in &recorded.notes {
            writeln!(out, "note: {}", escaped(note))?;
        }
        Ok::<(), anyhow::Error>(())
    })
}

fn dump(arguments: &PccDump) -> Result<()> {
    let recorded = read_values(&arguments.file)?;
    to_stdout(|out| {
        for (place, values) in &recorded.counts {
            let method = method(place);
            for (value, count) in values {
                writeln!(out, "{count}\t{value}\t{method}")?;
            }
        }
        Ok::<(), anyhow::Error>(())
    })
}
