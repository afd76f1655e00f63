//! Contention: monitors that were requested while another thread held them. Only a trace with the
//! order between threads shows this.

use std::collections::hash_map::Entry;

use cct_events::Event;
use rustc_hash::FxHashMap;

use crate::file::{Error, Trace};
use crate::merged_events::MergedEvents;

/// By identity: number of `monitorenter` requests while another thread held the monitor by an
/// earlier one.
///
/// # Errors
/// Fails if the trace cannot be read.
pub fn of(trace: &Trace) -> Result<FxHashMap<u32, u64>, Error> {
    let mut contended: FxHashMap<u32, u64> = FxHashMap::default();
    // By object with a held monitor: the owner, and how often it entered.
    let mut owners: FxHashMap<u32, (usize, u32)> = FxHashMap::default();
    // By thread: the monitor that it requests and has not been seen to hold.
    let mut wanted: Vec<Option<u32>> = vec![None; trace.threads.len()];
    for event in MergedEvents::of(trace, &trace.threads) {
        let (thread, event) = event?;
        // A thread that continues has got its monitor.
        if let Some(object) = wanted[thread].take() {
            let owner = owners.entry(object).or_insert((thread, 0));
            if owner.0 == thread {
                owner.1 = owner.1.saturating_add(1);
            } else {
                *owner = (thread, 1);
            }
        }
        match event {
            Event::Lock { object, .. } => {
                if owners.get(&object).is_some_and(|&(owner, _)| owner != thread) {
                    *contended.entry(object).or_default() += 1;
                }
                wanted[thread] = Some(object);
            }
            Event::Unlock { object, .. } => {
                if let Entry::Occupied(mut of) = owners.entry(object)
                    && of.get().0 == thread
                {
                    of.get_mut().1 -= 1;
                    if of.get().1 == 0 {
                        of.remove();
                    }
                }
            }
            _ => {}
        }
    }
    Ok(contended)
}
