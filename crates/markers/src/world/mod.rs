//! Subtype relations between classes, as far as the classes are known.

pub mod table;

use std::sync::Arc;

use cct_classfile::ClassFile;
use rustc_hash::{FxHashMap, FxHashSet};

use table::Table;

/// The classes of a run.
#[derive(Debug, Clone, Default)]
pub struct World {
    above: FxHashMap<Box<[u8]>, Vec<Box<[u8]>>>,
    /// Further known classes: those of a class library that was marked before.
    library: Option<Arc<Table>>,
}

impl World {
    /// A world that includes the classes of a class library.
    pub fn over(library: Arc<Table>) -> World {
        World { library: Some(library), ..World::default() }
    }

    /// Adds a class.
    pub fn add(&mut self, class: &ClassFile<'_>) {
        let interfaces = class.interface_names();
        self.insert(class.name(), class.super_name().into_iter().chain(interfaces));
    }

    /// Adds a class by its name and its direct supertypes; the first class of a name stays.
    pub fn insert<'n>(&mut self, name: &[u8], above: impl Iterator<Item = &'n [u8]>) {
        self.above.entry(name.into()).or_insert_with(|| above.map(Into::into).collect());
    }

    /// Whether a class is known.
    pub fn knows(&self, name: &[u8]) -> bool {
        self.above.contains_key(name) || self.library.as_ref().is_some_and(|table| table.has(name))
    }

    /// The direct supertypes of a class. Added classes take precedence over those of the library.
    pub fn above(&self, name: &[u8]) -> Vec<&[u8]> {
        match (self.above.get(name), &self.library) {
            (Some(above), _) => above.iter().map(|name| &**name).collect(),
            (None, Some(table)) => table.above(name).into_iter().flatten().collect(),
            (None, None) => Vec::new(),
        }
    }

    /// Whether a class is `wanted` or a subtype of it, as far as known.
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
                work.extend(self.above(name));
            }
        }
        false
    }

    /// The added classes, in the form in which an image keeps them.
    pub fn table(&self) -> Vec<u8> {
        let mut classes: Vec<_> = self.above.iter().collect();
        classes.sort();
        table::encoded(classes.into_iter().map(|(name, above)| (&**name, above.iter().map(|name| &**name))))
    }
}
