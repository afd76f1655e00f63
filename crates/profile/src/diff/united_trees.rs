//! The trees of both sides of a difference, over the same contexts.

use super::difference::Name;
use super::{DiffOptions, Sides};
use crate::fold::{Fold, folded_as};
use crate::labels::By;
use crate::origin::Origins;
use crate::pair::{Input, Mismatch, PairError, Remark, Side, united};
use crate::tree_sum::joined;
use crate::{Metric, Tree};

/// Two trees with the same contexts: each has the contexts of both sides, and the counts of one. So
/// the number of a node is that of the same context in both.
#[derive(Clone, Debug)]
pub struct UnitedTrees {
    /// The counts before.
    pub base: Tree,
    /// The counts after.
    pub new: Tree,
    /// The metric.
    pub metric: Metric,
    /// The names of the labels of the trees, sorted; then those of methods that have no other.
    pub names: Vec<Name>,
    /// For each name the position of the name of its method: the name itself, unless call sites are
    /// distinguished.
    pub methods: Vec<u32>,
    /// Remarks for the reader of the numbers.
    pub remarks: Vec<Remark>,
    /// Differences of the recordings that make counts differ even if the program does the same.
    pub mismatches: Vec<Mismatch>,
}

/// Unites two inputs, with the contexts and names of [`super::diff`].
///
/// # Errors
/// Fails as [`super::diff`].
pub fn united_trees(
    base: Input,
    new: Input,
    options: &DiffOptions,
    origins: &Origins,
) -> Result<UnitedTrees, PairError> {
    united(base, new, &options.of_pair(), |pair| {
        let sides = Sides::of(pair, options, origins);
        let merge = |side| move |error| PairError::Merge(side, error);
        let is_folded = options.by != By::Method || options.recursion;
        let fold = if options.recursion { Fold::Recursion } else { Fold::Within };
        let labelled = |tree: &Tree, side| {
            let trees = [(tree, &*sides.labels)];
            let found = if is_folded { folded_as(&trees, fold, &sides.methods) } else { joined(&trees) };
            found.map_err(merge(side))
        };
        let (a, b) = (labelled(pair.a, Side::A)?, labelled(pair.b, Side::B)?);
        let names: Vec<u32> = (0..sides.names.len() as u32).collect();
        let shape = (a.clone().without_counts(), b.clone().without_counts());
        let base = joined(&[(&a, &names), (&shape.1, &names)]).map_err(merge(Side::A))?;
        let new = joined(&[(&shape.0, &names), (&b, &names)]).map_err(merge(Side::B))?;
        Ok(UnitedTrees {
            base,
            new,
            metric: sides.metric,
            names: sides.names,
            methods: sides.methods,
            remarks: std::mem::take(pair.remarks),
            mismatches: std::mem::take(&mut pair.mismatches),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Change, diff};
    use super::*;
    use crate::sums::sums;
    use crate::testing::random;

    #[test]
    fn methods_change_as_in_the_difference() {
        arbtest::arbtest(|u| {
            let (a, b) = (random(u)?, random(u)?);
            for recursion in [false, true] {
                let options = DiffOptions { recursion, ..DiffOptions::default() };
                let origins = Origins::default();
                let found = diff(a.clone().into(), b.clone().into(), &options, &origins);
                let trees = united_trees(a.clone().into(), b.clone().into(), &options, &origins);
                let (found, trees) = match (found, trees) {
                    (Ok(found), Ok(trees)) => (found, trees),
                    (found, trees) => {
                        assert_eq!(found.err(), trees.err());
                        continue;
                    }
                };
                let labels = |tree: &Tree| tree.nodes().iter().map(|n| n.method).collect::<Vec<_>>();
                assert_eq!(labels(&trees.base), labels(&trees.new));
                let of = |tree| sums(&[(tree, &trees.methods)], trees.names.len(), trees.metric);
                let (base, new) = (of(&trees.base).expect("small"), of(&trees.new).expect("small"));
                let mut expected: Vec<(String, Change, Change)> = found
                    .methods
                    .iter()
                    .map(|m| (found.names[m.name as usize].exact.clone(), m.own, m.inclusive))
                    .collect();
                expected.sort_by(|x, y| x.0.cmp(&y.0));
                let change = |base, new| Change { base, new };
                let changed = base.iter().zip(&new).zip(&trees.names).filter(|((a, b), _)| a != b);
                let mut rows: Vec<_> = changed
                    .map(|((a, b), name)| {
                        (name.exact.clone(), change(a.own, b.own), change(a.inclusive, b.inclusive))
                    })
                    .collect();
                rows.sort_by(|x, y| x.0.cmp(&y.0));
                assert_eq!(rows, expected);
            }
            Ok(())
        });
    }
}
