//! Target for lists of contexts, as cctrewrite or other tools write them.

use cct_profile::contexts::{ContextsOptions, read_contexts, write_contexts};
use cct_profile::names::NameStyle;

use super::profile::downstream;

/// Reads a list. If it is accepted, it is written and read back as the same list.
pub fn contexts(bytes: &[u8]) {
    let Ok(list) = read_contexts(bytes) else { return };
    let write = |list: &cct_profile::contexts::ContextList| {
        let options = ContextsOptions { per_thread: list.per_thread, names: NameStyle::Raw };
        let mut out = Vec::new();
        write_contexts(&list.profile, options, &mut out).map(|()| out)
    };
    if let Ok(written) = write(&list) {
        let again = read_contexts(&written[..]).unwrap();
        assert!(write(&again).unwrap() == written, "what was written is read as something else");
    }
    downstream(&list.profile, &mut super::dice(bytes));
}
