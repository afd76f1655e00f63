//! Markers in classes that are also counted, and rewritten when they are defined
//! (docs/research/markers.md, *With a calling-context tree*).
//!
//! This module asks no loader for the ancestors of a class. The loader's `loadClass` would run in a
//! different context from the JVM's own call a moment later. Unknown ancestors are reported.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use cct_classfile::ClassFile;
use cct_markers::{MarkedClass, World, library};
use cct_rewrite::markers::{Markers, SharedMarkers};
use cct_rewrite::{ClassSummary, World as Surroundings};

use crate::marking::rules::{CLIENTS, MARKING, read};

/// Reads the rules that an image carries. Returns an error message on failure.
pub fn start(folder: &Path) -> Result<(), String> {
    if MARKING.get().is_none() {
        let marking = read(folder)?;
        MARKING.get_or_init(|| marking);
    }
    Ok(())
}

/// The markers for a class, by the rules of the image, if it has any. `loader` finds the class name
/// of the defining loader; it is called only if there are rules, which most JVMs lack.
pub fn wanted(
    class: &ClassFile<'_>,
    surroundings: &Surroundings,
    has_own_name: bool,
    loader: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<SharedMarkers> {
    let marking = MARKING.get()?;
    let name = class.name();
    if library::unmarked(name).is_some()
        || !marking.rules.may_match(name)
        || loader().as_deref() == Some(CLIENTS)
    {
        return None;
    }
    if !has_own_name {
        marking.tally().hidden(name, true);
        return None;
    }
    let mut world = World::over(Arc::clone(&marking.library));
    for id in surroundings.ids() {
        let ClassSummary { name, super_name, interfaces, .. } = &*surroundings[id].summary;
        world.insert(name, super_name.iter().chain(interfaces).map(|name| &**name));
    }
    if marking.rules.ask_what_is_above(name) && !is_all_known(class, &world) {
        marking.note(
            "classes that were loaded before their supertypes: rules with subtypes-of may have missed them",
            name,
        );
    }
    Some(Arc::new(Markers { rules: Arc::clone(&marking.rules), world }))
}

/// Whether all ancestors of a class are known.
fn is_all_known(class: &ClassFile<'_>, world: &World) -> bool {
    let mut above: Vec<&[u8]> = class.super_name().into_iter().chain(class.interface_names()).collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = above.pop() {
        if !seen.insert(name) {
            continue;
        }
        if !world.knows(name) {
            return false;
        }
        above.extend(world.above(name));
    }
    true
}

/// Records the matches of the rules in a class.
pub fn add(marked: &MarkedClass) {
    if let Some(marking) = MARKING.get() {
        marking.add(marked);
    }
}

/// Notes that a counted class has no markers.
pub fn not_marked(class: &[u8], why: &str) {
    if let Some(marking) = MARKING.get() {
        marking.note(format!("classes that cannot be marked: {why}"), class);
    }
}
