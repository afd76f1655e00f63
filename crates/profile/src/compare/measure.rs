//! Measures of how far two sets of counts agree: differences, overlap percentage, relative error.

use crate::largest::Largest;
use crate::metric::{Counts, Metric};
use crate::walk::Match;
use std::cmp::Ordering;

/// The overlap percentage of two trees (CCCP, section 6.1): the sum, over all contexts in both, of
/// the smaller of their two shares. A context's share is its count over the sum of all counts of
/// its tree. Kept as an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Sum of min(a · B, b · A), where a and b are a context's counts and A and B the totals.
    shared: u128,
    /// A · B.
    whole: u128,
    /// Whether both trees are empty, hence equal.
    both_empty: bool,
}

impl Overlap {
    /// Whether all shares are equal. Counts may still differ: twice the run has the same shares.
    pub fn is_complete(self) -> bool {
        self.both_empty || (self.whole > 0 && self.shared == self.whole)
    }

    /// The overlap in percent; 100 only if it is complete. 100 for two empty trees, 0 if one is
    /// empty.
    pub fn percent(self) -> f64 {
        if self.is_complete() {
            100.0
        } else if self.whole == 0 {
            0.0
        } else {
            (self.shared as f64 / self.whole as f64 * 100.0).min(100f64.next_down())
        }
    }
}

/// Six decimals, but 100 and 0 only where they are exact.
impl std::fmt::Display for Overlap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.6}", self.percent());
        let text = match text.as_str() {
            "100.000000" if !self.is_complete() => "99.999999",
            "0.000000" if self.percent() > 0.0 => "0.000001",
            text => text,
        };
        write!(f, "{text} %")
    }
}

/// `(a - b) / b`, the error of `a` if `b` is right (JP, section 6): 0 if both are 0, infinite if
/// only `b` is.
pub fn relative_error(a: u64, b: u64) -> f64 {
    let difference = a.abs_diff(b) as f64;
    match (a.cmp(&b), b) {
        (Ordering::Equal, _) => 0.0,
        (_, 0) => f64::INFINITY,
        (Ordering::Less, b) => -(difference / b as f64),
        (Ordering::Greater, b) => difference / b as f64,
    }
}

/// A difference, ordered by its size relative to `b`; among equal ones by absolute size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio {
    difference: u64,
    b: u64,
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        // Products of 64-bit numbers: exact. With b = 0 the ratio is infinite, and two such
        // products are equal (0).
        let product = |d: u64, b: u64| u128::from(d) * u128::from(b);
        let infinite = (self.b == 0).cmp(&(other.b == 0));
        let ratio = product(self.difference, other.b).cmp(&product(other.difference, self.b));
        infinite.then(ratio).then(self.difference.cmp(&other.difference)).then(self.b.cmp(&other.b))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Agreement of one metric. `C` is the type of listed contexts.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement<C> {
    /// The metric.
    pub metric: Metric,
    /// Sum over all contexts of A.
    pub a: u64,
    /// Sum over all contexts of B.
    pub b: u64,
    /// The overlap of the two trees.
    pub overlap: Overlap,
    /// Sum of |a - b| over all contexts of either; a context that is missing from a tree has 0
    /// there.
    pub absolute: u128,
    /// Number of contexts that are in both and have different counts.
    pub different: u64,
    /// Sum of |a - b| over contexts that are in both.
    pub different_absolute: u128,
    /// The largest relative error, without its sign, among the contexts that are in both.
    pub largest_error: f64,
    /// Contexts with the largest differences, largest first.
    pub by_difference: Vec<C>,
    /// Contexts with the largest relative differences, largest first.
    pub by_ratio: Vec<C>,
}

impl<C> Agreement<C> {
    /// The relative error of the totals.
    pub fn relative_error(&self) -> f64 {
        relative_error(self.a, self.b)
    }

    /// [`Agreement::absolute`] over the total of B. Unlike in the error of the totals, too much in
    /// one context does not offset too little in another.
    pub fn error_over_contexts(&self) -> f64 {
        match (self.absolute, self.b) {
            (0, _) => 0.0,
            (_, 0) => f64::INFINITY,
            (absolute, b) => absolute as f64 / b as f64,
        }
    }
}

/// Accumulator of an [`Agreement`].
pub(super) struct Measure {
    agreement: Agreement<Match>,
    by_difference: Largest<u64, Match>,
    by_ratio: Largest<Ratio, Match>,
    /// Kept separately, so that it is known for any limit.
    largest_ratio: Option<Ratio>,
}

impl Measure {
    /// Creates an accumulator for two trees with these totals.
    pub(super) fn new(metric: Metric, a: u64, b: u64, limit: usize) -> Measure {
        let whole = u128::from(a) * u128::from(b);
        let overlap = Overlap { shared: 0, whole, both_empty: a == 0 && b == 0 };
        Measure {
            agreement: Agreement {
                metric,
                a,
                b,
                overlap,
                absolute: 0,
                different: 0,
                different_absolute: 0,
                largest_error: 0.0,
                by_difference: Vec::new(),
                by_ratio: Vec::new(),
            },
            by_difference: Largest::new(limit),
            by_ratio: Largest::new(limit),
            largest_ratio: None,
        }
    }

