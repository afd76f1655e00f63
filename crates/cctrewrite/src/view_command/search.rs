//! Contexts whose method has a name that the user searches for.
//!
//! Matches are numbered in the order of the rows, as if all contexts were open. To count the
//! matches before a row, only the siblings along its path are sorted.

use std::ops::Range;

use crate::view_command::contexts::Contexts;
use crate::view_command::numbers::Sort;

/// The matches in a tree of contexts.
#[derive(Debug)]
pub struct Matches {
    /// For each label whether its name matches.
    labels: Vec<bool>,
    /// The contexts that match, in the order of the tree.
    nodes: Vec<u32>,
}

/// A text that is searched for, whatever its case.
#[derive(Debug, Clone)]
pub struct Query {
    pub text: String,
    lower: String,
}

impl Query {
    /// The query of a text; `None` for an empty one.
    pub fn of(text: &str) -> Option<Query> {
        (!text.is_empty()).then(|| Query { text: text.to_owned(), lower: text.to_lowercase() })
    }

    /// Whether a name has the text.
    pub fn matches(&self, name: &str) -> bool {
        name.to_lowercase().contains(&self.lower)
    }
}

impl Matches {
    /// The contexts that match.
    pub fn of(contexts: &Contexts, query: &Query) -> Matches {
        let labels: Vec<bool> = contexts.names().map(|name| query.matches(name)).collect();
        let all = (0u32..).zip(contexts.tree().nodes()).skip(1);
        let found = all.filter(|(_, node)| labels.get(node.method as usize) == Some(&true));
        let nodes = found.map(|(index, _)| index).collect();
        Matches { labels, nodes }
    }

    /// Number of matches.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a context matches.
    fn has(&self, contexts: &Contexts, node: u32) -> bool {
        self.labels.get(contexts.label(node) as usize) == Some(&true)
    }

    /// Number of matches among some nodes.
    fn within(&self, nodes: Range<u32>) -> usize {
        let before = |end| self.nodes.partition_point(|&node| node < end);
        before(nodes.end) - before(nodes.start)
    }

    /// Number of matches before the last node of a path, and whether it is one itself.
    pub fn before(&self, contexts: &Contexts, sort: Sort, path: &[u32]) -> (usize, bool) {
        let (mut before, mut above) = (0, 0);
        for &node in path {
            before += usize::from(above > 0 && self.has(contexts, above));
            let siblings = contexts.children(above, sort).into_iter().take_while(|&other| other != node);
            before += siblings.map(|other| self.within(contexts.tree().subtree(other))).sum::<usize>();
            above = node;
        }
        (before, above > 0 && self.has(contexts, above))
    }

    /// The path of a match; 0 is the first one.
    pub fn path(&self, contexts: &Contexts, sort: Sort, mut number: usize) -> Option<Vec<u32>> {
        if number >= self.nodes.len() {
            return None;
        }
        let (mut path, mut above) = (Vec::new(), 0);
        loop {
            let next = contexts.children(above, sort).into_iter().find(|&child| {
                let within = self.within(contexts.tree().subtree(child));
                let is_inside = number < within;
                number -= if is_inside { 0 } else { within };
                is_inside
            })?;
            path.push(next);
            if self.has(contexts, next) {
                match number.checked_sub(1) {
                    Some(rest) => number = rest,
                    None => return Some(path),
                }
            }
            above = next;
        }
    }
}
