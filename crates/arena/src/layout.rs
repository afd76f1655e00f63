//! The memory layout: the file's header, a tree's record, a node. The runtime has the same numbers
//! (`cctrewrite.runtime.Layout`, `Board`).

/// The first word of the file, in the machine's own byte order. All words are little-endian, so a
/// file from a big-endian machine is rejected.
pub const MAGIC: u64 = u64::from_le_bytes(*b"\x89CCTMEM\n");

/// The version of the format, which is the second word.
pub const VERSION: u64 = 2;

/// Size of the header, in bytes.
pub const HEADER: u64 = 1 << 16;

/// Numbers of the words of the header.
pub mod header {
    /// Number of entries of the table of extents.
    pub const EXTENTS: u64 = 2;
    /// Number of complete bytes of the log.
    pub const LOG: u64 = 3;
    /// 1 if part of the log was lost for lack of room.
    pub const LOG_LOST: u64 = 4;
    /// Start of the table of extents. An entry has four words: address, offset in the file, bytes,
    /// kind.
    pub const TABLE: u64 = 128;
    /// Maximum number of extents.
    pub const MOST_EXTENTS: u64 = (super::HEADER / 8 - TABLE) / 4;

    // The board: what the runtime records about all trees.

    /// The address of the newest tree's record.
    pub const NEWEST: u64 = 8;
    /// The number of the text with the region name that holds for all threads; 0 if recording is
    /// off. A thread with a setting of its own has it in [`record::OPEN`](super::record::OPEN).
    pub const ALL: u64 = 9;
    /// Number of times that recording was switched on, off, or to another name.
    pub const SWITCHES: u64 = 10;
    /// Number of classes that were generated while the program ran and not rewritten.
    pub const GENERATED: u64 = 11;
    /// Number of entries of new threads that were not recorded for lack of memory for a tree.
    pub const FAILURES: u64 = 12;
    /// Number of entries of new threads that were not recorded for lack of stack or Java heap.
    pub const UNATTACHED: u64 = 14;
    /// Number of threads' regions that were not recorded for lack of memory for a tree.
    pub const REGION_FAILURES: u64 = 15;
    /// 1 once the JVM has written its profile itself.
    pub const ENDED: u64 = 13;
}

/// Kinds of extents.
pub mod kind {
    /// Nodes and records, at their addresses.
    pub const TREES: u64 = 1;
    /// A part of the log.
    pub const LOG: u64 = 2;
}

/// Offsets in a node.
pub mod node {
    /// The method's id.
    pub const MID: u64 = 0;
    /// Number of entries.
    pub const CALLS: u64 = 8;
    /// Number of bytecodes that the context itself executed.
    pub const BYTECODES: u64 = 16;
    /// Two fields. The bits of [`ADDRESS`] hold the newest child's address, or 0. The bits above
    /// hold the call site from which the node itself was entered; see [`site`].
    pub const FIRST_CHILD: u64 = 24;
    /// See [`FIRST_CHILD`].
    pub const ADDRESS: u64 = (1 << 48) - 1;
    /// See [`site`].
    pub const SITE_SHIFT: u32 = 48;

    /// The bytecode index in the caller that the word [`FIRST_CHILD`] encodes: the field minus one;
    /// a field of 0 means none.
    pub fn site(first_child: u64) -> Option<u16> {
        ((first_child >> SITE_SHIFT) as u16).checked_sub(1)
    }
    /// The link to the next sibling: its address, negated. The last sibling has the parent's
    /// address instead, negated and marked with [`LAST`].
    pub const NEXT: u64 = 32;
    /// See [`NEXT`].
    pub const LAST: u64 = 1;
    /// Size of the smallest node, in bytes.
    pub const SMALLEST: u64 = 40;
    /// The id of the node for contexts that were merged.
    pub const MERGED_MID: u64 = 2;
}

/// Offsets in a tree's record.
pub mod record {
    /// The next older tree.
    pub const NEXT_TREE: u64 = 16;
    /// The root's address.
    pub const ROOT: u64 = 24;
    /// Why contexts were merged: [`OUT_OF_MEMORY`], [`BOUND_REACHED`].
    pub const LACK: u64 = 40;
    /// See [`LACK`].
    pub const OUT_OF_MEMORY: u64 = 1;
    /// See [`LACK`].
    pub const BOUND_REACHED: u64 = 2;
    /// The tree's number, in the order in which the runtime created the trees.
    pub const SERIAL: u64 = 56;
    /// Number of threads that have used the tree.
    pub const THREADS: u64 = 64;
    /// The address of the node for merged contexts.
    pub const MERGED: u64 = 72;
    /// The text of the thread's name; in a region's tree, of the region's name.
    pub const NAME: u64 = 120;
    /// The text of the common name of all threads of the tree; 0 for none.
    pub const GROUP: u64 = 128;
    /// 1 for a daemon thread.
    pub const DAEMON: u64 = 136;
    /// The record of the newest region of the tree, which links to the next one; 0 for none.
    pub const REGIONS: u64 = 144;
    /// The present recording of the thread: 0 if [`header::ALL`](super::header::ALL) holds,
    /// [`NOTHING`], [`SWITCHING`], or the address of a region's record.
    pub const OPEN: u64 = 152;
    /// See [`OPEN`].
    pub const NOTHING: u64 = 1;
    /// See [`OPEN`].
    pub const SWITCHING: u64 = 2;
}
