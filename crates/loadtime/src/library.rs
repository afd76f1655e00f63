//! The class library: the indexes of the outputs on the boot class path.

use std::sync::Arc;

use cct_arena::IndexBytes;
use cct_columns::{Column, Columns};
use cct_index::mid::Mid;
use cct_index::provenance::Provenance;
use cct_index::read::Index;
use cct_index::record::NamedMethod;
use cct_settings::{Natives, Settings};
use rustc_hash::FxHashMap;

use crate::known_class::KnownClass;

/// All indexes, in the order of the boot class path, and a cache of their classes.
#[derive(Default)]
pub struct Library {
    indexes: Vec<Index<IndexBytes>>,
    provenance: Option<Provenance>,
    tells_call_sites: bool,
    columns: Columns,
    leaves_natives_out: bool,
    found: FxHashMap<Box<[u8]>, Arc<KnownClass>>,
}

impl Library {
    /// Adds an index. Returns an error message if the index is unusable.
    pub fn add(&mut self, bytes: IndexBytes) -> Result<(), String> {
        let index = Index::checked(bytes).map_err(|e| e.to_string())?;
        let lines = String::from_utf8_lossy(index.provenance()).into_owned();
        let provenance = Provenance::of_lines(&lines);
        let Ok(settings) = Settings::of_entries(provenance.lines()) else {
            return Err("made with settings that this version does not know".to_owned());
        };
        self.tells_call_sites |= settings.call_sites;
        self.columns = settings.columns;
        self.leaves_natives_out |= settings.natives == Natives::None;
        self.provenance.get_or_insert(provenance);
        self.indexes.push(index);
        self.found.clear();
        Ok(())
    }

    /// The provenance of the index that was added last.
    pub fn last_provenance(&self) -> Option<&[u8]> {
        Some(self.indexes.last()?.provenance())
    }

    /// Settings and provenance of the first output, with which all others agree; `None` without
    /// any.
    pub fn provenance(&self) -> Option<(Settings, Provenance)> {
        let provenance = self.provenance.clone()?;
        Some((Settings::of_entries(provenance.lines()).ok()?, provenance))
    }

    /// Whether the call sites in the caller distinguish contexts.
    pub fn tells_call_sites(&self) -> bool {
        self.tells_call_sites
    }

    /// Whether a column is counted.
    pub fn counts(&self, column: Column) -> bool {
        self.columns.contains(column)
    }

    /// Whether natives are excluded from contexts.
    pub fn leaves_natives_out(&self) -> bool {
        self.leaves_natives_out
    }

    /// The method with this id: one of the library, or one that call sites in it count.
    pub fn method(&self, mid: Mid) -> Option<NamedMethod> {
        self.indexes.iter().find_map(|index| index.method(mid))
    }

    /// The class of this name that the boot class loader defines.
    pub fn class(&mut self, name: &[u8]) -> Option<Arc<KnownClass>> {
        if let Some(known) = self.found.get(name) {
            return Some(known.clone());
        }
        // Misses are not remembered: programs may ask for any number of names.
        let record = self.indexes.iter().find_map(|index| index.classes_named(name).next())?;
        let known = Arc::new(KnownClass::of_record(&record)?);
        self.found.insert(name.into(), known.clone());
        Some(known)
    }
}
