//! `cctrewrite merge`: profiles added up into one.

use std::fs;

use anyhow::{Context, Result, bail};
use cct_profile::merge::{Bodies, MergeOptions, Merger, Threads};

use crate::args::{Merge, ThreadsArgument};
use crate::exit::{self, Outcome};
use crate::pending_file::PendingFile;
use crate::profile_file::{CANNOT, check_stdin, is_stdin, name, read, shown};

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
    let output = &arguments.output;
    let mut merger = Merger::new(options);
    let mut damaged = false;
    for path in paths {
        // It would hold the counts twice, and a second run would add it up with itself.
        if !is_stdin(output) && !is_stdin(path) && is_same_file(path, output) {
            bail!("{} is to be read and to be written", shown(path));
        }
        let profile = read(path)?;
        damaged |= !profile.damage.is_empty();
        merger.add(&name(path, paths), profile).context(CANNOT)?;
    }
    let sum = merger.finish().context(CANNOT)?;
    if is_stdin(output) {
        exit::to_stdout(|out| sum.write(out))?;
    } else {
        PendingFile::write(output, |out| Ok(sum.write(out)?))?.commit()?;
    }
    Ok(if damaged { Outcome::Damaged } else { Outcome::Complete })
}

fn is_same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
