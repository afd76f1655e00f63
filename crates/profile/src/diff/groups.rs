//! The meaning of the labels of two trees: methods, or groups of them.

use super::difference::Name;
use crate::Method;
use crate::labels::{By, numbered};
use crate::names::{Frame, FrameTable, NameStyle};
use crate::origin::Origins;
use crate::pair::Pair;

/// The meaning of labels.
pub(super) struct Groups {
    /// For each label of the trees a position in the names.
    pub(super) labels: Vec<u32>,
    /// For each name the name of the method without its call site; usually the same.
    pub(super) methods: Vec<u32>,
    /// The names: those of labels, sorted; then those of methods that have no other, sorted.
    pub(super) names: Vec<Name>,
    /// Whether a name is a thread's and no method's.
    pub(super) is_thread: Vec<bool>,
}

/// The groups of the frames of both sides.
pub(super) fn groups(pair: &Pair<'_>, by: By, style: NameStyle, origins: &Origins) -> Groups {
    let frames = pair.frames.frames();
    let mut method_of: Vec<Option<&Method>> = vec![None; frames.len()];
    for (methods, labels) in pair.methods.iter().zip(pair.labels) {
        methods.iter().zip(labels).for_each(|(method, &label)| method_of[label as usize] = Some(method));
    }
    let exact = |frame: &Frame<'_>| String::from_utf8_lossy(&frame.bytes().collect::<Vec<u8>>()).into_owned();
    if by == By::Method {
        let named = |table: &FrameTable<'_>| -> Vec<Name> {
            let names = table.frames().iter().zip(table.readable());
            names.map(|(frame, readable)| Name { exact: exact(frame), readable }).collect()
        };
        let mut names = named(pair.frames);
        let labels: Vec<u32> = (0..names.len() as u32).collect();
        let mut methods = labels.clone();
        let mut is_thread: Vec<bool> = method_of.iter().map(Option::is_none).collect();
        if pair.frames.has_call_sites() {
            let (of_methods, of_frame) = pair.frames.without_call_sites();
            let first = names.len() as u32;
            names.extend(named(&of_methods));
            methods = of_frame.iter().map(|method| first + method).collect();
            methods.extend(first..names.len() as u32);
            let mut is_thread_of = vec![false; of_methods.frames().len()];
            for (&method, &is_thread) in of_frame.iter().zip(&is_thread) {
                is_thread_of[method as usize] |= is_thread;
            }
            is_thread.extend(is_thread_of);
        }
        return Groups { labels, methods, names, is_thread };
    }
    let group = |(label, method): (usize, &Option<&Method>)| match method {
        Some(method) => by.group(method, style, origins),
        None => exact(&frames[label]),
    };
    let (names, labels) = numbered(method_of.iter().enumerate().map(group));
    let mut is_thread = vec![false; names.len()];
    for (&label, method) in labels.iter().zip(&method_of) {
        is_thread[label as usize] |= method.is_none();
    }
    let name = |exact: String| Name { readable: crate::escape::terminal(&exact), exact };
    let methods = (0..names.len() as u32).collect();
    Groups { labels, methods, names: names.into_iter().map(name).collect(), is_thread }
}
