//! `cctrewrite instrument`.

use anyhow::Result;
use cct_build::instrument::instrument;
use cct_build::threads::with_threads;

use crate::args::Instrument;

/// Rewrites the inputs, on the chosen number of threads.
pub fn run(arguments: &Instrument) -> Result<()> {
    let terminal = arguments.verbosity.terminal();
    with_threads(arguments.threads, || Ok(instrument(&arguments.request(), &terminal)?))
}
