//! What is wrong with a file, and where.

use crate::automaton::{MOST_EVENTS, TooLarge};
use crate::expression::ExpressionError;

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The character of that line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a place of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is no TOML: what the reader of that says.
    #[error("{0}")]
    Syntax(String),
    /// A key that there is not.
    #[error("'{key}' is unknown here: {known} stand here")]
    UnknownKey {
        /// The key.
        key: String,
        /// Those that there are.
        known: String,
    },
    /// A key that must be there.
    #[error("{of} has no '{key}'")]
    Missing {
        /// What lacks it.
        of: String,
        /// What it lacks.
        key: &'static str,
    },
    /// A value of another kind than the key has.
    #[error("'{key}' must be {kind}")]
    Kind {
        /// The key.
        key: String,
        /// What it must be.
        kind: &'static str,
    },
    /// A name of a property that is none.
    #[error("\"{0}\" is no name of a property: letters, digits, '_' and '-' are, a letter first, 60 at most")]
    PropertyName(String),
    /// Two properties of one name.
    #[error("there is a property \"{0}\" above already")]
    Twice(String),
    /// A name of an event that is none.
    #[error("'{0}' is no name of an event: letters, digits, '_' and '-' are, a letter first, 60 at most")]
    EventName(String),
    /// More events than are taken.
    #[error("property \"{0}\" has too many events: {MOST_EVENTS} are taken")]
    Events(String),
    /// An event that the expression does not have: whoever wrote that meant something else.
    #[error(
        "event '{0}' does not stand in the expression, so that wherever it happens would be a violation; write `.` where any event may be, or leave it out"
    )]
    Unused(String),
    /// An expression that is none.
    #[error(transparent)]
    Expression(ExpressionError),
    /// An expression of too many states.
    #[error(transparent)]
    TooLarge(TooLarge),
    /// An expression that accepts nothing but what nothing can be said of.
    #[error("the expression of \"{0}\" accepts whatever happens: there is nothing to check")]
    AcceptsAll(String),
    /// A role that there is not.
    #[error("\"{0}\" is none of \"receiver\", \"result\" and \"argument 0\" to \"argument 254\"")]
    Role(String),
    /// What a call returns, before it has.
    #[error("'{0}' = \"result\" is known when = \"return\" only")]
    ResultBefore(&'static str),
    /// A role that a property of single objects does not have.
    #[error("'{0}' is for properties of pairs: objects = [\"PARENT\", \"CHILD\"]")]
    NoPair(&'static str),
    /// A role that must be written down.
    #[error(
        "in a property of pairs a place must say who is meant: 'parent', 'child', or both where the one comes from the other"
    )]
    NoRole,
    /// Places of an event that are of different kinds.
    #[error("all places of event '{0}' must have the same of 'parent' and 'child'")]
    Mixed(String),
    /// A pair that nothing makes.
    #[error(
        "no event of \"{0}\" has both 'parent' and 'child': how would it be known which belong together?"
    )]
    NoCreation(String),
    /// A place that is nowhere.
    #[error(
        "a place of event '{0}' must at least have 'class', 'subtypes-of', 'annotated', 'callee' or 'type'"
    )]
    Nowhere(String),
}

/// What a message shows of a text that anybody wrote.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 { short + "..." } else { short }
}
