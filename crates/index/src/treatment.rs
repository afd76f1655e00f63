//! Treatments: the ways in which the rewriter handles a method (docs/internals/treatments.md).

/// The treatment of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Treatment {
    /// The body is under the extended signature (ESI); the original one becomes a
    /// native-to-bytecode wrapper (N2B).
    Wrapped,
    /// The body is under both signatures (ESI and OSI), so that no frame lies between it and its
    /// caller.
    Duplicated,
    /// The body is under the original signature (OSI); the extended one stores the context and
    /// calls the original one virtually.
    Redispatched,
    /// No body; the extended signature stores the context and calls the original one virtually.
    AbstractRedispatched,
    /// The body is under the original signature only (OSI).
    OriginalOnly,
    /// A native; the extended signature is a bytecode-to-native wrapper (B2N).
    Native,
    /// A native that never calls back; the extended signature counts and calls it.
    LeafNative,
    /// The original stays unchanged for the VM; the extended signature counts and calls it.
    Magic,
    /// Unchanged; callers that can prove which method they call count it.
    CallerCounted,
    /// Unchanged, and called without extension.
    Untouched,
    /// Unchanged, so that the VM may replace it with its own code; the extended signature counts
    /// and calls it.
    Intrinsic,
    /// A renamed native; a method that counts and calls it replaces it, under the original
    /// signature only.
    Prefixed,
}

impl Treatment {
    /// Whether there is an extended form.
    pub fn has_extended_form(self) -> bool {
        !matches!(
            self,
            Treatment::OriginalOnly | Treatment::CallerCounted | Treatment::Untouched | Treatment::Prefixed
        )
    }

    /// Whether the extended form calls the original one virtually; `super.m()` must not call it.
    pub fn is_redispatch(self) -> bool {
        matches!(self, Treatment::Redispatched | Treatment::AbstractRedispatched)
    }

    /// All treatments, in the order of their codes.
    pub const ALL: [Treatment; 12] = [
        Treatment::Wrapped,
        Treatment::Duplicated,
        Treatment::Redispatched,
        Treatment::AbstractRedispatched,
        Treatment::OriginalOnly,
        Treatment::Native,
        Treatment::LeafNative,
        Treatment::Magic,
        Treatment::CallerCounted,
        Treatment::Untouched,
        Treatment::Intrinsic,
        Treatment::Prefixed,
    ];

    /// The code of the treatment in indexes and class attributes (docs/reference/formats/index.md).
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The treatment with this code.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Treatment::Wrapped => "wrapped",
            Treatment::Duplicated => "duplicated",
            Treatment::Redispatched => "redispatched",
            Treatment::AbstractRedispatched => "abstract-redispatched",
            Treatment::OriginalOnly => "original-only",
            Treatment::Native => "native",
            Treatment::LeafNative => "leaf-native",
            Treatment::Magic => "magic",
            Treatment::CallerCounted => "caller-counted",
            Treatment::Untouched => "untouched",
            Treatment::Intrinsic => "intrinsic",
            Treatment::Prefixed => "prefixed",
        }
    }
}
