//! Stack replay: the node of the method whose bytecode made the VM call something by itself.
//!
//! The thread's field says where code was called last that cannot receive a context; that may be
//! long ago, in a callee that has returned. The stack itself says where the thread is: from its
//! oldest frame to the newest, each frame of a recorded body is a child of the node before. Every
//! such body has made its node when it was entered. Frames without a node (wrappers, code that is
//! not recorded, frames from before the thread got its tree) are passed over.

use std::sync::atomic::{AtomicBool, Ordering};

use cct_index::positions;

use crate::jni::{Env, jobject};
use crate::known::Bytecodes;
use crate::members::Members;
use crate::state::{jvmti, state};
use crate::tree::Node;
use crate::{frames, shown};

/// Whether calls of what is on the stack may go back to the context that it has there.
static FOLDS: AtomicBool = AtomicBool::new(false);

/// They may, from now on; said before there is any tree.
pub fn fold() {
    FOLDS.store(true, Ordering::Relaxed);
}

/// From which call site of a node's method its callee was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// From the bytecode at this index; `None` if call sites are not told apart, or by native code.
    At(Option<u16>),
    /// Call sites may be told apart, but not this one.
    Unknown,
}

/// The context of what the VM calls: the node of the frame `skip` of `thread`, the calling one,
/// counted from the newest frame, in the tree with this root, with the call site in its upper bits
/// where call sites are told apart. `None` if the stack cannot be walked, which is so until the JVM
/// is in its live phase.
pub fn context(env: Env, thread: jobject, root: Node, skip: i32) -> Option<u64> {
    let (node, site) = of_stack(env, thread, root, skip)?;
    Some(node.context(match site {
        Site::At(bci) => bci,
        Site::Unknown => None,
    }))
}

/// That node, and the bytecode that is being executed there.
pub fn of_stack(env: Env, thread: jobject, root: Node, skip: i32) -> Option<(Node, Site)> {
    let jvmti = jvmti(env)?;
    let members = Members::find(env)?;
    let stack = jvmti.stack(env, thread, skip)?;
    let apart = state().library.tells_call_sites();
    let (mut node, mut site) = (root, Site::At(None));
    // Where calls go back: the nodes above.
    let mut above: Vec<Node> = Vec::new();
    let folds = FOLDS.load(Ordering::Relaxed);
    for frame in stack.iter().rev() {
        let shown = frames::shown(env, jvmti, members, frame.method);
        let found = node.children().filter(|child| site.is(child.site())).find_map(|child| {
            let body = shown::body(&shown, child.mid())?;
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
                .find_map(|(at, node)| Some((at, shown::body(&shown, node.mid())?)))?;
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
    /// Of code that has come to this bytecode of what it is now.
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
