//! Which handlers of a method's own may catch what an instruction throws, as a table: the exception
//! table is gone through once, not once for each instruction and each path.

use cct_classfile::{Bci, Code, Instruction};

/// Pairs of an instruction and a handler that are followed. Compilers produce a few thousand; a
/// hostile file of 600 KB could ask for four thousand million.
const MOST_PAIRS: usize = 1 << 23;

/// The handlers of each instruction of a method.
#[derive(Debug, Default)]
pub struct Handlers {
    /// By number of the instruction: numbers of the instructions at which handlers begin, in the
    /// order in which they are tried.
    of: Vec<Vec<u32>>,
    /// Whether the last of them catches everything.
    is_caught: Vec<bool>,
}

impl Handlers {
    /// Those of a method with these instructions; `None` where they are too many to be followed.
    pub fn of(code: &Code<'_>, instructions: &[Instruction<'_>]) -> Option<Handlers> {
        let count = instructions.len();
        let number = |bci: Bci| instructions.partition_point(|i| i.bci < bci);
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut is_caught = vec![false; count];
        let mut open = Unassigned::new(count);
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

    /// The handlers that may catch what an instruction throws; none where nothing is known.
    pub fn of_instruction(&self, number: usize) -> &[u32] {
        self.of.get(number).map_or(&[], |handlers| handlers)
    }

    /// The handlers that may catch what an instruction throws, and whether they catch everything.
    pub fn at(&self, number: usize) -> (&[u32], bool) {
        (&self.of[number], self.is_caught[number])
    }
}

/// Numbers that have not been dealt with: the next one is found without looking at those that have
/// (disjoint sets).
#[derive(Debug)]
pub struct Unassigned {
    next: Vec<usize>,
}

impl Unassigned {
    /// All numbers below `count`.
    pub fn new(count: usize) -> Self {
        Unassigned { next: (0..=count).collect() }
    }

    /// The first one from `from` on; `count` if there is none.
    pub fn next(&mut self, from: usize) -> usize {
        let mut at = from.min(self.next.len() - 1);
        while self.next[at] != at {
            // Each step halves the way of those that come later.
            self.next[at] = self.next[self.next[at]];
            at = self.next[at];
        }
        at
    }

    /// Takes a number out.
    pub fn assign(&mut self, number: usize) {
        self.next[number] = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assigned_is_passed_over() {
        let mut open = Unassigned::new(5);
        for number in [1, 2, 4] {
            open.assign(number);
        }
        assert_eq!([0, 1, 3, 4, 9].map(|from| open.next(from)), [0, 3, 3, 5, 5]);
    }
}
