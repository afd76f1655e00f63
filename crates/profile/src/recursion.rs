//! Recursion in trees.

use crate::Tree;

/// Whether a label is twice on a path of a tree. `methods` maps labels to methods, where labels are
/// call sites; a label beyond it stands for itself.
pub fn is_recursive(tree: &Tree, methods: &[u32]) -> bool {
    let method = |label: u32| methods.get(label as usize).copied().unwrap_or(label);
    // For each method, the end of the last subtree that it began.
    let mut ends = rustc_hash::FxHashMap::default();
    (0u32..).zip(tree.nodes()).skip(1).any(|(index, node)| {
        let end = ends.entry(method(node.method)).or_insert(0);
        let is_inside = index < *end;
        *end = tree.subtree(index).end;
        is_inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    #[test]
    fn a_method_below_itself_is_recursion() {
        let twice = tree(&[(1, 0, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1), (1, 0, 1, 1)]);
        assert!(!is_recursive(&twice, &[]));
        assert!(is_recursive(&tree(&[(1, 0, 1, 1), (2, 1, 1, 1), (3, 0, 1, 1)]), &[]));
        // Two call sites of one method.
        assert!(is_recursive(&twice, &[0, 0, 2]));
    }
}
