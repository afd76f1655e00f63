//! Markers beside what counts, in classes that are rewritten when they are defined
//! (docs/research/markers.md, *With a calling-context tree*).
//!
//! No loader may be asked for what is above a class: its `loadClass` would be called in another
//! context than the JVM calls it in a moment later. What is not known then is said.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use cct_classfile::ClassFile;
use cct_markers::{Marked, World, library};
use cct_rewrite::markers::{Markers, Shared};
use cct_rewrite::{ClassSummary, World as Surroundings};

use crate::marking::rules::{CLIENTS, MARKING, read};

/// Takes what an image carries. Says what is wrong with it.
pub fn start(folder: &Path) -> Result<(), String> {
    if MARKING.get().is_none() {
        let marking = read(folder)?;
        MARKING.get_or_init(|| marking);
    }
    Ok(())
}

/// What is to be marked in a class: by the rules of the image, if it brings some along. `loader`
/// finds the name of the class of the loader that defines it; most JVMs have no rules, and so
/// nobody asks.
pub fn wanted(
    class: &ClassFile<'_>,
    surroundings: &Surroundings,
    has_own_name: bool,
    loader: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<Shared> {
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
            "classes that came before what is above them: rules with subtypes-of may have left them out",
            name,
        );
    }
    Some(Arc::new(Markers { rules: Arc::clone(&marking.rules), world }))
}

/// Whether all that is above a class is known.
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

/// What became of the rules in a class.
pub fn add(marked: &Marked) {
    if let Some(marking) = MARKING.get() {
        marking.add(marked);
    }
}

/// A class has no markers, though it is counted.
pub fn not_marked(class: &[u8], why: &str) {
    if let Some(marking) = MARKING.get() {
        marking.note(format!("classes that cannot be marked: {why}"), class);
    }
}
