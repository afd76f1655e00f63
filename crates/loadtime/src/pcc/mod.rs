//! Values of contexts (docs/research/pcc.md): the threads' tables, and the file.

mod natives;
mod output;
mod replay;
mod table;

pub use natives::register;
pub use replay::{of_native, value};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use cct_pcc::RecordedValues;
use cct_pcc::method_choice::joined;
use rustc_hash::FxHashMap;

use crate::jni::Env;
use crate::state::state;
use table::Record;

static TABLES: OnceLock<Tables> = OnceLock::new();

/// The tables of this JVM; `None` if contexts are not values.
pub fn tables() -> Option<&'static Tables> {
    TABLES.get()
}

/// The tables of all threads.
#[derive(Debug)]
pub struct Tables {
    out: PathBuf,
    /// Allocated and maximum bytes of tables.
    bytes: AtomicUsize,
    most: usize,
    /// Read-locked by a thread that grows its table, write-locked by the reader of all tables.
    gate: RwLock<()>,
    closed: AtomicBool,
    records: Mutex<Vec<Record>>,
}

impl Tables {
    fn start(file: &str, memory: &str) -> Result<(), String> {
        let mebibytes = memory.parse::<usize>().ok().filter(|&mebibytes| mebibytes >= 1);
        let most = mebibytes.and_then(|mebibytes| mebibytes.checked_mul(1 << 20));
        let most =
            most.ok_or_else(|| format!("-Dcctrewrite.pcc-memory={memory}: expected a number of MiB from 1"))?;
        let tables = Tables {
            out: file.replace("%p", &std::process::id().to_string()).into(),
            bytes: AtomicUsize::new(0),
            most,
            gate: RwLock::new(()),
            closed: AtomicBool::new(false),
            records: Mutex::default(),
        };
        TABLES.set(tables).map_err(|_| "recording has already begun".to_owned())
    }

    fn take(&self, bytes: usize) -> bool {
        let taken = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
            taken.checked_add(bytes).filter(|&taken| taken <= self.most)
        });
        taken.is_ok()
    }

    fn give(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn make(&self) -> Option<Record> {
        let record = Record::new(|bytes| self.take(bytes))?;
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        Some(record)
    }

    fn grow(&self, record: Record) -> bool {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        // Entries after the end are not recorded; those before it stay.
        !self.closed.load(Ordering::Acquire)
            && record.grow(|bytes| self.take(bytes), |bytes| self.give(bytes))
    }

    /// Writes the counts; returns an error message on failure. `lost` entries had no table.
    fn end(&self, env: Env, lines: &[String], notes: Vec<String>, lost: u64) -> Result<(), String> {
        {
            let _alone = self.gate.write().unwrap_or_else(PoisonError::into_inner);
            self.closed.store(true, Ordering::Release);
        }
        let mut recorded = RecordedValues { notes, lost, ..RecordedValues::default() };
        let pairs = lines.iter().filter_map(|line| line.split_once('='));
        // These concern what profiles count.
        let about = pairs.filter(|(key, _)| !["limits", "blocks", "metrics"].contains(key));
        recorded.meta = about.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let mut counts: FxHashMap<(u64, u64), u64> = FxHashMap::default();
        for record in self.records.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            recorded.lost = recorded.lost.saturating_add(record.lost());
            for (place, value, count) in record.entries() {
                let sum = counts.entry((place, value)).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        output::name(env, counts, &mut recorded);
        if let Some(chosen) = state().library.provenance().and_then(|(settings, _)| settings.pcc()) {
            recorded.meta.insert("pcc-at".to_owned(), joined(&chosen.at));
            recorded.meta.insert("pcc-only".to_owned(), joined(&chosen.only));
            recorded.notes.extend(output::remarks(chosen, &recorded));
        }
        if recorded.lost > 0 {
            recorded.notes.push(format!(
                "{} of chosen methods were not counted, since the tables were full \
                 (-Dcctrewrite.pcc-memory): counts are too small, and values are missing",
                if recorded.lost == 1 { "1 entry".to_owned() } else { format!("{} entries", recorded.lost) }
            ));
        }
        recorded.notes.sort();
        recorded.notes.dedup();
        output::write(&self.out, &recorded.bytes()).map_err(|e| format!("{}: {e}", self.out.display()))
    }
}
