//! Target for files of values: read, written, and reported, alone and with a tree.

use std::sync::OnceLock;

use cct_pcc::RecordedValues;
use cct_profile::Profile;
use cct_values::contexts::{DisplayOptions, everywhere, found, write};
use cct_values::report::{dump, info};

/// Reads a file of values. Accepted ones are written and read back as the same, and reported, or
/// refused with a reason.
pub fn values(bytes: &[u8]) {
    let Ok(recorded) = RecordedValues::of_bytes(bytes) else { return };
    let written = recorded.bytes();
    assert!(
        RecordedValues::of_bytes(&written).as_ref() == Ok(&recorded),
        "what was written is read as something else"
    );
    // Each item needs a minimum of the file: 24 bytes for a place, 16 for a value.
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
        // Names are of unknown origin, and terminals obey control characters.
        assert!(char == '\n' || !char.is_control(), "{char:?} in a report");
    }
}

/// Reports the contexts of the values, with the tree whose values the seeds have.
fn by_a_tree(recorded: &RecordedValues, out: &mut Vec<u8>) {
    static TREE: OnceLock<Profile> = OnceLock::new();
    let tree = TREE.get_or_init(crate::seeds::split_profile);
    if let Ok(found) = found(recorded, tree) {
        for top in [None, Some(1)] {
            write(recorded, tree, &found, DisplayOptions { top, how_often: true }, out).unwrap();
        }
    }
    let wanted: Vec<_> =
        recorded.counts.values().flat_map(|values| values.keys().copied()).take(10).collect();
    if let Ok(asked) = everywhere(&wanted, tree) {
        assert!(wanted.is_empty() || !asked.counts.is_empty(), "values that no context has");
    }
}
