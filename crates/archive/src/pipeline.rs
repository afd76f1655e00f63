//! Parallel work whose results are consumed in order, with a bound on how many results exist at a
//! time.

use std::ops::Range;

use rayon::prelude::*;

/// Maximum number of items in one window. It bounds the number of results even if all items are
/// tiny.
const WINDOW_ITEMS: usize = 4096;

/// Cuts `0..count` into windows whose weights sum to at most `limit`, or hold one item.
fn windows(count: usize, limit: u64, weight: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let mut cut = Vec::new();
    let (mut start, mut sum) = (0, 0u64);
    for index in 0..count {
        let weight = weight(index);
        // An unlimited window has no limit on items either: its consumer must get everything at
        // once.
        let full = limit != u64::MAX && (sum.saturating_add(weight) > limit || index - start >= WINDOW_ITEMS);
        if full && index > start {
            cut.push(start..index);
            (start, sum) = (index, 0);
        }
        sum = sum.saturating_add(weight);
    }
    if start < count {
        cut.push(start..count);
    }
    cut
}

/// Computes `work(i)` for each `i < count` in parallel. Passes the results to `consume` in order,
/// one window (the first index and the results) at a time. While one window is consumed, the next
/// is computed. With `limit == u64::MAX` everything is one window.
///
/// The returned error is that of the lowest index, for any number of threads.
pub(crate) fn in_order<T: Send, E: Send>(
    count: usize,
    limit: u64,
    weight: impl Fn(usize) -> u64,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    mut consume: impl FnMut(usize, Vec<T>) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut ready: Option<(usize, Vec<T>)> = None;
    for window in windows(count, limit, weight) {
        let start = window.start;
        let (computed, consumed) = rayon::join(
            || window.into_par_iter().map(&work).collect::<Vec<Result<T, E>>>(),
            || ready.take().map_or(Ok(()), |(start, results)| consume(start, results)),
        );
        consumed?;
        // Collect here, in order: rayon would return the error that occurred first in time.
        ready = Some((start, computed.into_iter().collect::<Result<Vec<T>, E>>()?));
    }
    ready.map_or(Ok(()), |(start, results)| consume(start, results))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_respect_the_limit_and_let_large_items_pass_alone() {
        let weights = [3, 3, 3, 100, 1, 1];
        let weight = |i: usize| weights[i];
        assert_eq!(windows(6, 7, weight), [0..2, 2..3, 3..4, 4..6]);
        assert_eq!(windows(6, u64::MAX, weight), vec![0..6]);
        assert_eq!(windows(0, 7, weight), []);
        assert_eq!(windows(WINDOW_ITEMS + 1, 7, |_| 0), [0..WINDOW_ITEMS, WINDOW_ITEMS..WINDOW_ITEMS + 1]);
    }

    #[test]
    fn results_arrive_in_order() {
        let mut seen = Vec::new();
        in_order(
            1000,
            10,
            |_| 3,
            |i| Ok::<_, ()>(i * i),
            |start, results| {
                assert_eq!(start, seen.len());
                seen.extend(results);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen, (0..1000).map(|i| i * i).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_by_index_wins() {
        for _ in 0..20 {
            let mut consumed = 0;
            let error = in_order(
                100,
                30,
                |_| 1,
                |i| if i % 7 == 6 { Err(i) } else { Ok(i) },
                |_, results| {
                    consumed += results.len();
                    Ok(())
                },
            );
            assert_eq!((error, consumed), (Err(6), 0));
        }
    }

    #[test]
    fn a_consumer_error_stops_the_work() {
        let result = in_order(100, 1, |_| 1, Ok, |start, _| if start == 3 { Err("full") } else { Ok(()) });
        assert_eq!(result, Err("full"));
    }
}
