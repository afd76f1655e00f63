//! Memory of the trees of a profile, computed from the layout of nodes and chunks
//! (docs/internals/runtime.md).

use cct_profile::{Profile, Tree};

/// Size of a node without its slots, and of a slot, in bytes.
const NODE: u64 = 40;
const SLOT: u64 = 8;
/// Size of a chunk, and of its first word, in bytes.
const CHUNK: u64 = 4096;
const HEAD: u64 = 8;
/// Initial size of a tree: its record, the root with one slot, and the node for merged contexts
/// with 64.
const FIRST: u64 = 120 + (NODE + SLOT) + (NODE + 64 * SLOT);
/// Maximum number of chunks that a tree takes at once.
const LONGEST_RUN: u64 = 16;

/// The parts of a profile's trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Number of trees.
    pub trees: u64,
    /// Number of contexts.
    pub contexts: u64,
    /// Number of contexts without callees.
    pub leaves: u64,
    /// Number of call-site slots of all.
    pub slots: u64,
    /// Number of slots of contexts without callees.
    pub slots_of_leaves: u64,
    /// Number of chunks of the trees.
    pub chunks: u64,
}

impl Shape {
    /// Computes the shape of a profile from the runtime: the ids of its methods contain their
    /// numbers of slots.
    ///
    /// The order of allocation is unknown, so nodes are laid out in the profile's order. That
    /// slightly changes how much is left unused at the ends of chunks.
    pub fn of(profile: &Profile) -> Shape {
        let mut shape = Shape::default();
        for thread in &profile.threads {
            shape.add(profile, &thread.tree);
        }
        shape
    }

    fn add(&mut self, profile: &Profile, tree: &Tree) {
        let mut arena = Arena { chunks: 1, run: 0, left: CHUNK - FIRST };
        for (node, place) in tree.nodes().iter().zip(0..).skip(1) {
            let slots = profile.methods.get(node.method as usize).map_or(0, |method| method.mid & 0x7F);
            arena.take(NODE + slots * SLOT);
            self.contexts += 1;
            self.slots += slots;
            if tree.subtree(place).len() == 1 {
                self.leaves += 1;
                self.slots_of_leaves += slots;
            }
        }
        self.trees += 1;
        self.chunks += arena.chunks;
    }

    /// Size of all nodes, in bytes.
    pub fn nodes(&self) -> u64 {
        self.contexts * NODE + self.slots * SLOT
    }

    /// Size of the slots of contexts without callees, in bytes.
    pub fn bytes_of_idle_slots(&self) -> u64 {
        self.slots_of_leaves * SLOT
    }

    /// Size of all chunks in bytes: including the parts of trees besides their contexts, and the
    /// unused ends of chunks.
    pub fn bytes(&self) -> u64 {
        self.chunks * CHUNK
    }
}

/// The memory of one tree, as `cctrewrite.runtime.Tree` allocates it.
struct Arena {
    chunks: u64,
    /// Number of remaining chunks in the current run.
    run: u64,
    /// Bytes left in the current chunk.
    left: u64,
}

impl Arena {
    fn take(&mut self, size: u64) {
        if size > self.left {
            if self.run == 0 {
                self.run = (self.chunks / 4).clamp(1, LONGEST_RUN);
                self.chunks += self.run;
            }
            self.run -= 1;
            self.left = CHUNK - HEAD;
        }
        self.left -= size;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cct_profile::{Method, ThreadTree, TreeBuilder};

    use super::*;

    /// A profile with one thread of `n` contexts: a chain, or all called by its root.
    fn profile(n: u64, is_chain: bool) -> Profile {
        let method = |mid| Method {
            class: "A".into(),
            name: "f".into(),
            descriptor: "()V".into(),
            site: None,
            mid,
            flags: 0,
        };
        let mut builder = TreeBuilder::new();
        for _ in 0..n {
            builder.enter(0, 1, 1).unwrap();
            if !is_chain {
                builder.leave();
            }
        }
        if is_chain {
            (0..n).for_each(|_| builder.leave());
        }
        let tree = builder.finish();
        Profile {
            meta: BTreeMap::new(),
            notes: Vec::new(),
            methods: vec![method(0x1200 + 3)],
            threads: vec![ThreadTree { name: "main".into(), threads: 1, flags: 0, tree }],
            damage: Vec::new(),
        }
    }

    #[test]
    fn chunks_are_taken_as_the_runtime_takes_them() {
        // Nodes of 64 bytes: 52 after the initial part of a tree, 63 in a chunk of their own.
        let chunks = |n| Shape::of(&profile(n, false)).chunks;
        assert_eq!(
            [chunks(0), chunks(52), chunks(53), chunks(52 + 63), chunks(52 + 63 + 1)],
            [1, 1, 2, 2, 3]
        );
        // One by one up to eight, then by quarters: 8 + 2.
        assert_eq!([chunks(52 + 7 * 63), chunks(52 + 7 * 63 + 1), chunks(52 + 9 * 63)], [8, 10, 10]);
        // At most sixteen at a time.
        assert_eq!(chunks(1_000_000) % 16, chunks(2_000_000) % 16);
    }

    #[test]
    fn leaves_are_told_from_others() {
        let wide = Shape::of(&profile(10, false));
        assert_eq!((wide.contexts, wide.leaves, wide.slots, wide.slots_of_leaves), (10, 10, 30, 30));
        let deep = Shape::of(&profile(10, true));
        assert_eq!((deep.leaves, deep.slots_of_leaves, deep.nodes()), (1, 3, 10 * 64));
    }
}
