//! The numbers that a profile has in one column.

use std::collections::BTreeMap;

use cct_columns::Column;
use cct_profile::{Profile, ROOT};

/// Class and name of the method of each context, and its number in the column.
pub fn by_context(profile: &Profile, column: Column) -> Vec<(&str, &str, u64)> {
    let column = profile.columns().iter().position(|c| c.name() == column.name()).expect("a column");
    let mut all = Vec::new();
    for tree in profile.threads.iter().map(|thread| &thread.tree) {
        for (index, node) in (0u32..).zip(tree.nodes()).filter(|(_, node)| node.method != ROOT) {
            let method = &profile.methods[node.method as usize];
            all.push((&*method.class, &*method.name, tree.values(index)[column]));
        }
    }
    all
}

/// The sums of the methods of a program, by name, without zeros. Its classes begin with `program`.
pub fn by_method<'p>(profile: &'p Profile, column: Column, program: &str) -> Vec<(&'p str, u64)> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, name, count) in by_context(profile, column) {
        if class.starts_with(program) {
            *sums.entry(name).or_default() += count;
        }
    }
    sums.into_iter().filter(|(_, count)| *count > 0).collect()
}
