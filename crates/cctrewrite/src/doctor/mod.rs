//! `cctrewrite doctor`: checks this installation, and describes it for bug reports.

mod installation;
mod jdks;
mod page;
mod trial;

use std::env::consts::{ARCH, OS};

use anyhow::Result;

use crate::args::Doctor;
use crate::exit::{Outcome, text_to_stdout};
use page::Page;

/// Runs the command.
pub fn run(arguments: &Doctor) -> Result<Outcome> {
    let mut page = Page::default();
    let version = env!("CARGO_PKG_VERSION");
    text_to_stdout(|out| {
        writeln!(out, "cctrewrite {version} on {OS} {ARCH}: each line with FAULT says what to do")
    })?;
    installation::libraries(&mut page)?;
    installation::cache(&mut page)?;
    installation::environment(&mut page)?;
    let homes = jdks::list(arguments, &mut page)?;
    if !arguments.no_trial {
        jdks::try_out(arguments, &homes, &mut page)?;
    }
    let faults = page.end(!arguments.no_trial)?;
    Ok(if faults == 0 { Outcome::Complete } else { Outcome::Different })
}
