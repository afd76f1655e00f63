//! The uses between files of a crate: each path is followed to the file that defines its target,
//! through re-exports and globs.

use std::collections::BTreeSet;

use crate::circles::{Use, Uses};
use crate::source::{Import, Module, Reference, Sources};

/// The meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameTarget {
    /// A module of the crate, by its number.
    Module(usize),
    /// An item of a file.
    Item(usize),
    /// An item of another crate.
    Elsewhere,
}

/// Modules and names of the current lookup, so that circular imports end.
type LookupPath = BTreeSet<(usize, String)>;

/// The uses of files by other files. Importing a module is not a use yet; naming something in it
/// is.
pub fn uses(sources: &Sources) -> Uses {
    let mut uses = Uses::new();
    for (number, module) in sources.modules.iter().enumerate() {
        let imports = module.imports.iter().filter(|import| is_used(module, import)).map(|import| &import.of);
        for reference in imports.chain(&module.references) {
            let Reference { path, line } = reference;
            if let Some(NameTarget::Item(file)) = resolve(sources, number, path, &mut LookupPath::new())
                && file != module.file
            {
                let used = Use { line: *line, path: path.join("::") };
                let first = uses.entry((module.file, file)).or_insert_with(|| used.clone());
                if used.line < first.line {
                    *first = used;
                }
            }
        }
        let globs = module.imports.iter().filter(|import| import.name.is_none() && !import.is_export);
        for glob in globs {
            if let Some(NameTarget::Module(other)) =
                resolve(sources, number, &glob.of.path, &mut LookupPath::new())
                && sources.modules[other].file != module.file
            {
                let used = Use { line: glob.of.line, path: format!("{}::*", glob.of.path.join("::")) };
                uses.entry((module.file, sources.modules[other].file)).or_insert(used);
            }
        }
    }
    uses
}

/// Whether a module's own code uses an import, which may be only re-exported.
fn is_used(module: &Module, import: &Import) -> bool {
    match &import.name {
        Some(name) => !import.is_export || module.names.contains(name),
        None => false,
    }
}

/// The meaning of a path in a module; `None` if its first name is not one of the crate.
fn resolve(sources: &Sources, module: usize, path: &[String], seen: &mut LookupPath) -> Option<NameTarget> {
    let (mut at, mut rest) = (module, path);
    while let [first, behind @ ..] = rest {
        match &**first {
            "crate" => at = 0,
            "self" => {}
            "super" => at = sources.modules[at].parent,
            _ => break,
        }
        rest = behind;
    }
    let is_relative = rest.len() == path.len();
    let mut named = NameTarget::Module(at);
    for (number, name) in rest.iter().enumerate() {
        let NameTarget::Module(around) = named else { break };
        let is_last = number + 1 == rest.len();
        named = match look_up(sources, around, name, is_last, seen) {
            Some(found) => found,
            None if is_relative && number == 0 => return None,
            // A macro defines it.
            None => NameTarget::Item(sources.modules[around].file),
        };
    }
    Some(named)
}

/// The meaning of a name in a module. At the end of a path an item takes precedence over a module
/// of the same name.
fn look_up(
    sources: &Sources,
    number: usize,
    name: &str,
    is_last: bool,
    seen: &mut LookupPath,
) -> Option<NameTarget> {
    let module = &sources.modules[number];
    let child = module.children.get(name).map(|&child| NameTarget::Module(child));
    if child.is_some() && !is_last {
        return child;
    }
    if module.items.contains(name) {
        return Some(NameTarget::Item(module.file));
    }
    if !seen.insert((number, name.to_owned())) {
        return child;
    }
    for import in module.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
        match resolve(sources, number, &import.of.path, seen) {
            Some(NameTarget::Module(_)) if child.is_some() => {}
            Some(found) => return Some(found),
            None => return Some(NameTarget::Elsewhere),
        }
    }
    if child.is_some() {
        return child;
    }
    for glob in module.imports.iter().filter(|import| import.name.is_none()) {
        if let Some(NameTarget::Module(other)) = resolve(sources, number, &glob.of.path, seen)
            && let Some(found) = look_up(sources, other, name, is_last, seen)
        {
            return Some(found);
        }
    }
    None
}
