//! The classes of a JDK.

use std::io::{Cursor, Read as _};
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use zip::ZipArchive;

use super::files_below;

/// Calls `f` with every class of the JDK, in parallel, and returns the results for each jar or
/// module, in order.
///
/// A JDK 8 is read from its jars; a later one from its jmods, or without them from `lib/modules`.
pub fn each_class<T: Send>(home: &Path, f: impl Fn(&[u8]) -> T + Sync) -> Vec<(String, Vec<T>)> {
    let jmods = home.join("jmods");
    if home.join("jre/lib/rt.jar").exists() {
        let mut jars = files_below(&home.join("jre/lib"));
        jars.extend(files_below(&home.join("lib")));
        jars.retain(|path| path.extension().is_some_and(|e| e == "jar"));
        jars.iter().map(|jar| each_in_zip(home, jar, 0, &f)).collect()
    } else if jmods.is_dir() {
        // A jmod is a zip after four bytes of its own: 'J' 'M' and the version.
        files_below(&jmods).iter().map(|jmod| each_in_zip(home, jmod, 4, &f)).collect()
    } else {
        let extracted = tempfile::tempdir().unwrap();
        let status = Command::new(home.join("bin/jimage"))
            .arg("extract")
            .arg("--dir")
            .arg(extracted.path())
            .arg(home.join("lib/modules"))
            .status()
            .unwrap_or_else(|e| {
                panic!("{} is no JDK: it has neither jars nor jmods nor jimage: {e}", home.display())
            });
        assert!(status.success(), "jimage cannot extract the modules of {}", home.display());
        let mut files = files_below(extracted.path());
        files.retain(|path| path.extension().is_some_and(|e| e == "class"));
        let results = files.par_iter().map(|path| f(&std::fs::read(path).unwrap())).collect();
        vec![("lib/modules".to_owned(), results)]
    }
}

fn each_in_zip<T: Send>(
    home: &Path,
    path: &Path,
    skip: usize,
    f: &(impl Fn(&[u8]) -> T + Sync),
) -> (String, Vec<T>) {
    let bytes = std::fs::read(path).unwrap();
    let archive = ZipArchive::new(Cursor::new(&bytes[skip..])).unwrap();
    let results = (0..archive.len())
        .into_par_iter()
        .map_init(
            || archive.clone(),
            |archive, i| {
                let mut entry = archive.by_index(i).unwrap();
                if !entry.name().unwrap().ends_with(".class") {
                    return None;
                }
                let mut class = Vec::with_capacity(entry.size() as usize);
                entry.read_to_end(&mut class).unwrap();
                Some(f(&class))
            },
        )
        .flatten_iter()
        .collect();
    (path.strip_prefix(home).unwrap_or(path).display().to_string(), results)
}
