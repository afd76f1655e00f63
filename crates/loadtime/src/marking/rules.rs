//! The rules of the image, and their matches.

use std::collections::BTreeMap;

use std::fs;

use std::path::Path;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cct_arena::Troubles;
use cct_classfile::mutf8;
use cct_markers::world::table::Table;
use cct_markers::{MarkedClass, Rules};

/// The loader of clients, whose classes have no markers.
pub(crate) const CLIENTS: &[u8] = b"cctrewrite/markers/ClientLoader";

/// The rules of the image, once they are read.
pub(crate) static MARKING: OnceLock<Marking> = OnceLock::new();

/// The rules of the image, and their matches.
pub(crate) struct Marking {
    pub(crate) rules: Arc<Rules>,
    pub(crate) library: Arc<Table>,
    tally: Mutex<Tally>,
}

/// Counts over classes.
pub(crate) struct Tally {
    classes: u64,
    markers: u64,
    /// Number of marked locations of each rule, including those in the class library.
    places: Vec<u64>,
    troubles: Troubles,
    /// Classes that the JVM defined without a name of their own: the number for each name in their
    /// files.
    hidden: BTreeMap<Box<[u8]>, u64>,
    /// Classes whose definers gave no names, and that are not yet known to be hidden.
    pub(crate) nameless: BTreeMap<Box<[u8]>, u64>,
}

impl Tally {
    /// Counts a class that has no name of its own, but this one in its file. `is_said` says whether
    /// the notes mention it.
    pub(crate) fn hidden(&mut self, name: &[u8], is_said: bool) {
        if let Some(count) = self.nameless.get_mut(name) {
            *count -= 1;
            if *count == 0 {
                self.nameless.remove(name);
            }
        }
        if is_said {
            *self.hidden.entry(name.into()).or_default() += 1;
        }
    }
}

/// Reads the rules that an image carries. Returns an error message on failure.
pub(crate) fn read(folder: &Path) -> Result<Marking, String> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let text = |name: &str| {
        String::from_utf8(read(name)?).map_err(|_| format!("{}: not UTF-8", folder.join(name).display()))
    };
    let mut rules = Rules::default();
    rules.add(&text("rules.toml")?).map_err(|e| format!("{}: {e}", folder.join("rules.toml").display()))?;
    let library =
        Table::new(read("classes")?).map_err(|e| format!("{}: {e}", folder.join("classes").display()))?;
    let mut places: Vec<u64> = text("places")?.lines().map(|line| line.parse().unwrap_or(0)).collect();
    places.resize(rules.list.len(), 0);
    let (troubles, hidden, nameless) = (Troubles::default(), BTreeMap::new(), BTreeMap::new());
    let tally = Tally { classes: 0, markers: 0, places, troubles, hidden, nameless };
    Ok(Marking { rules: Arc::new(rules), library: Arc::new(library), tally: Mutex::new(tally) })
}

impl Marking {
    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        // A panic leaves nothing half-done.
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the matches in one class.
    pub(crate) fn add(&self, marked: &MarkedClass) {
        if marked.descriptors.is_empty() && marked.refused.is_empty() {
            return;
        }
        let mut tally = self.tally();
        tally.classes += u64::from(!marked.descriptors.is_empty());
        tally.markers += marked.descriptors.len() as u64;
        for &rule in &marked.rules {
            tally.places[rule] += 1;
        }
        for refusal in &marked.refused {
            tally.troubles.add(format!("not marked, since {}", refusal.why), &refusal.method);
        }
        for name in &marked.dropped_attributes {
            tally.troubles.add("code attributes that may hold bytecode indices, and were dropped", name);
        }
    }

    /// Notes for the reader that a class has no markers.
    pub(crate) fn note(&self, trouble: impl Into<String>, class: &[u8]) {
        self.tally().troubles.add(trouble, &mutf8::decode_lossy(class));
    }

    /// The summary of the markers; `None` if nothing was marked.
    pub(crate) fn placed(&self) -> Option<String> {
        let tally = self.tally();
        let (markers, classes) = (tally.markers, tally.classes);
        (markers > 0).then(|| {
            format!(
                "markers were inserted into classes of the program at load time: \
                              {markers} in {classes}"
            )
        })
    }

    /// Further notes for the reader: what is not marked, and which rules match nothing.
    pub(crate) fn notes(&self) -> Vec<String> {
        let tally = self.tally();
        let mut lines = Vec::new();
        for (rule, _) in self.rules.list.iter().zip(&tally.places).filter(|(_, places)| **places == 0) {
            let colon = if rule.predicate.is_empty() { "" } else { ":" };
            lines.push(format!(
                "the rule for {}{colon}{} at {} matches nothing, neither in the class library nor \
                 in a class of this run",
                rule.token,
                rule.predicate,
                rule.at.name()
            ));
        }
        lines.extend(tally.troubles.lines());
        lines.extend(named(
            "hidden classes of the JVM (lambdas, method references), which cannot be marked",
            &tally.hidden,
        ));
        lines.extend(named(
            "classes that native code defined without a name, which are not marked",
            &tally.nameless,
        ));
        lines
    }
}

/// A line that lists the first of these classes by name: a program may have thousands.
pub(crate) fn named(what: &str, classes: &BTreeMap<Box<[u8]>, u64>) -> Option<String> {
    const NAMED: usize = 3;
    let count: u64 = classes.values().sum();
    let names: Vec<_> = classes.keys().take(NAMED).map(|name| mutf8::decode_lossy(name)).collect();
    let more = if classes.len() > NAMED { ", ..." } else { "" };
    (count > 0).then(|| format!("{what}: {count} ({}{more})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_many_classes_are_named() {
        let of = |names: &[&str]| {
            let mut classes = BTreeMap::new();
            for name in names {
                *classes.entry(name.as_bytes().into()).or_default() += 1;
            }
            named("w", &classes)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["b", "a", "b"]).as_deref(), Some("w: 3 (a, b)"));
        assert_eq!(of(&["d", "c", "b", "a"]).as_deref(), Some("w: 4 (a, b, c, ...)"));
    }
}
