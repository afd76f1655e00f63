//! The allocator of the command.

use libmimalloc_sys::{mi_option_get, mi_option_set, mi_option_t};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The time after which the allocator returns freed memory to the system, in milliseconds; -1 for
/// never. `mi_option_purge_delay` of `mimalloc.h`, which the crate does not name.
const PURGE_DELAY: mi_option_t = 15;

/// The default of [`PURGE_DELAY`]. Another value is the user's choice (`MIMALLOC_PURGE_DELAY`), or
/// another version of the allocator has another option at this place.
const DEFAULT_PURGE_DELAY: std::ffi::c_long = 1000;

/// Keeps freed memory for the next allocation. Rewriting frees and allocates all the time:
/// returning memory in between takes a sixth of the elapsed time with two threads, and saves 4% of
/// memory (`rt.jar`).
#[allow(unsafe_code)]
pub fn keep_freed_memory() {
    // SAFETY: both functions check the index, and access nothing but the table of options.
    unsafe {
        if mi_option_get(PURGE_DELAY) == DEFAULT_PURGE_DELAY {
            mi_option_set(PURGE_DELAY, -1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn the_allocator_returns_no_memory() {
        // SAFETY: as above.
        let delay = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(delay(), DEFAULT_PURGE_DELAY, "another version of the allocator has another option here");
        keep_freed_memory();
        assert_eq!(delay(), -1);
    }
}
