//! A file of values: read, written, and what is told of it, by itself and by a tree.

use std::sync::OnceLock;

use cct_pcc::Recorded;
use cct_profile::Profile;
use cct_values::contexts::{Shown, everywhere, found, write};
use cct_values::report::{dump, info};

/// Reads a file of values; what is accepted is written and read as the same, and all can be told of
/// it or it is said why not.
pub fn values(bytes: &[u8]) {
    let Ok(recorded) = Recorded::of_bytes(bytes) else { return };
    let written = recorded.bytes();
    assert!(
        Recorded::of_bytes(&written).as_ref() == Ok(&recorded),
        "what was written is read as something else"
    );
    // Reading takes a part of each byte's worth at least: 24 bytes make a place, 16 a value.
    let numbers: usize = recorded.counts.values().map(|values| values.len()).sum();
    assert!(24 * recorded.counts.len() + 16 * numbers <= bytes.len(), "more than there are bytes for");

    let mut out = Vec::new();
    info(&recorded, &mut out).unwrap();
    let mut lines = Vec::new();
    dump(&recorded, &mut lines).unwrap();
    let dumped = String::from_utf8(lines).unwrap();
    assert_eq!(dumped.lines().count(), numbers, "a line for each value");
    assert!(dumped.lines().all(|line| line.split('\t').count() == 3), "a line with another tab");
    out.extend(dumped.replace('\t', " ").bytes());
    by_a_tree(&recorded, &mut out);
    for char in String::from_utf8(out).unwrap().chars() {
        // Names come from strangers, terminals obey control characters.
        assert!(char == '\n' || !char.is_control(), "{char:?} in a report");
    }
}

/// The contexts behind the values, by the tree whose values the seeds have.
fn by_a_tree(recorded: &Recorded, out: &mut Vec<u8>) {
    static TREE: OnceLock<Profile> = OnceLock::new();
    let tree = TREE.get_or_init(crate::seeds::split_profile);
    if let Ok(found) = found(recorded, tree) {
        for top in [None, Some(1)] {
            write(recorded, tree, &found, Shown { top, how_often: true }, out).unwrap();
        }
    }
    let wanted: Vec<_> =
        recorded.counts.values().flat_map(|values| values.keys().copied()).take(10).collect();
    if let Ok(asked) = everywhere(&wanted, tree) {
        assert!(wanted.is_empty() || !asked.counts.is_empty(), "values that no context has");
    }
}