    /// Adds a context; `in_both` says whether it is in both trees.
    pub(super) fn add(&mut self, context: Match, a: Counts, b: Counts, in_both: bool) {
        let result = &mut self.agreement;
        let (a, b) = (result.metric.of(a), result.metric.of(b));
        // No overflow: the sum over all contexts is at most that of a · B, which is A · B.
        let share = |count: u64, other_total: u64| u128::from(count) * u128::from(other_total);
        result.overlap.shared += share(a, result.b).min(share(b, result.a));
        let difference = a.abs_diff(b);
        result.absolute += u128::from(difference);
        if !in_both || difference == 0 {
            return;
        }
        result.different += 1;
        result.different_absolute += u128::from(difference);
        let ratio = Ratio { difference, b };
        self.largest_ratio = self.largest_ratio.max(Some(ratio));
        self.by_difference.add(difference, context);
        self.by_ratio.add(ratio, context);
    }

    pub(super) fn finish(self) -> Agreement<Match> {
        let largest_error =
            self.largest_ratio.map_or(
                0.0,
                |Ratio { difference, b }| {
                    if b == 0 { f64::INFINITY } else { difference as f64 / b as f64 }
                },
            );
        Agreement {
            largest_error,
            by_difference: self.by_difference.into_sorted(),
            by_ratio: self.by_ratio.into_sorted(),
            ..self.agreement
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(contexts: &[(u64, u64)]) -> Agreement<Match> {
        let total = |side: fn(&(u64, u64)) -> u64| contexts.iter().map(side).sum();
        let mut measure = Measure::new(Metric::Calls, total(|c| c.0), total(|c| c.1), 9);
        for (index, &(a, b)) in (1..).zip(contexts) {
            let counts = |calls| Counts { calls, bytecodes: 0 };
            measure.add(Match::Both(index, index), counts(a), counts(b), a > 0 && b > 0);
        }
        measure.finish()
    }

    #[test]
    fn overlap_is_the_sum_of_the_smaller_shares() {
        // Shares of A: 6/10, 3/10, 1/10, 0; of B: 10/20, 0, 4/20, 6/20. The smaller ones: 1/2 + 0 +
        // 1/10 + 0.
        let agreement = measure(&[(6, 10), (3, 0), (1, 4), (0, 6)]);
        assert!((agreement.overlap.percent() - 60.0).abs() < 1e-12, "{:?}", agreement.overlap);
        // (10 - 20) / 20, and (4 + 3 + 3 + 6) / 20.
        assert_eq!((agreement.relative_error(), agreement.error_over_contexts()), (-0.5, 0.8));
        // Of those in both: 4 of 10 and 3 of 4 are missing.
        assert_eq!(
            (agreement.different, agreement.different_absolute, agreement.largest_error),
            (2, 7, 0.75)
        );
        assert_eq!(agreement.by_difference, [Match::Both(1, 1), Match::Both(3, 3)]);
        assert_eq!(agreement.by_ratio, [Match::Both(3, 3), Match::Both(1, 1)]);
    }

    #[test]
    fn overlap_is_complete_only_for_equal_shares() {
        assert!(measure(&[(3, 9), (1, 3)]).overlap.is_complete());
        assert_eq!(measure(&[(3, 9), (1, 3)]).relative_error(), -2.0 / 3.0);
        let most = u64::MAX / 2;
        // One call of 2^63 is elsewhere: too little for the digits of a double.
        let almost = measure(&[(most, most - 1), (1, 2)]).overlap;
        assert!(!almost.is_complete() && almost.percent() < 100.0);
        assert_eq!(measure(&[]).overlap.percent(), 100.0);
        assert_eq!(measure(&[(1, 0)]).overlap.percent(), 0.0);
        assert_eq!(measure(&[(1, 0), (0, 1)]).overlap.percent(), 0.0);
    }

    #[test]
    fn the_error_is_relative_to_b() {
        assert_eq!(relative_error(3, 2), 0.5);
        assert_eq!(relative_error(2, 4), -0.5);
        assert_eq!(relative_error(0, 0), 0.0);
        assert_eq!(relative_error(1, 0), f64::INFINITY);
        assert_eq!(measure(&[(1, 0)]).error_over_contexts(), f64::INFINITY);
    }

    #[test]
    fn ratios_are_ordered_exactly() {
        let ratio = |difference, b| Ratio { difference, b };
        let most = u64::MAX;
        let sorted = [
            ratio(1, most),
            ratio(1, most - 1),
            ratio(most - 1, most),
            ratio(1, 1),
            ratio(7, 7),
            ratio(2, 1),
            ratio(1, 0),
            ratio(2, 0),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b));
    }
}
