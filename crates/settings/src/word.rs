//! Values that have names on command lines and in outputs.

/// The name of a value, with its help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The spelling for users and in outputs.
    pub name: &'static str,
    /// One sentence for `--help`.
    pub help: &'static str,
}

/// A type whose values have names.
pub trait NamedValues: Copy + PartialEq + 'static {
    /// All values, in the order of their help.
    const VALUES: &'static [Self];
    /// The names of all values, in the same order.
    const WORDS: &'static [Word];

    /// Position of this value in both lists.
    fn index(self) -> usize {
        Self::VALUES.iter().position(|value| *value == self).unwrap_or_default()
    }

    /// The value's name.
    fn name(self) -> &'static str {
        Self::WORDS.get(self.index()).map_or("", |word| word.name)
    }

    /// The value of that name.
    fn of_name(name: &str) -> Option<Self> {
        let index = Self::WORDS.iter().position(|word| word.name == name)?;
        Self::VALUES.get(index).copied()
    }
}

/// Names the values of an enum: `words! { Type: Variant "name" "help"; ... }`.
macro_rules! words {
    ($type:ty: $($value:ident $name:literal $help:literal;)+) => {
        impl $crate::word::NamedValues for $type {
            const VALUES: &'static [Self] = &[$(<$type>::$value),+];
            const WORDS: &'static [$crate::word::Word] =
                &[$($crate::word::Word { name: $name, help: $help }),+];
        }
    };
}

pub(crate) use words;
