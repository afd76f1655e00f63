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
    /// Those of the added classes that are part of a class library.
    of_library: FxHashSet<Box<[u8]>>,
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

    /// Adds a class of a class library; the first class of a name stays.
    pub fn insert_of_library<'n>(&mut self, name: &[u8], above: impl Iterator<Item = &'n [u8]>) {
        if !self.above.contains_key(name) {
            self.insert(name, above);
            self.of_library.insert(name.into());
        }
    }

    /// Whether a class was added as part of a class library. Classes of a library that was marked
    /// before do not count: a class of such a name that is marked now is one of the program's.
    pub fn is_of_library(&self, name: &[u8]) -> bool {
        self.of_library.contains(name)
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

    /// Whether a class, or a class or interface above it, is wanted; `None` if no known one is, but
    /// not all are known. `class` is known, whether it was added or not.
    pub(crate) fn is_one_above(
        &self,
        class: &ClassFile<'_>,
        name: &[u8],
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Option<bool> {
        let mut seen = FxHashSet::default();
        let mut work: Vec<&[u8]> = vec![name];
        let mut all_known = true;
        while let Some(name) = work.pop() {
            if is_wanted(name) {
                return Some(true);
            }
            // Only `Object` is above arrays, apart from interfaces that no rule asks for.
            if name == b"java/lang/Object" || name.starts_with(b"[") || !seen.insert(name) {
                continue;
            }
            if name == class.name() {
                work.extend(class.super_name());
                work.extend(class.interface_names());
            } else if self.knows(name) {
                work.extend(self.above(name));
            } else {
                all_known = false;
            }
        }
        all_known.then_some(false)
    }

    /// The added classes, in the form in which an image keeps them.
    pub fn table(&self) -> Vec<u8> {
        let mut classes: Vec<_> = self.above.iter().collect();
        classes.sort();
        table::encoded(classes.into_iter().map(|(name, above)| (&**name, above.iter().map(|name| &**name))))
    }
}
