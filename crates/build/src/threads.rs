//! The threads that work is done with.

use anyhow::{Context, Result};

/// Runs `work` with a number of threads, by default one for each core.
///
/// # Errors
/// Those of the work, and threads that the system refuses.
pub fn with_threads<T: Send>(threads: Option<u16>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = threads {
        pool = pool.num_threads(threads.into());
    }
    pool.build().context("cannot start worker threads")?.install(work)
}
