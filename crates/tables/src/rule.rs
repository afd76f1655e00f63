//! The rule by which basic blocks end.

use std::borrow::Cow;

use crate::ends::BlockEnds;

/// The instructions after which a basic block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockRule {
    /// After jumps, branches, switches, returns and `athrow`.
    Default,
    /// After the instructions of `Default`, and after each instruction that may throw.
    Precise,
    /// The blocks of `Precise`, counted with few updates.
    Exact,
    /// After the instructions of `Default`, and after those of a table (JP 4, custom basic-block
    /// analyses).
    Custom(&'static BlockEnds),
}

impl BlockRule {
    /// The rules that need no table.
    pub const BUILT_IN: [BlockRule; 3] = [BlockRule::Exact, BlockRule::Precise, BlockRule::Default];

    /// The rule's name in options and outputs; for a table its name, `@`, and the hash of its
    /// contents.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            BlockRule::Default => "default".into(),
            BlockRule::Precise => "precise".into(),
            BlockRule::Exact => "exact".into(),
            BlockRule::Custom(ends) => ends.id().into(),
        }
    }
}
