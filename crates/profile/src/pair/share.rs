//! The part of a profile that a selection keeps.

use std::fmt;

use crate::diff::Percentage;

/// A part of a total count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The part.
    pub part: u128,
    /// The total.
    pub whole: u128,
}

impl Share {
    /// Whether the part is less than this much of the whole. No part of nothing is too small.
    pub fn is_below(self, least: Percentage) -> bool {
        !least.is_reached_by(self.part, self.whole)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In hundredths of a percent, rounded down: less than all is never shown as all.
        let hundredths = match self.whole {
            0 => 10_000,
            whole => self.part.saturating_mul(10_000) / whole,
        };
        match (hundredths, self.part) {
            (0, 1..) => f.write_str("less than 0.01%"),
            (10_000, _) => f.write_str("100%"),
            _ => write!(f, "{}.{:02}%", hundredths / 100, hundredths % 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down_and_never_to_nothing() {
        let shown = |part, whole| Share { part, whole }.to_string();
        assert_eq!([shown(1, 3), shown(9_999_999, 10_000_000)], ["33.33%", "99.99%"]);
        assert_eq!([shown(1, 1_000_000), shown(0, 7)], ["less than 0.01%", "0.00%"]);
        assert_eq!([shown(7, 7), shown(0, 0)], ["100%", "100%"]);
    }

    #[test]
    fn half_is_not_below_half() {
        let least: Percentage = "50%".parse().expect("a percentage");
        let below = |part, whole| Share { part, whole }.is_below(least);
        assert_eq!([below(1, 2), below(49, 100), below(0, 0), below(0, 1)], [false, true, false, true]);
    }
}
