//! `cctrewrite run` (docs/run.md): each JVM that records enters itself into a folder, and its profile goes there.
//!
//! The folder's name comes in the environment, which is handed down from process to process whoever starts whom. It is read here and not in Java,
//! where the program's first look at the environment initialises a class.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The environment variable that holds the folder.
const VARIABLE: &str = "CCTREWRITE_RUN";

/// The first number that an entry may have, and the last.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=999_999;

/// Enters this JVM; returns the file in which its profile is expected. `None` when nobody waits for it.
pub fn place() -> Option<String> {
    let folder = std::env::var(VARIABLE).ok().filter(|folder| !folder.is_empty())?;
    enter(Path::new(&folder)).ok()
}

/// Takes the next number: JVMs are numbered in the order in which they start.
fn enter(folder: &Path) -> io::Result<String> {
    let arguments = fs::read("/proc/self/cmdline").unwrap_or_default();
    for number in NUMBERS {
        match File::create_new(folder.join(format!("{number:06}.jvm"))) {
            Ok(mut entry) => {
                // The process, then what it was started with, each ended by a zero.
                entry.write_all(format!("{}\0", std::process::id()).as_bytes())?;
                entry.write_all(&arguments)?;
                let profile = folder.join(format!("{number:06}.cct"));
                return profile
                    .into_os_string()
                    .into_string()
                    .map_err(|_| io::ErrorKind::InvalidInput.into());
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jvm_gets_the_next_number() {
        let folder = std::env::temp_dir().join(format!("cctrewrite-collection-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let places: Vec<String> = (0..3).map(|_| enter(&folder).unwrap()).collect();
        let entry = fs::read(folder.join("000002.jvm")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let names: Vec<&str> = places.iter().map(|place| place.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["000001.cct", "000002.cct", "000003.cct"]);
        assert!(entry.starts_with(format!("{}\0", std::process::id()).as_bytes()));
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_place() {
        assert!(enter(Path::new("no/such/folder")).is_err());
    }
}
