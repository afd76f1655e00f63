//! Sums over the preorder of a tree. A subtree is a range of it, so they give each context's
//! inclusive sum.

use crate::{MergeError, Metric, Tree};

/// For each node, and for the end, the metric's sum over all nodes before it.
///
/// # Errors
/// Fails if the total exceeds 64 bits.
pub fn prefix_sums(tree: &Tree, metric: Metric) -> Result<Vec<u64>, MergeError> {
    let mut before = Vec::with_capacity(tree.nodes().len() + 1);
    let mut sum = 0u64;
    before.push(sum);
    for (index, node) in tree.nodes().iter().enumerate() {
        // The root's counts mean nothing.
        let own = if index == 0 { 0 } else { metric.of_node(node) };
        sum = sum.checked_add(own).ok_or(MergeError::Overflow)?;
        before.push(sum);
    }
    Ok(before)
}
