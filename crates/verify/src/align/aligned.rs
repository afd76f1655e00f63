//! Which instruction of the original is where in the rewritten code.

use cct_classfile::{Bci, Instruction};

use crate::allocations;
use crate::columns;
use crate::links::Counted;
use crate::probe::Probe;

/// A handler behind the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Where it begins.
    pub at: Bci,
    /// Whether it puts what is pending into the node.
    pub counts: bool,
    /// Whether it gives the thread back its context.
    pub restores: bool,
    /// Whether it writes the method's end.
    pub ends: bool,
    /// Whether it tells that the regions of markers are left.
    pub tells: bool,
}

/// Which instruction of the original is where in the rewritten code.
#[derive(Debug)]
pub struct Aligned<'a> {
    /// The original's instructions.
    pub originals: Vec<Instruction<'a>>,
    /// Where jumps to each of them go; one more for the end of the code.
    pub labels: Vec<Bci>,
    /// Where they stand.
    pub places: Vec<Bci>,
    /// Probes that change counts, before the instruction with a number, in order.
    pub effects: Vec<(usize, Probe<'a>)>,
    /// Handlers behind the code.
    pub appended: Vec<Appended>,
    /// Jumps on the way to a target that is out of reach: where they stand, and where they lead.
    pub trampolines: Vec<(Bci, Bci)>,
    /// Results of clocks that are replaced.
    pub pinned: u32,
    /// The first result of a clock that is not, though the documents name the place.
    pub unpinned: Option<Bci>,
    /// Calls of the runtime at places of the class library.
    pub hooks: u32,
    /// Callees that are counted by their callers.
    pub counted: Vec<Counted>,
    /// Where the values of callees, or events, are recorded.
    pub recorded: u64,
    /// In traces: call sites that tell of their callees, and whether only if it is the one that
    /// they name.
    pub telling: Vec<(Bci, bool)>,
    /// Whether what is made is counted.
    pub objects: allocations::Counted,
    /// What counts for columns.
    pub columns: columns::Counted,
}

impl<'a> Aligned<'a> {
    /// Before anything has been looked at.
    pub(crate) fn empty() -> Self {
        Aligned {
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
            objects: allocations::Counted::default(),
            columns: columns::Counted::default(),
        }
    }

    /// The number of the instruction that begins at a bytecode index of the original.
    pub fn number(&self, bci: Bci) -> Option<usize> {
        self.originals.binary_search_by_key(&bci, |i| i.bci).ok()
    }

    /// Where the jump in between leads that stands at an index, if one does. They are in the order
    /// of the code.
    pub fn trampoline(&self, at: Bci) -> Option<Bci> {
        let number = self.trampolines.binary_search_by_key(&at, |(place, _)| *place).ok()?;
        Some(self.trampolines[number].1)
    }

    /// The appended handler that begins at an index. They are in the order of the code, too.
    pub fn handler(&self, at: Bci) -> Option<Appended> {
        self.appended.binary_search_by_key(&at, |a| a.at).ok().map(|number| self.appended[number])
    }

    /// Where a label of the original is now; `length` is the original's.
    pub fn label(&self, bci: Bci, length: Bci) -> Option<Bci> {
        if bci == length { self.labels.last().copied() } else { Some(self.labels[self.number(bci)?]) }
    }
}
