//! The static data of a class (Caserta and Zendra 2012, 3.2.1): its methods, their basic blocks and
//! call sites, numbered as in events.

mod packing;

use std::sync::Arc;

pub use packing::ClassHead;

/// A name or descriptor. A class has each once, for all its uses: a copy for each use would
/// multiply two sizes of a file.
pub type Name = Arc<[u8]>;

/// Maximum number of consecutive blocks without an event; a longer path has an event in between. So
/// no file can make an event stand for many others.
pub const MOST_IMPLIED: usize = 32;

/// Metrics of a basic block, in the paper's order.
pub const METRICS: [&str; 19] = [
    "bytecodes",
    "array-reads",
    "array-writes",
    "floating-point",
    "reference-loads",
    "control",
    "changing-control",
    "own-object-field-reads",
    "own-object-field-writes",
    "own-primitive-field-reads",
    "own-primitive-field-writes",
    "other-object-field-reads",
    "other-object-field-writes",
    "other-primitive-field-reads",
    "other-primitive-field-writes",
    "calls-to-other-classes",
    "new",
    "virtual-calls",
    "static-calls",
];

/// A class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Class {
    /// The class's number.
    pub number: u32,
    /// The number of its first method; the others follow in the order of the class file.
    pub first_method: u32,
    /// Hash of the original class file.
    pub hash: u64,
    /// Internal name, with slashes; for a generated class without its number.
    pub name: Name,
    /// Superclass.
    pub super_name: Option<Name>,
    /// Direct superinterfaces.
    pub interfaces: Vec<Name>,
    /// Access flags.
    pub access: u16,
    /// Size of its own instance fields in bytes, with references of four bytes.
    pub field_bytes: u32,
    /// The source file, if the class file names it.
    pub source: Option<Name>,
    /// The class's methods.
    pub methods: Vec<Method>,
}

/// The extent of a method's recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recording {
    /// Nothing.
    #[default]
    None,
    /// Start and end of a native.
    Native,
    /// The start alone: it ends at once, and its only block gives its counts.
    Leaf,
    /// Start and end: the body is too large for more.
    Calls,
    /// Blocks, too. The progress of a block that an exception left is unknown: the body is too
    /// large for that.
    Blocks,
    /// Everything.
    Full,
}

impl Recording {
    const ALL: [Recording; 6] = [
        Recording::None,
        Recording::Native,
        Recording::Leaf,
        Recording::Calls,
        Recording::Blocks,
        Recording::Full,
    ];

    /// The recording's name.
    pub fn name(self) -> &'static str {
        ["none", "native", "leaf", "calls", "blocks", "full"][self as usize]
    }
}

/// A method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Method {
    /// Name.
    pub name: Name,
    /// Descriptor.
    pub descriptor: Name,
    /// Access flags.
    pub access: u16,
    /// The method's id, as in profiles; 0 if it has none.
    pub id: u64,
    /// The extent of its recording.
    pub recording: Recording,
    /// Whether its first block has an event of its own, since jumps lead there.
    pub entry_is_target: bool,
    /// The method's basic blocks, in code order.
    pub blocks: Vec<Block>,
    /// The method's call sites, in code order.
    pub calls: Vec<CallSite>,
    /// The method's allocating instructions, in code order: the bytecode index, and the class or,
    /// for arrays, the descriptor.
    pub makes: Vec<(u32, Name)>,
    /// The method's exception handlers, in the JVM's search order.
    pub handlers: Vec<Handler>,
    /// The method's line table: bytecode indices and the lines that begin there.
    pub lines: Vec<(u32, u32)>,
    /// The original bytecode.
    pub code: Box<[u8]>,
}

/// A basic block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The index of its first bytecode.
    pub start: u32,
    /// The block's metrics; the first is the number of its bytecodes.
    pub metrics: [u32; METRICS.len()],
    /// The only possible next block, which has no event.
    pub next: Option<u32>,
    /// Whether the method continues from here to its end without another event, including that of
    /// its end.
    pub is_last: bool,
}

impl Block {
    /// Number of its bytecodes.
    pub fn bytecodes(&self) -> u32 {
        self.metrics[0]
    }
}

/// How a call site's callee gets into the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalleeEvents {
    /// By its own events, if it is recorded.
    #[default]
    Itself,
    /// By an event of the call site.
    Always,
    /// By an event of the call site, if it is exactly the method named here.
    Perhaps,
}

/// A call site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSite {
    /// The call site's bytecode index.
    pub bci: u32,
    /// The index of its bytecode in its block, from 1.
    pub place: u32,
    /// The opcode.
    pub opcode: u8,
    /// The static type; empty for `invokedynamic`.
    pub class: Name,
    /// The method's name.
    pub name: Name,
    /// The call site's descriptor.
    pub descriptor: Name,
    /// How the callee gets into the trace.
    pub counted: CalleeEvents,
    /// For an event of the call site: the class that declares the callee, whose name and descriptor
    /// are those above.
    pub callee: Name,
    /// For an event of the call site: number of bytecodes that the callee executes.
    pub bytecodes: u32,
    /// For an event of the call site: the callee's id.
    pub id: u64,
}

/// An exception handler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handler {
    /// Start of the covered range.
    pub start: u32,
    /// End of the covered range, exclusive.
    pub end: u32,
    /// The block of the handler.
    pub block: u32,
    /// The caught type; empty for all.
    pub catches: Name,
}

impl Method {
    /// The block that contains this bytecode index.
    pub fn block_at(&self, bci: u32) -> Option<usize> {
        self.blocks.partition_point(|block| block.start <= bci).checked_sub(1)
    }

    /// The type that the instruction at a bytecode index allocates.
    pub fn made_at(&self, bci: u32) -> Option<&[u8]> {
        let place = self.makes.binary_search_by_key(&bci, |(bci, _)| *bci).ok()?;
        self.makes.get(place).map(|(_, of)| &**of)
    }

    /// The call site at a bytecode index.
    pub fn call_at(&self, bci: u32) -> Option<&CallSite> {
        let place = self.calls.binary_search_by_key(&bci, |call| call.bci).ok()?;
        self.calls.get(place)
    }
}
