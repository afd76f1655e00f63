//! Alignment: the positions of the original's instructions in the rewritten code.

use cct_classfile::{Bci, Instruction};

use crate::allocations;
use crate::columns;
use crate::links::CountedCallee;
use crate::probe::Probe;

/// A handler that was appended to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendedHandler {
    /// First bytecode index of the handler.
    pub at: Bci,
    /// Whether it adds the pending count to the node.
    pub counts: bool,
    /// Whether it gives the thread back its context.
    pub restores: bool,
    /// Whether it writes the event of the method's end.
    pub ends: bool,
    /// Whether it notifies clients that the regions of markers are left.
    pub tells: bool,
}

/// The positions of the original's instructions in the rewritten code.
#[derive(Debug)]
pub struct Alignment<'a> {
    /// The original's instructions.
    pub originals: Vec<Instruction<'a>>,
    /// Rewritten targets of jumps to each of these instructions; one more for the end of the code.
    pub labels: Vec<Bci>,
    /// Rewritten positions of these instructions.
    pub places: Vec<Bci>,
    /// Probes that change counts, in order, each with the number of the instruction that it
    /// precedes.
    pub effects: Vec<(usize, Probe<'a>)>,
    /// Handlers that were appended to the code.
    pub appended: Vec<AppendedHandler>,
    /// Intermediate jumps to a target that is out of reach: their positions and their targets.
    pub trampolines: Vec<(Bci, Bci)>,
    /// Number of replaced results of clocks.
    pub pinned: u32,
    /// The first result of a clock that is not replaced although the documents name it.
    pub unpinned: Option<Bci>,
    /// Number of calls of the runtime in methods of the class library.
    pub hooks: u32,
    /// Callees that their callers count.
    pub counted: Vec<CountedCallee>,
    /// Number of records of callees' values, or of events.
    pub recorded: u64,
    /// In traces: call sites with events of their callees, each with whether they are written only
    /// if the callee is the one that the site names.
    pub telling: Vec<(Bci, bool)>,
    /// Whether allocated objects are counted.
    pub objects: allocations::AllocationCount,
    /// Probes of columns.
    pub columns: columns::ColumnCount,
}

impl<'a> Alignment<'a> {
    /// The alignment before any instruction is compared.
    pub(crate) fn empty() -> Self {
        Alignment {
            originals: Vec::new(),
            labels: Vec::new(),
            places: Vec::new(),
            effects: Vec::new(),
            appended: Vec::new(),
            trampolines: Vec::new(),
            pinned: 0,
            unpinned: None,
            hooks: 0,
            counted: Vec::new(),
            recorded: 0,
            telling: Vec::new(),
            objects: allocations::AllocationCount::default(),
            columns: columns::ColumnCount::default(),
        }
    }

    /// The number of the instruction that begins at a bytecode index of the original.
    pub fn number(&self, bci: Bci) -> Option<usize> {
        self.originals.binary_search_by_key(&bci, |i| i.bci).ok()
    }

    /// Target of the intermediate jump at an index, if there is one. These jumps are in the order
    /// of the code.
    pub fn trampoline(&self, at: Bci) -> Option<Bci> {
        let number = self.trampolines.binary_search_by_key(&at, |(place, _)| *place).ok()?;
        Some(self.trampolines[number].1)
    }

    /// The appended handler that begins at an index. These handlers are in the order of the code.
    pub fn handler(&self, at: Bci) -> Option<AppendedHandler> {
        self.appended.binary_search_by_key(&at, |a| a.at).ok().map(|number| self.appended[number])
    }

    /// Rewritten position of a label of the original; `length` is the original's code length.
    pub fn label(&self, bci: Bci, length: Bci) -> Option<Bci> {
        if bci == length { self.labels.last().copied() } else { Some(self.labels[self.number(bci)?]) }
    }
}
