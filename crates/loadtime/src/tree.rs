//! The runtime's trees, read in place (docs/runtime.md, *Nodes*).

#![allow(unsafe_code)]

/// A node of the current thread's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node(u64);

// Offsets of a node's words.
const MID: u64 = 0;
const FIRST_CHILD: u64 = 24;
const NEXT_SIBLING: u64 = 32;

impl Node {
    /// # Safety
    /// `address` must be that of a node, and the tree must belong to the current thread: nobody else writes it, and nothing is ever freed.
    pub unsafe fn at(address: u64) -> Self {
        Node(address)
    }

    /// Its address.
    pub fn address(self) -> u64 {
        self.0
    }

    fn word(self, offset: u64) -> u64 {
        // SAFETY: by the contract of `at`, and nodes only lead to nodes.
        unsafe { std::ptr::read_volatile((self.0 + offset) as *const u64) }
    }

    /// Its method id.
    pub fn mid(self) -> u64 {
        self.word(MID)
    }

    /// Its children, the newest first.
    pub fn children(self) -> impl Iterator<Item = Node> {
        let node = |address| (address != 0).then_some(Node(address));
        std::iter::successors(node(self.word(FIRST_CHILD)), move |child| node(child.word(NEXT_SIBLING)))
    }
}
