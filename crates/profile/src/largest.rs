//! Selection of the largest few of many items.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keeps the `limit` items with the largest keys; among equal keys the earliest.
#[derive(Clone, Debug)]
pub(crate) struct Largest<K, T> {
    limit: usize,
    seen: u64,
    /// The smallest kept item on top.
    kept: BinaryHeap<Reverse<Item<K, T>>>,
}

#[derive(Clone, Debug)]
struct Item<K, T> {
    key: (K, Reverse<u64>),
    item: T,
}

impl<K: Ord, T> Largest<K, T> {
    pub(crate) fn new(limit: usize) -> Largest<K, T> {
        Largest { limit, seen: 0, kept: BinaryHeap::new() }
    }

    pub(crate) fn add(&mut self, key: K, item: T) {
        let key = (key, Reverse(self.seen));
        self.seen += 1;
        if self.kept.len() == self.limit {
            if self.kept.peek().is_none_or(|Reverse(smallest)| smallest.key > key) {
                return;
            }
            self.kept.pop();
        }
        self.kept.push(Reverse(Item { key, item }));
    }

    /// The kept items, the largest first.
    pub(crate) fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(item)| item.item).collect()
    }
}

impl<K: Ord, T> PartialEq for Item<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: Ord, T> Eq for Item<K, T> {}

impl<K: Ord, T> PartialOrd for Item<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> Ord for Item<K, T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_keys_the_first_are_kept() {
        let of = |limit| {
            let mut largest = Largest::new(limit);
            for (key, item) in [(5, 'a'), (7, 'b'), (5, 'c'), (9, 'd'), (7, 'e'), (1, 'f')] {
                largest.add(key, item);
            }
            largest.into_sorted().into_iter().collect::<String>()
        };
        assert_eq!([0, 1, 2, 4, 9].map(of), ["", "d", "db", "dbea", "dbeacf"]);
    }
}
