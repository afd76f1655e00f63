//! How many bytecodes an entry counts in advance.
//!
//! A way through the method that has executed as many when the node must be true for the first time needs no update there; on others the node is put right. So it is
//! the number of the most places at which a way may come for the first time. Places from which only `athrow` is reached have no say, unless there are no others: they are seldom come to.

use super::{CountPlanner, Effect, Pending, Stretch};

impl CountPlanner {
    /// The number, from what is pending when the entry counts nothing. Among equals the first in the code has it.
    pub(super) fn ahead(&mut self) -> i32 {
        // Jumps to the entry come with what is pending then, which must be the same.
        if self.stretches.first().is_none_or(|first| first.is_target) {
            return 0;
        }
        let places = self.first_places();
        let returning = self.returning();
        let chosen = match places.iter().any(|&i| returning[i]) {
            true => places.into_iter().filter(|&i| returning[i]).collect(),
            false => places,
        };
        let mut numbers: Vec<(i32, usize)> =
            chosen.into_iter().filter_map(|i| Some((self.executed(i)?, i))).collect();
        numbers.sort_unstable();
        let same = numbers.chunk_by(|a, b| a.0 == b.0);
        let best = same.max_by_key(|same| (same.len(), std::cmp::Reverse(same[0].1)));
        best.map_or(0, |same| same[0].0)
    }

    /// The stretches at whose beginning or end the node must be true, and before which it need not have been.
    fn first_places(&mut self) -> Vec<usize> {
        let mut places = Vec::new();
        let mut seen = vec![false; self.stretches.len()];
        seen[0] = true;
        self.work.clear();
        self.work.push(0);
        while let Some(i) = self.work.pop() {
            let stretch = &self.stretches[i];
            if stretch.is_observed || matches!(stretch.effect, Effect::Leaves | Effect::Ends) {
                places.push(i);
                continue;
            }
            for &to in &self.edges[self.edges_of[i]..self.edges_of[i + 1]] {
                if !std::mem::replace(&mut seen[to], true) {
                    self.work.push(to);
                }
            }
        }
        places
    }

    /// How many bytecodes have been executed there, if that is the same on every way.
    fn executed(&self, place: usize) -> Option<i32> {
        let stretch = &self.stretches[place];
        match self.pending[place] {
            Pending::Exactly(n) => Some(if stretch.is_observed { n } else { n + stretch.cost }),
            Pending::Never | Pending::Local => None,
        }
    }

    /// From which stretches a return is seen to be reached, by two walks against the code's order: of twisted code not all.
    fn returning(&self) -> Vec<bool> {
        let mut returning: Vec<bool> = self.stretches.iter().map(Stretch::returns).collect();
        for _ in 0..2 {
            for i in (0..returning.len()).rev() {
                returning[i] |= self.edges(i).iter().any(|&to| returning[to]);
            }
        }
        returning
    }
}
