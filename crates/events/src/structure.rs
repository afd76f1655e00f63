//! The static side of a class (Caserta and Zendra 2012, 3.2.1): its methods, their basic blocks and
//! call sites, numbered as events name them.

mod packing;

use std::sync::Arc;

pub use packing::ClassHead;

/// A name or descriptor. A class has each once, however many there are that use it: a copy for each
/// would be a product of two parts of a file.
pub type Name = Arc<[u8]>;

/// So many blocks come one behind the other without an event at most; of longer ways one block has
/// its own. So an event never stands for many others, whatever a file says.
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
    /// Its number.
    pub number: u32,
    /// The number of its first method; the others follow in the order of the class file.
    pub first_method: u32,
    /// Hash of the class file as it was.
    pub hash: u64,
    /// Internal name, with slashes; of a generated class without its number.
    pub name: Name,
    /// Superclass.
    pub super_name: Option<Name>,
    /// Direct superinterfaces.
    pub interfaces: Vec<Name>,
    /// Access flags.
    pub access: u16,
    /// Bytes of its own instance fields, references having four.
    pub field_bytes: u32,
    /// The source file, if the class file names it.
    pub source: Option<Name>,
    /// Its methods.
    pub methods: Vec<Method>,
}

/// What is recorded of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recording {
    /// Nothing.
    #[default]
    None,
    /// Start and end, of a native.
    Native,
    /// Start alone: it ends at once, and counts as its only block says.
    Leaf,
    /// Start and end: the body is too large for more.
    Calls,
    /// Blocks too, and how far the last one came that an exception left is not known: the body is
    /// too large for that.
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

    /// Its name.
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
    /// Its id, as profiles have it; 0 if it has none.
    pub id: u64,
    /// What is recorded.
    pub recording: Recording,
    /// Whether its first block has an event of its own, since jumps lead there.
    pub entry_is_target: bool,
    /// Its basic blocks, in code order.
    pub blocks: Vec<Block>,
    /// Its call sites, in code order.
    pub calls: Vec<CallSite>,
    /// What makes objects in it, in code order: the bytecode index, and the class or, of arrays,
    /// the descriptor.
    pub makes: Vec<(u32, Name)>,
    /// Its exception handlers, in the order in which the JVM looks at them.
    pub handlers: Vec<Handler>,
    /// Lines: a bytecode index and the line that begins there.
    pub lines: Vec<(u32, u32)>,
    /// The bytecode, as it was.
    pub code: Box<[u8]>,
}

/// A basic block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The index of its first bytecode.
    pub start: u32,
    /// Its metrics; the first is the number of its bytecodes.
    pub metrics: [u32; METRICS.len()],
    /// The block that comes next and has no event, since nothing else can come behind this one.
    pub next: Option<u32>,
    /// Whether the method goes from here to its end without another event, that of its end
    /// included.
    pub is_last: bool,
}

impl Block {
    /// How many bytecodes it has.
    pub fn bytecodes(&self) -> u32 {
        self.metrics[0]
    }
}

/// How a call site's callee comes to be in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counted {
    /// By itself, if it is recorded.
    #[default]
    Itself,
    /// By an event of the call site.
    Always,
    /// By an event of the call site, if it is the method that is named here and no other.
    Perhaps,
}

/// A call site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSite {
    /// Its bytecode index.
    pub bci: u32,
    /// The place of its bytecode in its block, from 1.
    pub place: u32,
    /// The opcode.
    pub opcode: u8,
    /// The static type; empty for `invokedynamic`.
    pub class: Name,
    /// The method's name.
    pub name: Name,
    /// Its descriptor.
    pub descriptor: Name,
    /// Who says that the callee was called.
    pub counted: Counted,
    /// Where an event of the call site says so: the class that declares the callee, which has its
    /// name and descriptor.
    pub callee: Name,
    /// And how many bytecodes that executes.
    pub bytecodes: u32,
    /// And its id.
    pub id: u64,
}

/// An exception handler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handler {
    /// The first bytecode index that it covers.
    pub start: u32,
    /// The first that it covers no more.
    pub end: u32,
    /// The block that it is.
    pub block: u32,
    /// What it catches; empty for everything.
    pub catches: Name,
}

impl Method {
    /// The block that has this bytecode index.
    pub fn block_at(&self, bci: u32) -> Option<usize> {
        self.blocks.partition_point(|block| block.start <= bci).checked_sub(1)
    }

    /// What the instruction at a bytecode index makes.
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
