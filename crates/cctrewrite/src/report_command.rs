//! `cctrewrite report`: profiles as text for people, or as the list of all contexts for programs.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use cct_profile::contexts::{ContextsOptions, write_contexts};
use cct_profile::merge::{MergeOptions, merge};
use cct_profile::names::NameStyle;
use cct_profile::report::{Order, ThreadView, TopOptions, TreeOptions, write_header, write_top, write_tree};
use cct_profile::{Profile, ReportError};

use crate::args::{OrderArgument, Report, ReportFormat};
use crate::exit::{self, Outcome};
use crate::profile_file::{open, shown};

/// Runs the command.
pub fn run(arguments: &Report) -> Result<Outcome> {
    let mut profiles = Vec::with_capacity(arguments.profiles.len());
    for path in &arguments.profiles {
        profiles.push(read(path)?);
    }
    let damaged = profiles.iter().any(|profile| !profile.damage.is_empty());
    for (path, profile) in arguments.profiles.iter().zip(&profiles) {
        for damage in &profile.damage {
            exit::say(&format!("cctrewrite: {}: {damage}", shown(path)));
        }
    }
    let profile = match <[Profile; 1]>::try_from(profiles) {
        Ok([only]) => only,
        Err(several) => {
            let several: Vec<&Profile> = several.iter().collect();
            merge(&several, MergeOptions::default()).context("these profiles cannot be added up")?
        }
    };
    exit::to_stdout(|out| write(arguments, &profile, out))?;
    Ok(if damaged { Outcome::Damaged } else { Outcome::Complete })
}

fn read(path: &Path) -> Result<Profile> {
    Profile::read_from(open(path)?).with_context(|| shown(path))
}

fn write(arguments: &Report, profile: &Profile, out: &mut dyn Write) -> Result<(), ReportError> {
    let names = if arguments.raw_names { NameStyle::Raw } else { NameStyle::Normalised };
    match arguments.format {
        ReportFormat::Contexts => {
            let options = ContextsOptions { per_thread: arguments.per_thread, names };
            write_contexts(profile, options, out)
        }
        ReportFormat::Text => {
            write_header(profile, out)?;
            let tree = TreeOptions {
                threads: if arguments.per_thread { ThreadView::Each } else { ThreadView::Merged },
                min_percent: arguments.min_percent,
                depth: arguments.depth,
                width: arguments.width,
                names,
            };
            write_tree(profile, tree, out)?;
            let Some(limit) = arguments.top else { return Ok(()) };
            let order = match arguments.sort {
                OrderArgument::Own => Order::Own,
                OrderArgument::Inclusive => Order::Inclusive,
                OrderArgument::Calls => Order::Calls,
            };
            write_top(profile, TopOptions { order, limit, width: arguments.width, names }, out)
        }
    }
}
