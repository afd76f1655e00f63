//! What the labels of two trees stand for: methods, or groups of them.

use super::Name;
use crate::Method;
use crate::labels::{By, numbered};
use crate::names::NameStyle;
use crate::origin::Origins;
use crate::pair::Pair;

/// What labels stand for.
pub(super) struct Groups {
    /// For each label of the trees a position in the names.
    pub(super) labels: Vec<u32>,
    /// The names, sorted.
    pub(super) names: Vec<Name>,
    /// Names of threads, which are no methods.
    pub(super) is_thread: Vec<bool>,
}

/// The groups of the frames of both sides.
pub(super) fn groups(pair: &Pair<'_>, by: By, style: NameStyle, origins: &Origins) -> Groups {
    let frames = pair.frames.frames();
    let mut method_of: Vec<Option<&Method>> = vec![None; frames.len()];
    for (methods, labels) in pair.methods.iter().zip(pair.labels) {
        methods.iter().zip(labels).for_each(|(method, &label)| method_of[label as usize] = Some(method));
    }
    let exact =
        |label: usize| String::from_utf8_lossy(&frames[label].bytes().collect::<Vec<u8>>()).into_owned();
    if by == By::Method {
        let names =
            (0..).zip(pair.frames.readable()).map(|(at, readable)| Name { exact: exact(at), readable });
        return Groups {
            labels: (0..frames.len() as u32).collect(),
            names: names.collect(),
            is_thread: method_of.iter().map(Option::is_none).collect(),
        };
    }
    let group = |(label, method): (usize, &Option<&Method>)| match method {
        Some(method) => by.group(method, style, origins),
        None => exact(label),
    };
    let (names, labels) = numbered(method_of.iter().enumerate().map(group));
    let mut is_thread = vec![false; names.len()];
    for (&label, method) in labels.iter().zip(&method_of) {
        is_thread[label as usize] |= method.is_none();
    }
    let name = |exact: String| Name { readable: crate::names::escaped(&exact), exact };
    Groups { labels, names: names.into_iter().map(name).collect(), is_thread }
}
