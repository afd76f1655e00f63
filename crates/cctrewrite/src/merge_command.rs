//! `cctrewrite merge`: adds up profiles into one.

use std::fs;

use anyhow::{Result, bail};
use cct_build::pending_file::PendingFile;
use cct_profile::merge::{MergeOptions, Threads};
use cct_profile::united_methods::Bodies;

use crate::args::{Merge, ThreadsArgument};
use crate::exit::{self, Outcome};
use crate::profile_file::{check_stdin, is_stdin, merge, shown};

/// Runs the command.
pub fn run(arguments: &Merge) -> Result<Outcome> {
    let paths = &arguments.profiles;
    check_stdin(paths)?;
    let options = MergeOptions {
        threads: match arguments.threads {
            ThreadsArgument::ByName => Threads::ByName,
            ThreadsArgument::All => Threads::All,
            ThreadsArgument::Apart => Threads::Apart,
        },
        bodies: if arguments.join_bodies { Bodies::Together } else { Bodies::Apart },
    };
    let wanted = arguments.wanted.wanted()?;
    let library = arguments.library.library()?;
    let output = &arguments.output;
    // If the output were also an input, a second run would add the sum to itself.
    if let Some(path) = paths.iter().find(|path| is_same_file(path, output)) {
        bail!("{} is both input and output; name another output", shown(path));
    }
    let (sum, damage) = merge(paths, options, |profile| {
        let mut profile = arguments.sites.of(profile)?;
        if let Some(wanted) = &wanted {
            profile = wanted.of(profile)?;
        }
        match &library {
            Some(library) => library.collapsed_for_good(profile),
            None => Ok(profile),
        }
    })?;
    if is_stdin(output) {
        exit::to_stdout(|out| sum.write(out))?;
    } else {
        PendingFile::write_profile(output, |out| sum.write(out))?.commit()?;
    }
    Ok(if damage.is_empty() { Outcome::Complete } else { Outcome::Damaged })
}

fn is_same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    !is_stdin(a)
        && !is_stdin(b)
        && matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
