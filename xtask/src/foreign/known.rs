//! Differences whose cause is known.

/// A part of what a difference says, and the cause.
const KNOWN: &[(&str, &str)] = &[];

/// The cause of a difference, if it is known.
pub fn cause(difference: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(part, _)| difference.contains(part)).map(|(_, cause)| *cause)
}
