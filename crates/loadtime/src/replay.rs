//! Stack replay: the node of the method whose bytecode made the VM call something by itself.
//!
//! The thread's field says where code was called last that cannot receive a context; that may be long ago, in a callee that has returned.
//! The stack itself says where the thread is: from its oldest frame to the newest, each frame of a recorded body is a child of the node
//! before. Every such body has made its node when it was entered. Frames without a node (wrappers, code that is not
//! recorded, frames from before the thread got its tree) are passed over.

use crate::frames;
use crate::jni::Env;
use crate::state::{Members, jvmti};
use crate::tree::Node;

/// The node of the frame `skip`, counted from the newest one, in the tree with this root. `None` if the stack cannot be walked, which
/// is so until the JVM is in its live phase.
pub fn node(env: Env, root: Node, skip: i32) -> Option<Node> {
    let jvmti = jvmti(env)?;
    let members = Members::find(env)?;
    let stack = jvmti.stack(skip)?;
    let mut node = root;
    for frame in stack.iter().rev() {
        let shown = frames::shown(env, jvmti, members, frame.method);
        if let Some(child) = node.children().find(|child| shown.is(child.mid())) {
            node = child;
        }
    }
    Some(node)
}
