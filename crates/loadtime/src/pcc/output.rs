//! The output at the end of the JVM: names instead of ids, and a file that is complete or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cct_classfile::mutf8::lossy;
use cct_index::mid::Mid;
use cct_pcc::{MethodChoice, Place, RecordedValues, Value};
use rustc_hash::FxHashMap;

use crate::archived;
use crate::jni::Env;
use crate::state::{jvmti, state};

/// Adds counts under the names of their places.
pub fn name(env: Env, counts: FxHashMap<(u64, u64), u64>, recorded: &mut RecordedValues) {
    let mut names = state().names();
    let is_known = |mid: &u64| names.contains_key(mid) || state().library.method(Mid(*mid)).is_some();
    let mut unknown: Vec<u64> = counts.keys().map(|&(place, _)| place).collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown.retain(|mid| !is_known(mid));
    if !unknown.is_empty()
        && archived::is_given(env)
        && let Some(jvmti) = jvmti(env)
    {
        names.extend(archived::names(env, jvmti, &unknown));
    }
    // Sums do not depend on the order.
    #[allow(clippy::iter_over_hash_type)]
    for ((mid, value), count) in counts {
        let named = names.get(&mid).cloned().or_else(|| state().library.method(Mid(mid)));
        let place = match named {
            Some(named) => {
                let [class, name, descriptor] =
                    [named.class, named.name, named.descriptor].map(|text| lossy(&text));
                Place { class, name, descriptor }
            }
            // A native of a program's output that its callers count; or a method of an unloaded
            // class from an archive.
            None => Place { class: "?".to_owned(), name: format!("{mid:x}"), descriptor: String::new() },
        };
        recorded.add(place, Value(value), count);
    }
}

/// Remarks on how the user's choice of methods matched.
pub fn remarks(chosen: &MethodChoice, recorded: &RecordedValues) -> Vec<String> {
    if chosen.at.is_empty() {
        return vec!["no methods were chosen for recording values (--pcc-at)".to_owned()];
    }
    let is_met = |pattern: &&cct_pcc::MethodPattern| {
        recorded.counts.keys().any(|place| pattern.matches(&place.class, &place.name, &place.descriptor))
    };
    let missed = chosen.at.iter().filter(|pattern| !is_met(pattern));
    missed
        .map(|pattern| {
            format!("no method that {} names was entered where values could be recorded", pattern.text())
        })
        .collect()
}

/// Creates a new file next to another one, for its owner alone. Nobody else can have created it.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    for attempt in 0..100 {
        let mut name = path.as_os_str().to_owned();
        name.push(match attempt {
            0 => format!(".{}.tmp", std::process::id()),
            _ => format!(".{}-{attempt}.tmp", std::process::id()),
        });
        let name = PathBuf::from(name);
        match cct_private::create(&name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((name, file?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes a temporary file next to the target and renames it, so that the target is complete or
/// absent. Devices and pipes are written to directly.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let (temporary, mut file) = beside(path)?;
    let written =
        file.write_all(bytes).and_then(|()| file.flush()).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // There is nothing more to do about a failure.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_its_owners_and_takes_another_ones_place() {
        let folder = std::env::temp_dir().join(format!("cct-pcc-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.pcc");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        // A file in the way stays untouched.
        let in_the_way = folder.join(format!("a.pcc.{}.tmp", std::process::id()));
        fs::write(&in_the_way, "theirs").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&in_the_way).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert!(write(&folder.join("none/a.pcc"), b"new").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn methods_never_entered_are_reported() {
        let chosen = MethodChoice::parse(["a.B.m", "a.B.n"], []).unwrap();
        let mut recorded = RecordedValues::default();
        let place = Place { class: "a/B".to_owned(), name: "m".to_owned(), descriptor: "()V".to_owned() };
        recorded.add(place, Value(1), 1);
        let remarks = remarks(&chosen, &recorded);
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].contains("a.B.n"), "{remarks:?}");
        assert!(super::remarks(&MethodChoice::default(), &recorded)[0].contains("--pcc-at"));
    }
}
