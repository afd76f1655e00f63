//! Which classes are subtypes of which, as far as classes were shown.

use cct_classfile::ClassFile;
use rustc_hash::{FxHashMap, FxHashSet};

/// The classes of a run.
#[derive(Debug, Clone, Default)]
pub struct World {
    above: FxHashMap<Box<[u8]>, Vec<Box<[u8]>>>,
}

impl World {
    /// Adds a class.
    pub fn add(&mut self, class: &ClassFile<'_>) {
        let interfaces = class.interface_names();
        self.insert(class.name(), class.super_name().into_iter().chain(interfaces));
    }

    /// Adds a class by its name and those directly above it; the first of a name stays.
    pub fn insert<'n>(&mut self, name: &[u8], above: impl Iterator<Item = &'n [u8]>) {
        self.above.entry(name.into()).or_insert_with(|| above.map(Into::into).collect());
    }

    /// Whether a class is known.
    pub fn knows(&self, name: &[u8]) -> bool {
        self.above.contains_key(name)
    }

    /// Whether a class is `wanted` or below it, as far as is known.
    pub(crate) fn is_below(&self, class: &ClassFile<'_>, wanted: &[u8]) -> bool {
        let mut seen = FxHashSet::default();
        let mut work: Vec<&[u8]> = vec![class.name()];
        work.extend(class.super_name());
        work.extend(class.interface_names());
        while let Some(name) = work.pop() {
            if name == wanted {
                return true;
            }
            if seen.insert(name) {
                work.extend(self.above.get(name).into_iter().flatten().map(|name| &**name));
            }
        }
        false
    }
}
