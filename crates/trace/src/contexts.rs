//! The calling-context tree, rebuilt from a trace: the counts of a profiled run, computed from its
//! events.

use std::sync::Arc;

use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::file::{Error, ThreadChunks, Trace};
use crate::found::TracedMethod;
use crate::program::{Callee, Program};
use crate::replay::{Oddities, Replay, Visitor};

/// A context.
#[derive(Debug, Clone, Copy)]
struct Node {
    callee: Callee,
    first_child: u32,
    next: u32,
    calls: u64,
    bytecodes: u64,
}

/// Builder of a thread's tree.
#[derive(Debug)]
pub struct Contexts {
    nodes: Vec<Node>,
    /// Children of nodes with many children.
    many: FxHashMap<(u32, Callee), u32>,
}

/// Maximum number of children that are searched linearly.
const FEW: usize = 8;

impl Default for Contexts {
    fn default() -> Self {
        let root = Node { callee: Callee(u32::MAX), first_child: 0, next: 0, calls: 0, bytecodes: 0 };
        Contexts { nodes: vec![root], many: FxHashMap::default() }
    }
}

impl Contexts {
    fn child(&mut self, parent: u32, callee: Callee) -> u32 {
        let (mut child, mut seen, mut before) = (self.nodes[parent as usize].first_child, 0, 0);
        while child != 0 && seen < FEW {
            let node = self.nodes[child as usize];
            if node.callee == callee {
                if before != 0 {
                    // The latest callee comes first.
                    self.nodes[before as usize].next = node.next;
                    self.nodes[child as usize].next =
                        std::mem::replace(&mut self.nodes[parent as usize].first_child, child);
                }
                return child;
            }
            (before, child, seen) = (child, node.next, seen + 1);
        }
        if seen == FEW
            && let Some(&child) = self.many.get(&(parent, callee))
        {
            return child;
        }
        let made = self.nodes.len() as u32;
        let next = std::mem::replace(&mut self.nodes[parent as usize].first_child, made);
        self.nodes.push(Node { callee, first_child: 0, next, calls: 0, bytecodes: 0 });
        self.many.insert((parent, callee), made);
        made
    }

    fn tree(&self, methods: &[Option<u32>]) -> Result<cct_profile::Tree, Error> {
        let mut builder = TreeBuilder::new();
        // Nodes to be entered; at the second visit they are left.
        let mut open: Vec<(u32, bool)> = self.sorted_children(0);
        while let Some((node, entered)) = open.pop() {
            if entered {
                builder.leave();
                continue;
            }
            let Node { callee, calls, bytecodes, .. } = self.nodes[node as usize];
            let method = methods[callee.0 as usize].unwrap_or_default();
            builder.enter(method, calls, bytecodes)?;
            open.push((node, true));
            open.extend(self.sorted_children(node));
        }
        Ok(builder.finish())
    }

    /// The children of a node, the last first.
    fn sorted_children(&self, node: u32) -> Vec<(u32, bool)> {
        let mut children = Vec::new();
        let mut child = self.nodes[node as usize].first_child;
        while child != 0 {
            children.push(child);
            child = self.nodes[child as usize].next;
        }
        children.sort_by_key(|&child| std::cmp::Reverse(self.nodes[child as usize].callee));
        children.into_iter().map(|child| (child, false)).collect()
    }
}

impl Visitor for Contexts {
    fn enter(&mut self, caller: u32, callee: Callee, _: Option<TracedMethod<'_>>) -> u32 {
        let node = self.child(caller, callee);
        self.nodes[node as usize].calls += 1;
        node
    }

    fn block(&mut self, node: u32, _: TracedMethod<'_>, _: u32, bytecodes: u32) {
        self.bytecodes(node, bytecodes);
    }

    fn bytecodes(&mut self, node: u32, bytecodes: u32) {
        self.nodes[node as usize].bytecodes += u64::from(bytecodes);
    }

    fn take_back(&mut self, node: u32, bytecodes: u32) {
        let counted = &mut self.nodes[node as usize].bytecodes;
        *counted = counted.saturating_sub(bytecodes.into());
    }
}

/// Replays a thread.
///
/// # Errors
/// Fails if its events cannot be read.
pub fn of_thread<V: Visitor>(
    trace: &Trace,
    thread: &ThreadChunks,
    visitor: V,
) -> Result<(V, Oddities, u64), Error> {
    let mut replay = Replay::new(&trace.program, visitor);
    if trace.last.is_some() {
        replay.begins_in_the_middle();
    }
    for chunk in trace.chunks(thread) {
        if !replay.visitor.wants_more() {
            break;
        }
        let chunk = chunk?;
        if chunk.is_behind_gap {
            replay.gap();
        }
        if replay.words(&chunk.words).is_err() {
            // The events after an unknown word have no meaning for this version.
            replay.gap();
        }
    }
    Ok(replay.finish())
}

