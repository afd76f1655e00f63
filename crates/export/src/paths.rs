//! What a context's path says: its id, and whether its method is on the path before.

use cct_profile::{ContextId, FrameId, Tree};

use crate::Name;
use crate::name::Functions;
use crate::walk::Place;

/// What the path of a context says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) id: ContextId,
    /// The id of the caller; `None` for an outermost context.
    pub(crate) caller: Option<ContextId>,
    /// Whether no caller has the same method, from whatever call site.
    pub(crate) is_outermost: bool,
}

/// The paths of the contexts of one tree, in preorder.
pub(crate) struct Paths<'n> {
    names: &'n [Name],
    functions: &'n Functions,
    /// The callers of the next context.
    open: Vec<Open>,
    /// How often each method is on the path.
    times: Vec<u32>,
}

struct Open {
    end: u32,
    id: ContextId,
    function: usize,
}

impl<'n> Paths<'n> {
    /// The paths of contexts with these names.
    pub(crate) fn new(names: &'n [Name], functions: &'n Functions) -> Paths<'n> {
        Paths { names, functions, open: Vec::new(), times: vec![0; functions.first.len()] }
    }

    /// The path of a context, which is the next one in preorder.
    pub(crate) fn next(&mut self, tree: &Tree, place: &Place) -> Path {
        while let Some(closed) = self.open.pop_if(|open| open.end <= place.context) {
            self.times[closed.function] -= 1;
        }
        let name = tree.nodes()[place.context as usize].method as usize;
        let frame: FrameId = self.names[name].frame_id;
        let function = self.functions.of_name[name] as usize;
        let caller = self.open.last().map(|open| open.id);
        let id = caller.unwrap_or(ContextId::ROOT).callee(frame);
        let is_outermost = self.times[function] == 0;
        self.times[function] += 1;
        self.open.push(Open { end: tree.subtree(place.context).end, id, function });
        Path { id, caller, is_outermost }
    }
}
