//! Free space on the disk while the tests run. Tests that run out of it fail in many ways, mostly
//! without a clear message; so the summary reports it.

use std::path::Path;

/// Maximum size of the tests' files and of cargo's builds for them, in GiB: 23 and 7 were measured.
const NEEDED: u64 = 30;

/// Free bytes of a file system: initial and minimum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Space {
    first: u64,
    least: u64,
}

impl Space {
    /// The current state; `None` if the system does not report it.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let free = free(folder)?;
        Some(Space { first: free, least: free })
    }

    /// Updates the minimum.
    pub(super) fn look(&mut self, folder: &Path) {
        self.least = free(folder).map_or(self.least, |free| free.min(self.least));
    }

    /// The line for the summary.
    pub(super) fn line(&self) -> String {
        let [first, least] = [self.first, self.least].map(|bytes| bytes >> 20);
        let warning = match least >> 10 {
            0 => ": failures may be due to a full disk",
            _ if first >> 10 < NEEDED => ": less than tests may need",
            _ => "",
        };
        format!("disk     {first} MiB free at first, minimum {least} MiB{warning}")
    }
}

fn free(folder: &Path) -> Option<u64> {
    let file_system = rustix::fs::statvfs(folder).ok()?;
    Some(file_system.f_bavail * file_system.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_was_full_is_named() {
        let line = |first: u64, least: u64| Space { first: first << 30, least: least << 20 }.line();
        assert!(line(NEEDED, 5000).ends_with("minimum 5000 MiB"));
        assert!(line(NEEDED - 1, 5000).ends_with(": less than tests may need"));
        assert!(line(NEEDED, 1023).ends_with(": failures may be due to a full disk"));
    }

    #[test]
    fn what_is_free_is_known() {
        let mut space = Space::of(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(space.first > 0);
        space.look(Path::new("/nowhere"));
        assert_eq!(space.first, space.least);
    }
}
