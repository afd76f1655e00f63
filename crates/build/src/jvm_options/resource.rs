//! The resource of an image with options for HotSpot, since JDK 9
//! (`ClassLoader::lookup_vm_options`).

use std::sync::atomic::{AtomicBool, Ordering};

use cct_archive::{Action, Location, Method, NewEntry};

const NAME: &str = "java.base/jdk/internal/vm/options";

/// Options, one on each line, to be added to the only input of a run, the modules of a JDK.
#[derive(Debug)]
pub struct VmOptions<'o> {
    text: &'o str,
    /// Whether they were added to options that the image had.
    are_in: AtomicBool,
}

impl<'o> VmOptions<'o> {
    /// Creates options that are not added yet.
    pub fn new(text: &'o str) -> Self {
        VmOptions { text, are_in: AtomicBool::new(false) }
    }

    /// Whether an entry is that resource.
    pub fn are_at(at: &Location<'_>) -> bool {
        &*at.entry.name == NAME
    }

    /// Prepends them to the image's options: HotSpot uses the last of options given twice.
    pub fn put_before(&self, old: &[u8]) -> Action {
        self.are_in.store(true, Ordering::Relaxed);
        Action::Replace([self.text.as_bytes(), old].concat())
    }

    /// The new resource, for an image that had none.
    pub fn entry(&self) -> Option<NewEntry> {
        let bytes = || self.text.as_bytes().to_vec();
        let is_missing = !self.are_in.load(Ordering::Relaxed);
        is_missing.then(|| NewEntry { name: NAME.to_owned(), bytes: bytes(), method: Method::Stored })
    }
}
