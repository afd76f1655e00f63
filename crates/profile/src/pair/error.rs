//! Why two inputs cannot be compared, and what helps.

use super::Side;
use crate::suggestions::Suggestions;
use crate::{ContextId, MergeError};

/// Why two inputs cannot be compared. The text names no options: [`PairError::remedy`] says what
/// helps, and each command has its own option for that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    /// Objects on one side, calls on the other.
    #[error("{0} does not count objects, and the other side counts only objects")]
    Objects(Side),
    /// This side has no bytecodes to compare with those of the other.
    #[error("{0} counts only calls, the other side also counts bytecodes")]
    NoBytecodes(Side),
    /// Methods with bytecodes on one side have none on the other.
    #[error(
        "A and B count intrinsics by different rules ({a} and {b}): methods that have bytecodes in \
         one have none in the other"
    )]
    Intrinsics {
        /// The choice of A (`META` key `intrinsics`).
        a: String,
        /// The choice of B.
        b: String,
    },
    /// Numbers of different things.
    #[error("A and B count by different cost models ({a} and {b}), and their numbers cannot be compared")]
    CostModels {
        /// The model of A (`META` key `cost-model`), or what A counts without one.
        a: String,
        /// The model of B, or what B counts without one.
        b: String,
    },
    /// Threads were added up when the list was written.
    #[error("{0}, a list of contexts, has the sum of all threads")]
    NoThreads(Side),
    /// No thread of this name.
    #[error("neither side has a thread '{0}'")]
    NoSuchThread(String),
    /// No method matches the root or the focus.
    #[error("no context of either side has the method '{given}'{similar}")]
    NoSuchMethod {
        /// The pattern, or several.
        given: String,
        /// Methods that there are, close to the first pattern.
        similar: Suggestions,
    },
    /// No context has the id.
    #[error("no context of either side has the id {0}")]
    NoSuchContext(ContextId),
    /// Sums that do not fit.
    #[error("{0} cannot be added up: {1}")]
    Merge(Side, MergeError),
}

/// What helps if two inputs cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Compare calls alone.
    CallsOnly,
    /// Write the list of contexts thread by thread, or compare the sums of all threads.
    ThreadsOfList,
    /// Look up the ids of contexts.
    Ids,
}

impl PairError {
    /// What helps; `None` if nothing does, or if the text says it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            PairError::NoBytecodes(_) | PairError::Intrinsics { .. } | PairError::CostModels { .. } => {
                Some(Remedy::CallsOnly)
            }
            PairError::NoThreads(_) => Some(Remedy::ThreadsOfList),
            PairError::NoSuchContext(_) => Some(Remedy::Ids),
            PairError::Objects(_)
            | PairError::NoSuchThread(_)
            | PairError::NoSuchMethod { .. }
            | PairError::Merge(..) => None,
        }
    }
}
