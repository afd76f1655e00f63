//! The runtime's trees, read in place (docs/internals/runtime.md, *The context*).

#![allow(unsafe_code)]

use cct_arena::layout::node::{ADDRESS, BYTECODES, CALLS, FIRST_CHILD, LAST, MID, NEXT, SITE_SHIFT, site};
use cct_arena::layout::record::{MERGED, ROOT};
use cct_index::mid::Mid;

/// A node. Its tree may be growing: a node is complete before it is linked, and nothing is ever
/// freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node(u64);

/// A tree's record.
#[derive(Debug, Clone, Copy)]
pub struct Record(Node);

impl Record {
    /// The record at an address.
    ///
    /// # Safety
    /// `address` must be that of a tree's record.
    pub unsafe fn at(address: u64) -> Self {
        Record(Node(address))
    }

    /// The root of the tree.
    pub fn root(self) -> Node {
        Node(self.0.word(ROOT))
    }

    /// The node for contexts that were merged for lack of memory or beyond the bound, if anything
    /// was counted there. In a region it may hold bytecodes alone.
    pub fn merged(self) -> Option<Node> {
        Some(Node(self.0.word(MERGED))).filter(|node| node.calls() != 0 || node.bytecodes() != 0)
    }
}

impl Node {
    /// The node at an address.
    ///
    /// # Safety
    /// `address` must be that of a node.
    pub unsafe fn at(address: u64) -> Self {
        Node(address)
    }

    /// The node's address.
    pub fn address(self) -> u64 {
        self.0
    }

    fn word(self, offset: u64) -> u64 {
        // SAFETY: by the contract of `at`; nodes refer only to nodes.
        unsafe { std::ptr::read_volatile((self.0 + offset) as *const u64) }
    }

    /// The node's method id.
    pub fn mid(self) -> u64 {
        self.word(MID)
    }

    /// Number of entries of the node's method in this context.
    pub fn calls(self) -> u64 {
        self.word(CALLS)
    }

    /// Number of bytecodes that the method executed in this context: those that each entry counts,
    /// and those that were added to the node.
    pub fn bytecodes(self) -> u64 {
        Mid(self.mid()).bytecodes(self.calls(), self.word(BYTECODES))
    }

    /// The bytecode index of the call in the caller's original code, where call sites are
    /// distinguished and a bytecode made the call.
    pub fn site(self) -> Option<u16> {
        site(self.word(FIRST_CHILD))
    }

    /// The context of a callee at this bytecode of the node's method: the node's address, and above
    /// it the call site.
    pub fn context(self, bci: Option<u16>) -> u64 {
        bci.map_or(0, |bci| (u64::from(bci) + 1) << SITE_SHIFT) | self.0
    }

    /// The node's children, the newest first.
    pub fn children(self) -> impl Iterator<Item = Node> {
        let first = self.word(FIRST_CHILD) & ADDRESS;
        std::iter::successors((first != 0).then_some(Node(first)), |child| {
            let next = child.word(NEXT);
            (next & LAST == 0).then_some(Node(next.wrapping_neg()))
        })
    }
}
