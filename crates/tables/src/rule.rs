//! The rule by which basic blocks end.

use std::borrow::Cow;

use crate::ends::BlockEnds;

/// When a basic block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockRule {
    /// After jumps, branches, switches, returns and `athrow`.
    Default,
    /// As `Default`, and after each instruction that may throw.
    Precise,
    /// As `Precise`, counted with few updates.
    Exact,
    /// As `Default`, and after what a table says (JP 4, custom basic-block analyses).
    Custom(&'static BlockEnds),
}

impl BlockRule {
    /// The rules that need no table.
    pub const BUILT_IN: [BlockRule; 3] = [BlockRule::Exact, BlockRule::Precise, BlockRule::Default];

    /// Its name in options and outputs; of a table its name, `@`, and the hash of its contents.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            BlockRule::Default => "default".into(),
            BlockRule::Precise => "precise".into(),
            BlockRule::Exact => "exact".into(),
            BlockRule::Custom(ends) => ends.id().into(),
        }
    }
}
