//! The history of entries: a file to which `bench --history` appends, and `bench history`, which
//! shows it (docs/ci/pull-requests.md).

mod file;
mod page;
mod text;
mod trend;

use anyhow::{Result, bail};
use cct_build::pending_file::PendingFile;

pub use file::{History, HistoryLine, RunLabels};
pub use trend::Trend;

use crate::args::BenchHistory;
use crate::exit::{self, Outcome};

/// Runs `bench history`.
pub fn run(arguments: &BenchHistory) -> Result<Outcome> {
    let file = &arguments.file;
    let history = History::read(file)?;
    if history.lines().is_empty() {
        bail!("{}: no runs; `cctrewrite bench --history FILE` appends some", file.display());
    }
    let trends = Trend::of_all(history.lines(), arguments.last);
    match &arguments.html {
        Some(output) if output.as_os_str() == "-" => exit::to_stdout(|out| page::write(&trends, out))?,
        Some(output) => {
            let place = std::fs::canonicalize(output);
            if place.is_ok_and(|place| std::fs::canonicalize(file).is_ok_and(|file| file == place)) {
                bail!("the output would replace the input {}", file.display());
            }
            PendingFile::write(output, |out| page::write(&trends, out))?.commit()?;
        }
        None => exit::text_to_stdout(|out| text::write(&trends, out))?,
    }
    Ok(Outcome::Complete)
}
