//! Stack replay: finds the node of the method whose bytecode made the VM call something by itself.
//!
//! The thread's field names the last call of code that cannot receive a context. That call may be
//! long ago, in a callee that has returned. The stack shows where the thread is now. From its
//! oldest frame to the newest, each frame of a recorded body is a child of the node before. Every
//! such body made its node on entry. Frames without a node are skipped: wrappers, code that is not
//! recorded, frames from before the thread got its tree.

use std::sync::atomic::{AtomicBool, Ordering};

use cct_index::positions;

use crate::jni::{Env, jobject};
use crate::known_class::Bytecodes;
use crate::members::Members;
use crate::state::{jvmti, state};
use crate::tree::Node;
use crate::{frame_bodies, frames};

/// Whether a call of a method that is already on the stack may fold into the context that it has
/// there.
static FOLDS: AtomicBool = AtomicBool::new(false);

/// Enables folding; called before there is any tree.
pub fn fold() {
    FOLDS.store(true, Ordering::Relaxed);
}

/// The call site of a node's method that entered the callee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// The bytecode at this index; `None` if call sites are not distinguished, or for a call by
    /// native code.
    At(Option<u16>),
    /// Call sites are distinguished, but this one is unknown.
    Unknown,
}

/// The context of what the VM calls: the node of the frame `skip` of `thread` in the tree with this
/// root. `thread` must be the calling one; frames count from the newest. Where call sites are
/// distinguished, the upper bits hold the call site. `None` if the stack cannot be walked, as
/// before the JVM's live phase.
pub fn context(env: Env, thread: jobject, root: Node, skip: i32) -> Option<u64> {
    let (node, site) = of_stack(env, thread, root, skip)?;
    Some(node.context(match site {
        Site::At(bci) => bci,
        Site::Unknown => None,
    }))
}

/// The node of the frame `skip` of `thread`, and the call site that is being executed there.
pub fn of_stack(env: Env, thread: jobject, root: Node, skip: i32) -> Option<(Node, Site)> {
    let jvmti = jvmti(env)?;
    let members = Members::find(env)?;
    let stack = jvmti.stack(env, thread, skip)?;
    let apart = state().library.tells_call_sites();
    let (mut node, mut site) = (root, Site::At(None));
    // Where calls fold: the nodes above.
    let mut above: Vec<Node> = Vec::new();
    let folds = FOLDS.load(Ordering::Relaxed);
    for frame in stack.iter().rev() {
        let shown = frames::shown(env, jvmti, members, frame.method);
        let found = node.children().filter(|child| site.is(child.site())).find_map(|child| {
            let body = frame_bodies::body(&shown, child.mid())?;
            Some((child, body))
        });
        let found = found.map(|(child, body)| {
            if folds {
                above.push(child);
            }
            (child, body)
        });
        let found = found.or_else(|| {
            let (at, body) = above
                .iter()
                .enumerate()
                .rev()
                .find_map(|(at, node)| Some((at, frame_bodies::body(&shown, node.mid())?)))?;
            above.truncate(at + 1);
            Some((above[at], body))
        });
        if let Some((child, body)) = found {
            if site == Site::Unknown && child.site().is_some() {
                state().note(
                    "code that the JVM calls by itself may hang below another call site of its caller",
                    "?",
                );
            }
            node = child;
            site = if apart { Site::of(&body.code, frame.location) } else { Site::At(None) };
        }
    }
    Some((node, site))
}

impl Site {
    /// The call site of code that is at this bytecode of its current form.
    pub fn of(code: &Bytecodes, location: i64) -> Site {
        let Ok(index) = u32::try_from(location) else { return Site::At(None) };
        let original = match code {
            Bytecodes::Native => return Site::At(None),
            Bytecodes::Original => Some(index),
            Bytecodes::Rewritten(form, packed) => positions::original(packed, *form, index),
        };
        match original.and_then(|bci| u16::try_from(bci).ok()) {
            Some(bci) => Site::At(Some(bci)),
            None => Site::Unknown,
        }
    }

    fn is(self, site: Option<u16>) -> bool {
        self == Site::Unknown || self == Site::At(site)
    }
}
