//! The last events of each thread ([`cct_events::ring`]): a memory-mapped file next to the trace,
//! which outlives a killed JVM.

#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cct_events::ring::{self, SUFFIX};
use memmap2::MmapOptions;
use rustix::fs::{FallocateFlags, fallocate};

use super::private;
use super::record::{Record, SPARE};

/// The file of last events.
#[derive(Debug)]
pub struct Last {
    path: PathBuf,
    half: usize,
    file: Mutex<(File, u64)>,
}

impl Last {
    /// Creates the file next to a trace, for this many events of each thread.
    pub fn create(trace: &Path, events: usize, structure: &Path) -> io::Result<Last> {
        let mut path = trace.to_owned().into_os_string();
        path.push(SUFFIX);
        let half = (4 * events + SPARE).next_multiple_of(64);
        let head = ring::head(half, &structure.to_string_lossy())
            .ok_or_else(|| io::Error::other("the path of the class library's static side is too long"))?;
        let mut file = private::create(Path::new(&path))?;
        file.write_all(&head)?;
        Ok(Last { path: path.into(), half, file: Mutex::new((file, ring::PAGE as u64)) })
    }

    /// A new record in the file; `None` if there is no room for it.
    pub fn record(&self, thread: u32, owner: u64) -> Option<Record> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let size = ring::area_size(self.half);
        let at = file.1;
        // Reserves the room on disk: without it, the kernel would kill the JVM at a write.
        fallocate(&file.0, FallocateFlags::empty(), at, size as u64).ok()?;
        // SAFETY: nobody else knows the file, and nothing truncates it.
        let area = MmapOptions::new().offset(at).len(size).map_raw(&file.0).ok()?;
        file.1 = at + size as u64;
        // The record lives as long as the JVM.
        let area = std::mem::ManuallyDrop::new(area);
        // SAFETY: the file's new bytes are 0, and this record's alone.
        Some(unsafe { Record::in_ring(area.as_mut_ptr(), self.half, thread, owner) })
    }

    /// Removes the file: the trace has its contents now.
    pub fn remove(&self) {
        // If the file stays, readers of a complete trace ignore it.
        let _ = fs::remove_file(&self.path);
    }
}
