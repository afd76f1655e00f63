//! Faults of a property file, with their locations.

use crate::automaton::{MOST_EVENTS, TooLarge};
use crate::expression::ExpressionError;

/// A fault of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The character of that line, from 1.
    pub column: usize,
    /// The fault at that location.
    pub problem: Problem,
}

/// The fault at a location of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Invalid TOML: the message of the TOML reader.
    #[error("{0}")]
    Syntax(String),
    /// An unknown key.
    #[error("unknown key '{key}': the keys are {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The known ones.
        known: String,
    },
    /// A missing key.
    #[error("{of} has no '{key}'")]
    Missing {
        /// The table that lacks it.
        of: String,
        /// The key.
        key: &'static str,
    },
    /// A value of a different kind than the key's.
    #[error("'{key}' must be {kind}")]
    Kind {
        /// The key.
        key: String,
        /// The required kind.
        kind: &'static str,
    },
    /// An invalid name of a property.
    #[error(
        "\"{0}\" is not a valid property name: use at most 60 letters, digits, '_' and '-', a \
             letter first"
    )]
    PropertyName(String),
    /// Two properties with the same name.
    #[error("there is already a property \"{0}\" above")]
    Twice(String),
    /// An invalid name of an event.
    #[error("'{0}' is not a valid event name: use at most 60 letters, digits, '_' and '-', a letter first")]
    EventName(String),
    /// Too many events.
    #[error("property \"{0}\" has too many events: the limit is {MOST_EVENTS}")]
    Events(String),
    /// An event that the expression lacks: the author must have meant something else.
    #[error(
        "event '{0}' is not in the expression, so every occurrence would be a violation; write `.` \
         for any event, or leave it out"
    )]
    Unused(String),
    /// An invalid expression.
    #[error(transparent)]
    Expression(ExpressionError),
    /// An expression with too many states.
    #[error(transparent)]
    TooLarge(TooLarge),
    /// An expression that accepts everything.
    #[error("the expression of \"{0}\" accepts everything: there is nothing to check")]
    AcceptsAll(String),
    /// An unknown role.
    #[error("\"{0}\" is none of \"receiver\", \"result\" and \"argument 0\" to \"argument 254\"")]
    Role(String),
    /// The result of a call before its return.
    #[error("'{0}' = \"result\" is known when = \"return\" only")]
    ResultBefore(&'static str),
    /// A role that only properties of pairs have.
    #[error("'{0}' is for properties of pairs: objects = [\"PARENT\", \"CHILD\"]")]
    NoPair(&'static str),
    /// A missing role.
    #[error(
        "in a property of pairs a place needs 'parent', 'child', or both where the child comes \
         from the parent"
    )]
    NoRole,
    /// Locations of an event that are of different kinds.
    #[error("all places of event '{0}' must have the same of 'parent' and 'child'")]
    Mixed(String),
    /// A pair without an event that creates it.
    #[error("no event of \"{0}\" has both 'parent' and 'child', which is needed to match them")]
    NoCreation(String),
    /// Calls by subtype without the classes of their receivers.
    #[error(
        "event '{0}' has callee-subtypes, but [property.types] does not name the classes of its \
         receivers, which some calls show at run time only"
    )]
    NoTypes(String),
    /// A location without a condition.
    #[error(
        "a place of event '{0}' must at least have 'class', 'subtypes-of', 'annotated', 'callee' or 'type'"
    )]
    Nowhere(String),
}

/// The form in which a message shows a text of unknown origin.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 { short + "..." } else { short }
}
