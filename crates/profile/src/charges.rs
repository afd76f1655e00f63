//! The work of a library, charged to the program's methods that cause it.

use crate::{MergeError, Metric, Node, Tree};

/// The work of each of the program's methods, with that of the library below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// For each label its own numbers, and those of library methods below it that no other method
    /// of the program is nearer to. 0 for labels of the library.
    pub charged: Vec<u128>,
    /// The numbers of library methods below no method of the program.
    pub library_alone: u128,
}

impl Charges {
    /// The charges over trees, each with the table that maps its methods to labels. `is_library`
    /// says of each label whether it is of the library. All charges together are the metric's
    /// total.
    ///
    /// # Errors
    /// Fails if a table is too short.
    pub fn of(trees: &[(&Tree, &[u32])], is_library: &[bool], metric: Metric) -> Result<Charges, MergeError> {
        let mut charges = Charges { charged: vec![0; is_library.len()], library_alone: 0 };
        for &(tree, of_method) in trees {
            // The label that each context on the path is charged to, with the context's depth.
            let mut path: Vec<Option<usize>> = Vec::new();
            for (node, depth) in with_depths(tree) {
                let label = of_method.get(node.method as usize).map(|label| *label as usize);
                let label = label.filter(|label| *label < is_library.len());
                let no_such = || MergeError::NoSuchMethod { method: node.method, count: is_library.len() };
                let label = label.ok_or_else(no_such)?;
                path.truncate(depth);
                let above = path.last().copied().flatten();
                let owner = if is_library[label] { above } else { Some(label) };
                path.push(owner);
                let own = u128::from(metric.of_node(node));
                match owner {
                    Some(label) => charges.charged[label] += own,
                    None => charges.library_alone += own,
                }
            }
        }
        Ok(charges)
    }
}

/// The contexts of a tree in its order, each with the number of contexts above it.
fn with_depths(tree: &Tree) -> impl Iterator<Item = (&Node, usize)> {
    let mut ends: Vec<u32> = Vec::new();
    (0u32..).zip(tree.nodes()).skip(1).map(move |(index, node)| {
        while ends.pop_if(|end| *end <= index).is_some() {}
        let depth = ends.len();
        ends.push(tree.subtree(index).end);
        (node, depth)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    #[test]
    fn library_work_goes_to_the_nearest_method_of_the_program() -> Result<(), MergeError> {
        // Methods 0 and 2 are the program's, 1 is the library's.
        let tree = tree(&[(1, 1, 1, 5), (2, 0, 1, 10), (3, 1, 2, 100), (4, 2, 3, 1000), (4, 1, 1, 20)]);
        let labels: &[u32] = &[0, 1, 2];
        let trees = [(&tree, labels)];
        let charges = Charges::of(&trees, &[false, true, false], Metric::Bytecodes)?;
        assert_eq!(charges, Charges { charged: vec![130, 0, 1000], library_alone: 5 });
        assert!(Charges::of(&trees, &[false, true], Metric::Bytecodes).is_err());
        Ok(())
    }
}
