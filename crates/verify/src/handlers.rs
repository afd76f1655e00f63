//! The handlers of a method's own that may catch an instruction's exception, as a table. It is
//! built in one pass over the exception table, not one for each instruction and path.

use cct_classfile::{Bci, Code, Instruction};

/// Maximum number of pairs of an instruction and a handler that are followed. Compilers produce a
/// few thousand; a hostile file of 600 KB could ask for 4 billion.
const MOST_PAIRS: usize = 1 << 23;

/// The handlers of each instruction of a method.
#[derive(Debug, Default)]
pub struct Handlers {
    /// For each instruction, by number: numbers of the first instructions of its handlers, in the
    /// order in which the JVM tries them.
    of: Vec<Vec<u32>>,
    /// Whether the last handler catches everything, for each instruction.
    is_caught: Vec<bool>,
}

impl Handlers {
    /// The handlers of a method with these instructions; `None` if there are too many to follow.
    pub fn of(code: &Code<'_>, instructions: &[Instruction<'_>]) -> Option<Handlers> {
        let count = instructions.len();
        let number = |bci: Bci| instructions.partition_point(|i| i.bci < bci);
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut is_caught = vec![false; count];
        let mut open = FreeNumbers::new(count);
        let mut pairs = 0;
        for entry in &code.handlers {
            let target = number(entry.handler) as u32;
            let end = number(entry.end);
            let mut at = open.next(number(entry.start));
            while at < end {
                pairs += 1;
                if pairs > MOST_PAIRS {
                    return None;
                }
                if of[at].last() != Some(&target) {
                    of[at].push(target);
                }
                if entry.catch_type == 0 {
                    is_caught[at] = true;
                    open.assign(at);
                }
                at = open.next(at + 1);
            }
        }
        Some(Handlers { of, is_caught })
    }

    /// The handlers that may catch an instruction's exception; empty if nothing is known.
    pub fn of_instruction(&self, number: usize) -> &[u32] {
        self.of.get(number).map_or(&[], |handlers| handlers)
    }

    /// The handlers that may catch an instruction's exception, and whether they catch everything.
    pub fn at(&self, number: usize) -> (&[u32], bool) {
        (&self.of[number], self.is_caught[number])
    }
}

/// Numbers that are not assigned yet. The search for the next one skips assigned ones (disjoint
/// sets).
#[derive(Debug)]
pub struct FreeNumbers {
    next: Vec<usize>,
}

impl FreeNumbers {
    /// All numbers below `count`.
    pub fn new(count: usize) -> Self {
        FreeNumbers { next: (0..=count).collect() }
    }

    /// The first unassigned number from `from` on; `count` if there is none.
    pub fn next(&mut self, from: usize) -> usize {
        let mut at = from.min(self.next.len() - 1);
        while self.next[at] != at {
            // Each step halves the path of later searches.
            self.next[at] = self.next[self.next[at]];
            at = self.next[at];
        }
        at
    }

    /// Assigns a number.
    pub fn assign(&mut self, number: usize) {
        self.next[number] = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigned_numbers_are_skipped() {
        let mut open = FreeNumbers::new(5);
        for number in [1, 2, 4] {
            open.assign(number);
        }
        assert_eq!([0, 1, 3, 4, 9].map(|from| open.next(from)), [0, 3, 3, 5, 5]);
    }
}
