//! Target for a class that is about to be defined: the work of the load-time library, as far as it
//! needs no JVM.

use cctrewrite_loadtime::trial;

use super::rewrite::check;

/// Rewrites a class as at load time, in one of the ways in which a class can be defined.
pub fn loadtime(bytes: &[u8]) {
    let how = super::dice(bytes).below(4) as i32;
    if let Ok(Some(new)) = trial::rewrite(bytes, how) {
        check(bytes, &new);
        // A rewritten class is recognised, and stays unchanged.
        assert_eq!(trial::rewrite(&new, how), Ok(None));
    }
}
