//! Strings by their indices, as formats in Protocol Buffers refer to them.

use std::collections::BTreeMap;

/// A string table, whose first string is the empty one.
#[derive(Default)]
pub(crate) struct StringTable {
    indices: BTreeMap<String, u64>,
}

impl StringTable {
    /// The index of a string, added if needed.
    pub(crate) fn index(&mut self, string: &str) -> u64 {
        if string.is_empty() {
            return 0;
        }
        match self.indices.get(string) {
            Some(&index) => index,
            None => {
                let next = self.indices.len() as u64 + 1;
                self.indices.insert(string.to_owned(), next);
                next
            }
        }
    }

    /// All strings, in the order of their indices.
    pub(crate) fn in_order(&self) -> Vec<&str> {
        let mut strings = vec![""; self.indices.len() + 1];
        for (string, &index) in &self.indices {
            strings[index as usize] = string;
        }
        strings
    }
}
