//! The number of bytecodes that an entry counts in advance.
//!
//! A path needs no update where the node must first be exact if it has then executed that number of
//! bytecodes. On other paths the node is corrected. So the best number is that of the most points
//! that a path may reach first. Points from which only `athrow` is reached do not count, unless
//! there are no others: control seldom reaches them.

use super::{CountPlanner, Effect, PendingCount, Stretch, WalkState};

impl CountPlanner {
    /// The number, computed from the pending numbers when the entry counts nothing. Among equals,
    /// the first in the code wins.
    pub(super) fn ahead(&mut self) -> i32 {
        // Jumps to the entry arrive with their own pending number, which must be the same.
        if self.stretches.first().is_none_or(|first| first.is_target) {
            return 0;
        }
        let mut chosen = self.first_places();
        self.find_returning();
        if chosen.iter().any(|&i| self.returning[i]) {
            chosen.retain(|&i| self.returning[i]);
        }
        let mut numbers: Vec<(i32, usize)> =
            chosen.into_iter().filter_map(|i| Some((self.executed(i)?, i))).collect();
        numbers.sort_unstable();
        let same = numbers.chunk_by(|a, b| a.0 == b.0);
        let best = same.max_by_key(|same| (same.len(), std::cmp::Reverse(same[0].1)));
        best.map_or(0, |same| same[0].0)
    }

    /// The stretches at whose start or end the node must be exact for the first time on a path.
    fn first_places(&mut self) -> Vec<usize> {
        let mut places = Vec::new();
        self.seen.clear();
        self.seen.resize(self.stretches.len(), WalkState::No);
        self.seen[0] = WalkState::Done;
        self.work.clear();
        self.work.push(0);
        while let Some(i) = self.work.pop() {
            let stretch = &self.stretches[i];
            if stretch.is_observed || matches!(stretch.effect, Effect::Leaves | Effect::Ends) {
                places.push(i);
                continue;
            }
            for &to in &self.edges[self.edges_of[i]..self.edges_of[i + 1]] {
                if std::mem::replace(&mut self.seen[to], WalkState::Done) == WalkState::No {
                    self.work.push(to);
                }
            }
        }
        places
    }

    /// Number of executed bytecodes at a point, if it is the same on every path.
    fn executed(&self, place: usize) -> Option<i32> {
        let stretch = &self.stretches[place];
        match self.pending[place] {
            PendingCount::Exactly(n) => Some(if stretch.is_observed { n } else { n + stretch.cost }),
            PendingCount::Never | PendingCount::Local => None,
        }
    }

    /// Finds stretches from which a return is reached, by two walks against the code's order. In
    /// irregular code it may miss some.
    fn find_returning(&mut self) {
        self.returning.clear();
        self.returning.extend(self.stretches.iter().map(Stretch::returns));
        for _ in 0..2 {
            for i in (0..self.stretches.len()).rev() {
                if !self.returning[i] {
                    let edges = &self.edges[self.edges_of[i]..self.edges_of[i + 1]];
                    self.returning[i] = edges.iter().any(|&to| self.returning[to]);
                }
            }
        }
    }
}
