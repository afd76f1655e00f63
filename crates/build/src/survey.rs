//! Visits all classes of an input, with a visitor that cannot fail.

use std::convert::Infallible;

use cct_archive::{Failure, Input, Location, Survey};

/// Passes all classes of an input, including those of nested archives, to `visit` in parallel.
/// Returns the results in input order.
///
/// # Errors
/// Fails if the input cannot be read.
pub fn survey<T: Send>(
    input: &Input,
    visit: impl Fn(&Location<'_>, &[u8]) -> T + Sync,
) -> Result<Survey<T>, cct_archive::Error> {
    let survey = input.survey(|at, bytes| Ok::<T, Infallible>(visit(at, bytes)));
    survey.map_err(|failure| match failure {
        Failure::Archive(error) => error,
        Failure::Callback { cause, .. } => match cause {},
    })
}
