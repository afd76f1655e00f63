//! The threads that work is done with.

/// The system refuses threads.
#[derive(Debug, thiserror::Error)]
#[error("cannot start worker threads")]
pub struct ThreadsError {
    source: rayon::ThreadPoolBuildError,
}

/// Runs `work` with a number of threads, by default one for each core.
///
/// # Errors
/// Those of the work, and [`ThreadsError`].
pub fn with_threads<T: Send, E: From<ThreadsError> + Send>(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = threads {
        pool = pool.num_threads(threads.into());
    }
    pool.build().map_err(|source| ThreadsError { source })?.install(work)
}
