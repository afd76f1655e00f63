//! A class that is about to be defined: what the library behind JNI does with its bytes, as far as
//! no JVM is needed.

use cctrewrite_loadtime::trial;

use super::rewrite::check;

/// Rewrites a class as when it is loaded, in one of the ways in which a class can be defined.
pub fn loadtime(bytes: &[u8]) {
    let how = super::dice(bytes).below(4) as i32;
    if let Ok(Some(new)) = trial::rewrite(bytes, how) {
        check(bytes, &new);
        // What was rewritten once is known for it, and stays.
        assert_eq!(trial::rewrite(&new, how), Ok(None));
    }
}
