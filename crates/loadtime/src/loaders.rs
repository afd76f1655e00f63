//! The classes that the program's loaders have defined.
//!
//! A loader is known by a number in a field that the rewriter added to `java.lang.ClassLoader`. Its
//! table is dropped when the loader is collected. An entry says only what was *offered* to the JVM.
//! Only the JVM itself can say whether the definition succeeded. If two different class files were
//! offered under one name, nobody can say which of them it took.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::jni::jweak;
use crate::known_class::KnownClass;

/// A loader's number; 0 is none.
pub type Number = i64;

/// All loaders that have defined a class.
#[derive(Debug, Default)]
pub struct Loaders {
    tables: FxHashMap<Number, Table>,
    last: Number,
    /// Number of loaders of each simple class name so far.
    ordinals: FxHashMap<Box<[u8]>, u64>,
    /// Classes defined for the boot class loader while the program ran.
    boot: FxHashMap<Box<[u8]>, KnownClasses>,
    /// Whether a thread is looking for collected loaders.
    is_swept: bool,
    /// Number of tables at which the next search for collected loaders is worthwhile.
    next_sweep: usize,
}

#[derive(Debug)]
struct Table {
    weak: WeakReference,
    is_parent_first: bool,
    /// Distinguishes the loader's classes from others of their names; `None` for the JDK's own
    /// loaders.
    name: Option<Box<[u8]>>,
    classes: FxHashMap<Box<[u8]>, KnownClasses>,
}

#[derive(Debug, Clone, Copy)]
pub struct WeakReference(pub(crate) jweak);

// SAFETY: weak global references may be used by all threads (JNI specification, *Weak Global
// References*).
#[allow(unsafe_code)]
unsafe impl Send for WeakReference {}

#[derive(Debug)]
enum KnownClasses {
    One(Arc<KnownClass>),
    Several,
}

/// Number of tables below which no search takes place.
const FIRST_SWEEP: usize = 64;

impl Loaders {
    /// Numbers a loader that has no number yet. Loaders of one simple class name (`class` is the
    /// whole name, if known) are numbered in the order of their first class definitions.
    pub fn add(&mut self, weak: jweak, is_parent_first: bool, class: Option<&[u8]>) -> Number {
        self.last += 1;
        let name = (!is_parent_first).then(|| {
            let class = class.unwrap_or(b"ClassLoader");
            let simple: Box<[u8]> = class.rsplit(|&b| b == b'/').next().unwrap_or(class).into();
            let ordinal = self.ordinals.entry(simple.clone()).or_default();
            *ordinal += 1;
            [&*simple, b"#", ordinal.to_string().as_bytes()].concat().into()
        });
        let table = Table { weak: WeakReference(weak), is_parent_first, name, classes: FxHashMap::default() };
        self.tables.insert(self.last, table);
        self.last
    }

    /// Whether the loader is one of the JDK's own, which always ask the boot class loader first.
    pub fn is_parent_first(&self, number: Number) -> bool {
        self.tables.get(&number).is_some_and(|t| t.is_parent_first)
    }

    /// The name that distinguishes the classes of a loader from others of their names, such as
    /// `PluginLoader#2`. `None` for the boot, platform and application class loaders.
    pub fn name(&self, number: Number) -> Option<Box<[u8]>> {
        self.tables.get(&number)?.name.clone()
    }

    /// Notes that a class was offered to the JVM for definition by this loader.
    pub fn offer(&mut self, number: Number, class: Arc<KnownClass>) {
        let table = self.tables.get_mut(&number).map(|table| &mut table.classes);
        let Some(classes) = table.or((number == 0).then_some(&mut self.boot)) else { return };
        match classes.get_mut(&class.summary.name) {
            // The same class file may have been rewritten differently when other classes were
            // known.
            Some(KnownClasses::One(old))
                if old.summary.hash == class.summary.hash && old.rows == class.rows => {}
            Some(several) => *several = KnownClasses::Several,
            None => {
                classes.insert(class.summary.name.clone(), KnownClasses::One(class));
            }
        }
    }

    /// Notes that the JVM takes a different class file from the offered one: an agent has changed
    /// it.
    pub fn offer_instead(&mut self, number: Number, class: Arc<KnownClass>) {
        let table = self.tables.get_mut(&number).map(|table| &mut table.classes);
        let Some(classes) = table.or((number == 0).then_some(&mut self.boot)) else { return };
        let offered =
            classes.entry(class.summary.name.clone()).or_insert_with(|| KnownClasses::One(class.clone()));
        if let KnownClasses::One(before) = offered {
            *before = class;
        }
    }

    /// The class of this name, given that the JVM has one that this loader defined.
    pub fn class(&self, number: Number, name: &[u8]) -> Option<Arc<KnownClass>> {
        let classes = match number {
            0 => &self.boot,
            _ => &self.tables.get(&number)?.classes,
        };
        match classes.get(name)? {
            KnownClasses::One(class) => Some(class.clone()),
            KnownClasses::Several => None,
        }
    }

    /// The loaders whose tables might be dropped, if a search is due; [`Loaders::swept`] must
    /// follow.
    pub(crate) fn sweep(&mut self) -> Option<Vec<(Number, WeakReference)>> {
        if self.is_swept || self.tables.len() < self.next_sweep.max(FIRST_SWEEP) {
            return None;
        }
        self.is_swept = true;
        Some(self.tables.iter().map(|(number, table)| (*number, table.weak)).collect())
    }

    /// Drops the tables of these loaders.
    pub(crate) fn swept(&mut self, collected: &[(Number, WeakReference)]) {
        for (number, _) in collected {
            self.tables.remove(number);
        }
        self.next_sweep = 2 * self.tables.len();
        self.is_swept = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_of_a_class_are_numbered_in_turn() {
        let mut loaders = Loaders::default();
        let mut name = |class: Option<&[u8]>, own| {
            let number = loaders.add(std::ptr::null_mut(), own, class);
            loaders.name(number).map(|name| String::from_utf8(name.into()).unwrap())
        };
        let plugin: &[u8] = b"com/acme/Plugins$Loader";
        assert_eq!(name(Some(plugin), false).as_deref(), Some("Plugins$Loader#1"));
        assert_eq!(name(Some(b"java/net/URLClassLoader"), false).as_deref(), Some("URLClassLoader#1"));
        assert_eq!(name(Some(plugin), false).as_deref(), Some("Plugins$Loader#2"));
        assert_eq!(name(None, false).as_deref(), Some("ClassLoader#1"));
        assert_eq!(name(Some(b"sun/misc/Launcher$AppClassLoader"), true), None);
        assert_eq!(loaders.name(0), None);
    }
}
