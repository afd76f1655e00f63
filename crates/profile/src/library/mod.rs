//! The work of a library, added to the frames of the program that cause it.
//!
//! In this view a method is either of the library or of the program. Below each frame of the
//! program, all that library methods execute there is one context, [`LIBRARY_LINE`]: until a
//! method of the program is called again. Such a callback hangs below the frame of the program that
//! called the library. So the program `Report.main` with
//!
//! ```text
//! Report.main                         Report.main
//!   List.sort             20            (library)            70
//!     TimSort.sort        50            Report.compare        5
//!       Report.compare     5              (library)           3
//!         String.length    3
//! ```
//!
//! has the tree on the right. The line `(library)` is always a leaf (but for types of objects,
//! [`crate::allocations`]), so its number is what the library itself executed there.
//!
//! No count is lost, and of each method of the program its own and its inclusive counts are those
//! of the whole tree.

use crate::fold::Forest;
use crate::meta_keys::LIBRARY;
use crate::{MergeError, Method, Profile, Tree};
use std::collections::BTreeMap;

/// The text of a context that stands for library methods.
pub const LIBRARY_LINE: &str = "(library)";

/// Whether this is the placeholder for library methods.
pub fn is_library_line(method: &Method) -> bool {
    method.flags & Method::MARKER != 0 && &*method.class == LIBRARY_LINE
}

/// The part of a method in a collapsed tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A method of the program, or a placeholder.
    Program = 0,
    /// A method of the library, or the line of one that was collapsed before.
    Library = 1,
    /// A type of objects, which stays below the context that allocated them.
    Type = 2,
}

impl Role {
    /// The role of a method. `is_library` decides about methods that have code.
    pub fn of(method: &Method, is_library: impl Fn(&Method) -> bool) -> Role {
        if is_library_line(method) {
            return Role::Library;
        }
        match method.flags {
            flags if flags & Method::TYPE != 0 => Role::Type,
            flags if flags & Method::MARKER == 0 && is_library(method) => Role::Library,
            _ => Role::Program,
        }
    }
}

/// The JDK as a collapsed library, in words.
pub const JDK: &str = "the JDK";

/// The library that is collapsed in a profile with this `META`, in words.
pub fn collapsed(meta: &BTreeMap<String, String>) -> Option<&str> {
    meta.get(LIBRARY).map(|which| &**which).filter(|which| !which.is_empty())
}

/// Whether the library that is collapsed in a profile with this `META` is more than the JDK, so
/// that all methods left are the user's own.
pub fn is_own_code_alone(meta: &BTreeMap<String, String>) -> bool {
    collapsed(meta).is_some_and(|which| which != JDK)
}

/// What a collapsed library is, as reports say it: the value of `library` in `META`.
pub(crate) fn library_is(which: &str) -> String {
    format!("{which}: added to the frame that calls it, as {LIBRARY_LINE}")
}

/// The row of a method in the collapsed profile, by its role.
#[derive(Clone, Copy)]
enum Place {
    Program(u32),
    Type(u32),
    Library,
}

impl Profile {
    /// The profile in which the work of library methods is added to the nearest frame of the
    /// program, as a context [`LIBRARY_LINE`] below it. `is_library` decides about each method;
    /// `which` says in words which these are, for [`LIBRARY`].
    ///
    /// # Errors
    /// Fails if counts overflow.
    pub fn with_library_collapsed(
        self,
        is_library: impl Fn(&Method) -> bool,
        which: &str,
    ) -> Result<Profile, MergeError> {
        let role = |method: &Method| Role::of(method, &is_library);
        let is_library = |method: &Method| role(method) == Role::Library;
        let stays = |method: &Method| !is_library(method);
        let mut this = if self.has_call_sites() { self.called_from_those_that_stay(&stays)? } else { self };
        let line = Method {
            class: LIBRARY_LINE.into(),
            name: "".into(),
            descriptor: "".into(),
            site: None,
            flags: Method::MARKER,
            mid: 0,
        };
        let has_library = this.methods.iter().any(is_library);
        // Rows are sorted; that of the library is put where it belongs.
        let kept = || this.methods.iter().filter(|method| stays(method));
        let before = kept().filter(|method| method.key() < line.key()).count() as u32;
        let mut next = 0;
        let place = |method: &Method| {
            let role = role(method);
            if role == Role::Library {
                return Place::Library;
            }
            let row = next + u32::from(has_library && next >= before);
            next += 1;
            if role == Role::Type { Place::Type(row) } else { Place::Program(row) }
        };
        let places: Vec<Place> = this.methods.iter().map(place).collect();
        for thread in &mut this.threads {
            thread.tree = collapsed_tree(&thread.tree, &places, before)?;
        }
        this.methods.retain(stays);
        if has_library {
            this.methods.insert(before as usize, line);
        }
        let collapsed = this.meta.entry(LIBRARY.to_owned()).or_default();
        if collapsed.is_empty() {
            which.clone_into(collapsed);
        } else if collapsed != which {
            collapsed.push_str("; ");
            collapsed.push_str(which);
        }
        Ok(this)
    }
}

/// An open context of the whole tree.
struct Open {
    end: u32,
    /// The nearest frame of the program in the collapsed tree; the root if there is none.
    program: u32,
    is_library: bool,
}

/// The collapsed tree. `line` is the label of the library.
fn collapsed_tree(tree: &Tree, places: &[Place], line: u32) -> Result<Tree, MergeError> {
    let mut forest = Forest::new(tree.columns());
    let nodes = tree.nodes();
    forest.count(0, &nodes[0], tree.values(0))?;
    let mut open: Vec<Open> = Vec::new();
    for (index, node) in (0u32..).zip(nodes).skip(1) {
        while open.pop_if(|open| open.end <= index).is_some() {}
        let (above, in_library) = open.last().map_or((0, false), |open| (open.program, open.is_library));
        let place = places.get(node.method as usize).copied();
        let place = place.ok_or(MergeError::NoSuchMethod { method: node.method, count: places.len() })?;
        let end = tree.subtree(index).end;
        let (program, is_library) = match place {
            Place::Program(row) => {
                let context = forest.child(above, row)?;
                forest.count(context, node, tree.values(index))?;
                (context, false)
            }
            Place::Type(row) => {
                let owner = if in_library { forest.child(above, line)? } else { above };
                let context = forest.child(owner, row)?;
                forest.count(context, node, tree.values(index))?;
                (above, in_library)
            }
            Place::Library => {
                // A context that only leads to others would leave a line without a number.
                if !node.is_empty() || tree.values(index).iter().any(|value| *value > 0) {
                    let context = forest.child(above, line)?;
                    forest.count(context, node, tree.values(index))?;
                }
                (above, true)
            }
        };
        open.push(Open { end, program, is_library });
    }
    forest.tree()
}

#[cfg(test)]
mod tests;
