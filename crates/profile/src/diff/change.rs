//! Changes of a number, and limits for them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A count in the base profile and in the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Before.
    pub base: u128,
    /// After.
    pub new: u128,
}

impl Change {
    /// The size of the change, without its direction.
    pub fn size(self) -> u128 {
        self.base.abs_diff(self.new)
    }

    /// Whether the count has grown, stayed or shrunk.
    pub fn direction(self) -> Ordering {
        self.new.cmp(&self.base)
    }

    /// The change in percent of the base; `None` if the base is 0.
    pub fn percent(self) -> Option<f64> {
        let size = self.size() as f64 * 100.0;
        match (self.direction(), self.base) {
            (Ordering::Equal, _) => Some(0.0),
            (_, 0) => None,
            (Ordering::Less, base) => Some(-(size / base as f64)),
            (Ordering::Greater, base) => Some(size / base as f64),
        }
    }

    /// Whether the count grew by more than this. A count that was 0 before grew by more than any
    /// percentage.
    pub fn exceeds(self, limit: Percentage) -> bool {
        self.new > self.base && limit.of(self.base) < Billionths::of(self.size())
    }
}

impl Change {
    /// Compares changes by their size relative to the base, and equal ones by their absolute size.
    /// A change from 0 is larger than any other.
    pub fn cmp_relative(self, other: Change) -> Ordering {
        let product = |size: u128, base: u128| size.saturating_mul(base);
        let is_new = |change: Change| change.base == 0 && change.new > 0;
        let ratio = product(self.size(), other.base).cmp(&product(other.size(), self.base));
        is_new(self).cmp(&is_new(other)).then(ratio).then(self.size().cmp(&other.size()))
    }
}

/// A percentage with up to nine decimals, kept exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentage {
    billionths: u64,
}

/// Billionths of a hundredth of counts: large enough for any product of a count and a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Billionths(u128);

impl Billionths {
    fn of(count: u128) -> Billionths {
        Billionths(count.saturating_mul(100 * u128::from(BILLION)))
    }
}

const BILLION: u64 = 1_000_000_000;

/// The maximum percentage: more is a typing error.
const MOST: u64 = 1_000_000;

impl Percentage {
    /// This percentage of a count.
    fn of(self, count: u128) -> Billionths {
        Billionths(count.saturating_mul(self.billionths.into()))
    }

    /// Whether a part is at least this percentage of a whole.
    pub fn is_reached_by(self, part: u128, whole: u128) -> bool {
        Billionths::of(part) >= self.of(whole)
    }
}

/// The error for a text that is no percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a percentage: a number from 0 to 1000000 with at most nine decimals, such as 1% or 0.5")]
pub struct NotAPercentage;

impl FromStr for Percentage {
    type Err = NotAPercentage;

    fn from_str(text: &str) -> Result<Percentage, NotAPercentage> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > 9 {
            return Err(NotAPercentage);
        }
        let whole: u64 = whole.parse().map_err(|_| NotAPercentage)?;
        let decimals: u64 = format!("{decimals:0<9}").parse().map_err(|_| NotAPercentage)?;
        if whole > MOST || whole == MOST && decimals > 0 {
            return Err(NotAPercentage);
        }
        Ok(Percentage { billionths: whole * BILLION + decimals })
    }
}

impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, decimals) = (self.billionths / BILLION, self.billionths % BILLION);
        let decimals = format!("{decimals:09}");
        let point = if self.billionths.is_multiple_of(BILLION) { "" } else { "." };
        write!(f, "{whole}{point}{} %", decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(base: u128, new: u128) -> Change {
        Change { base, new }
    }

    fn percentage(text: &str) -> Percentage {
        text.parse().expect("a percentage")
    }

    #[test]
    fn changes_are_relative_to_the_base() {
        assert_eq!([change(200, 210), change(200, 100)].map(Change::percent), [Some(5.0), Some(-50.0)]);
        assert_eq!(
            [change(0, 3), change(0, 0), change(7, 7)].map(Change::percent),
            [None, Some(0.0), Some(0.0)]
        );
        assert_eq!((change(3, 10).size(), change(10, 3).size()), (7, 7));
    }

    #[test]
    fn limits_are_exact() {
        // Exactly one percent is not more than one percent.
        assert!(!change(1000, 1010).exceeds(percentage("1%")));
        assert!(change(1000, 1011).exceeds(percentage("1")));
        let most = u128::from(u64::MAX);
        assert!(!change(most, most).exceeds(percentage("0")));
        assert!(change(most - 1, most).exceeds(percentage("0")));
        assert!(!change(most - 1, most).exceeds(percentage("0.000000001")));
        assert!(change(0, 1).exceeds(percentage("1000000")));
        assert!(!change(10, 1).exceeds(percentage("0")), "less is never too much");
        assert!(percentage("10").is_reached_by(1, 10) && !percentage("10.1").is_reached_by(1, 10));
    }

    #[test]
    fn percentages_are_read_as_they_are_written() {
        for (text, shown) in [
            ("1%", "1 %"),
            ("0", "0 %"),
            ("0.5", "0.5 %"),
            ("12.050 %", "12.05 %"),
            ("1.000000001", "1.000000001 %"),
        ] {
            assert_eq!(percentage(text).to_string(), shown, "{text}");
        }
        for wrong in [
            "",
            "%",
            "x",
            "-1",
            "1.",
            ".5",
            "1,5",
            "1e3",
            "0.1234567891",
            "1000000.1",
            "99999999999999999999",
            "1%%",
        ] {
            assert_eq!(wrong.parse::<Percentage>(), Err(NotAPercentage), "{wrong}");
        }
    }

    #[test]
    fn relative_changes_are_ordered() {
        let sorted = [
            change(5, 5),
            change(100, 101),
            change(50, 51),
            change(100, 98),
            change(1, 3),
            change(0, 1),
            change(0, 2),
        ];
        assert!(sorted.is_sorted_by(|a, b| a.cmp_relative(*b).is_lt()), "{sorted:?}");
    }
}