/// The whole trace as a profile, and its oddities.
///
/// # Errors
/// Fails if the trace cannot be read, or if the tree is too large.
pub fn profile(trace: &Trace) -> Result<(Profile, Oddities), Error> {
    let trees = trace.threads.par_iter().map(|thread| {
        let (mut tree, oddities, _) = of_thread(trace, thread, Contexts::default())?;
        // All trees are in memory in the end; their search tables need not be.
        tree.many = FxHashMap::default();
        tree.nodes.shrink_to_fit();
        Ok((tree, oddities))
    });
    let trees: Vec<Result<(Contexts, Oddities), Error>> = trees.collect();
    let mut oddities = Oddities::default();
    let mut contexts = Vec::with_capacity(trees.len());
    for tree in trees {
        let (tree, odd) = tree?;
        oddities.add(odd);
        contexts.push(tree);
    }
    let (methods, places) = methods(&trace.program, &contexts);
    let mut threads = Vec::with_capacity(contexts.len());
    for (thread, tree) in trace.threads.iter().zip(&contexts) {
        let name: Arc<str> = thread.thread.name.as_str().into();
        threads.push(ThreadTree { name, threads: 1, flags: flags(thread), tree: tree.tree(&places)? });
    }
    threads.sort_by(|a, b| a.name.cmp(&b.name));
    let mut meta = trace.meta.clone();
    meta.insert("metrics".to_owned(), "calls+bytecodes".to_owned());
    meta.insert("blocks".to_owned(), "exact".to_owned());
    // No agent of the JVM wrote it.
    meta.remove("agent");
    meta.insert("rebuilt".to_owned(), "from a trace".to_owned());
    let mut notes = trace.notes.clone();
    notes.sort();
    let profile = Profile { meta, notes, methods, threads, damage: Vec::new() };
    Ok((profile, oddities))
}

fn flags(thread: &ThreadChunks) -> u64 {
    match thread.thread.flags & cct_events::file::Thread::DAEMON {
        0 => 0,
        _ => ThreadTree::DAEMON,
    }
}

/// The methods that occur, and for each method of the program its index among them.
fn methods(program: &Program, trees: &[Contexts]) -> (Vec<Method>, Vec<Option<u32>>) {
    let mut occurs = vec![false; program.callees().len()];
    for node in trees.iter().flat_map(|tree| &tree.nodes[1..]) {
        occurs[node.callee.0 as usize] = true;
    }
    let mut methods = Vec::new();
    let mut places = vec![None; occurs.len()];
    for (place, called) in program.callees().iter().enumerate().filter(|(place, _)| occurs[*place]) {
        places[place] = Some(methods.len() as u32);
        methods.push(Method {
            class: called.class.clone(),
            name: called.name.clone(),
            descriptor: called.descriptor.clone(),
            site: None,
            mid: called.id,
            flags: if called.is_native { Method::NATIVE } else { 0 },
        });
    }
    (methods, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chunk, class, end, start, trace};

    /// Stops after this many calls.
    struct CallLimit(u32);

    impl Visitor for CallLimit {
        fn enter(&mut self, _: u32, _: Callee, _: Option<TracedMethod<'_>>) -> u32 {
            self.0 = self.0.saturating_sub(1);
            0
        }

        fn block(&mut self, _: u32, _: TracedMethod<'_>, _: u32, _: u32) {}

        fn bytecodes(&mut self, _: u32, _: u32) {}

        fn take_back(&mut self, _: u32, _: u32) {}

        fn wants_more(&self) -> bool {
            self.0 > 0
        }
    }

    /// An analysis that has seen enough of a long trace does not read the rest.
    #[test]
    fn unwanted_sections_are_not_read() {
        let calls = [start(0), end(0), start(1), end(1)];
        let chunks = (0..10).map(|sequence| chunk(1, sequence, &calls));
        let (_folder, trace) = trace("", std::iter::once(class(2)).chain(chunks));
        let events = |few| of_thread(&trace, &trace.threads[0], CallLimit(few)).unwrap().2;
        let chunk = events(1);
        assert!(chunk > 0);
        assert_eq!((events(0), events(2), events(3), events(1000)), (0, chunk, 2 * chunk, 10 * chunk));
    }
}
