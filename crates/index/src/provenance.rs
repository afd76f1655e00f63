//! The origin of an output, as far as outputs must agree to run together
//! (docs/reference/formats/index.md).

use xxhash_rust::xxh3::xxh3_64;

use crate::mid::ClassHash;

/// The provenance of one run's outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    lines: String,
}

impl Provenance {
    /// The provenance of classes that a user-defined module transformed first.
    pub fn with_udi(mut self, module: &str) -> Self {
        // This key sorts last.
        self.lines.push_str(&format!("udi={module}\n"));
        self
    }

    /// The provenance that an output states.
    pub fn of_lines(lines: &str) -> Self {
        Provenance { lines: lines.to_owned() }
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.lines.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// `key=value` lines, sorted.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// Hash of the lines.
    pub fn hash(&self) -> u64 {
        xxh3_64(self.lines.as_bytes())
    }
}

/// Hash over the classes of a surveyed class library: their contents, in any order, each once.
/// `None` unless `java/lang/Object` is among them, since only a class library has it.
///
/// Each class's name comes with the hash of its original, not of a module's result.
pub fn library_hash<'s>(classes: impl IntoIterator<Item = (&'s [u8], ClassHash)>) -> Option<u64> {
    let mut has_object = false;
    let mut hashes: Vec<u64> = Vec::new();
    for (name, original) in classes {
        has_object |= name == b"java/lang/Object";
        hashes.push(original.0);
    }
    hashes.sort_unstable();
    hashes.dedup();
    let bytes: Vec<u8> = hashes.iter().flat_map(|h| h.to_be_bytes()).collect();
    has_object.then(|| xxh3_64(&bytes))
}
