//! Files that depend on each other: the strongly connected components of a crate's files, and a
//! shortest way around each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// One use of a file by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The line of the use.
    pub line: usize,
    /// The path that the line names.
    pub path: String,
}

/// For each pair of files, by their numbers, the first use of the second by the first.
pub type Uses = BTreeMap<(usize, usize), Use>;

/// Files that depend on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// All of them.
    pub files: BTreeSet<String>,
    /// A shortest cycle: a file, the use, and the used file.
    pub around: Vec<(String, Use, String)>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.files.len();
        write!(
            f,
            "{count} files depend on each other in a circle; move what they share into a file that uses none of them:"
        )?;
        for (from, used, to) in &self.around {
            write!(f, "\n    {from}:{} uses {} ({to})", used.line, used.path)?;
        }
        if count > self.around.len() {
            write!(f, "\n    all of them:")?;
            self.files.iter().try_for_each(|file| write!(f, " {file}"))?;
        }
        Ok(())
    }
}

/// The circles of files, in the order of their first files.
pub fn circles(files: &[String], uses: &Uses) -> Vec<Circle> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
    for &(from, to) in uses.keys() {
        next[from].push(to);
    }
    let reached: Vec<BTreeSet<usize>> = (0..files.len()).map(|file| distances(&next, file).0).collect();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for file in 0..files.len() {
        if !reached[file].contains(&file) || !seen.insert(file) {
            continue;
        }
        let members: BTreeSet<usize> =
            reached[file].iter().copied().filter(|&other| reached[other].contains(&file)).collect();
        seen.extend(&members);
        let around = members.iter().map(|&start| way_around(&next, start)).min_by_key(Vec::len);
        let step = |pair: (usize, usize)| {
            let used = uses.get(&pair).cloned();
            used.map(|used| (files[pair.0].clone(), used, files[pair.1].clone()))
        };
        found.push(Circle {
            files: members.iter().map(|&member| files[member].clone()).collect(),
            around: around.unwrap_or_default().into_iter().filter_map(step).collect(),
        });
    }
    found
}

/// All files that are reached from a file by at least one step, and for each the file before it on
/// a shortest path.
fn distances(next: &[Vec<usize>], from: usize) -> (BTreeSet<usize>, BTreeMap<usize, usize>) {
    let (mut reached, mut before) = (BTreeSet::new(), BTreeMap::new());
    let mut open = VecDeque::from([from]);
    while let Some(file) = open.pop_front() {
        for &to in &next[file] {
            if reached.insert(to) {
                before.insert(to, file);
                open.push_back(to);
            }
        }
    }
    (reached, before)
}

/// A shortest path from a file of a circle back to itself, step by step.
fn way_around(next: &[Vec<usize>], start: usize) -> Vec<(usize, usize)> {
    let (_, before) = distances(next, start);
    let mut steps = Vec::new();
    let mut at = start;
    while let Some(&from) = before.get(&at) {
        steps.push((from, at));
        at = from;
        if at == start {
            break;
        }
    }
    steps.reverse();
    steps
}
