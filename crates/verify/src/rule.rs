//! The rules by which bytecodes are counted.

/// A rule by which bytecodes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The node is exact wherever control may leave for good or wait.
    Exact,
    /// Blocks end where an instruction may throw, or where the output's own table says.
    Precise,
    /// Blocks end at jumps.
    Default,
    /// Nothing is counted.
    None,
}

impl Rule {
    /// All rules, the most demanding first.
    pub const ALL: [Rule; 4] = [Rule::Exact, Rule::Precise, Rule::Default, Rule::None];

    /// The name of the rule in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Exact => "exact",
            Rule::Precise => "precise",
            Rule::Default => "default",
            Rule::None => "none",
        }
    }
}
