//! Target for the index of an output, in which a JVM looks up names at run time.

use cct_index::mid::Mid;
use cct_index::read::Index;
use cct_settings::Settings;

/// Opens an index, as JVMs and as commands do, and looks up likely names.
pub fn index(bytes: &[u8]) {
    let checked = Index::checked(bytes);
    let Ok(index) = Index::new(bytes) else {
        assert!(checked.is_err(), "the check passes what cannot be read");
        return;
    };
    let lines = String::from_utf8_lossy(index.provenance()).into_owned();
    let _ = Settings::of_entries(&lines);
    assert!(index.len() <= bytes.len(), "more classes than bytes");
    for name in [&b"Everything"[..], b"everything/Everything", b"", b"a", b"java/lang/Object"] {
        for class in index.classes_named(name) {
            for (position, method) in class.methods.iter().enumerate().take(50) {
                index.method(class.hash.method(position, method.shape));
            }
        }
    }
    for window in bytes.windows(8).step_by(3).take(2000) {
        index.method(Mid(u64::from_be_bytes(window.try_into().unwrap())));
    }
}
