//! The last events of each thread ([`cct_events::ring`]): a file beside the trace's, mapped into
//! memory, that outlives the JVM if that is killed.

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

/// The file.
#[derive(Debug)]
pub struct Last {
    path: PathBuf,
    half: usize,
    file: Mutex<(File, u64)>,
}

impl Last {
    /// Makes the file beside a trace's, for so many events of each thread.
    pub fn create(trace: &Path, events: usize, structure: &Path) -> io::Result<Last> {
        let mut path = trace.to_owned().into_os_string();
        path.push(SUFFIX);
        let half = (4 * events + SPARE).next_multiple_of(64);
        let head = ring::head(half, &structure.to_string_lossy())
            .ok_or_else(|| io::Error::other("the place of the class library's static side is too long"))?;
        let mut file = private::create(Path::new(&path))?;
        file.write_all(&head)?;
        Ok(Last { path: path.into(), half, file: Mutex::new((file, ring::PAGE as u64)) })
    }

    /// A record in the file; `None` without room for it.
    pub fn record(&self, thread: u32, owner: u64) -> Option<Record> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let size = ring::area_size(self.half);
        let at = file.1;
        // With room on the disk: without it the JVM would be killed when it writes there.
        fallocate(&file.0, FallocateFlags::empty(), at, size as u64).ok()?;
        // SAFETY: nobody else knows the file, and nothing makes it shorter.
        let area = MmapOptions::new().offset(at).len(size).map_raw(&file.0).ok()?;
        file.1 = at + size as u64;
        // As long as the JVM is there the record is.
        let area = std::mem::ManuallyDrop::new(area);
        // SAFETY: the file's new bytes are 0, and this record's alone.
        Some(unsafe { Record::in_ring(area.as_mut_ptr(), self.half, thread, owner) })
    }

    /// What was in it is in the trace now.
    pub fn remove(&self) {
        // If it stays, readers of a complete trace do not look at it.
        let _ = fs::remove_file(&self.path);
    }
}
