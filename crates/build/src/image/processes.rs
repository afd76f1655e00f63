//! Processes that use an image: a JVM whose launcher was not started by `run` holds no lock of the
//! cache.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A process that runs a program of the image, or has one of its files mapped, among those that
/// this user may inspect.
pub fn of_image(image: &Path) -> Option<u32> {
    let entries = fs::read_dir("/proc").ok()?;
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.into_iter().find(|process| uses(*process, image))
}

/// The process that has a lock on a file, if the system reports it.
pub fn with_lock(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| holder(line, inode))
}

/// The process in a line of `/proc/locks`, if it has a lock of a whole file with this inode
/// (proc_locks(5)).
fn holder(line: &str, inode: u64) -> Option<u32> {
    // `1: FLOCK ADVISORY WRITE 708 08:01:786 0 EOF`; a waiting process has `->` after the number.
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, process, place, ..] = words[..] else { return None };
    let is_it = place.rsplit(':').next()?.parse() == Ok(inode);
    // For a process in another container the system reports 0.
    process.parse().ok().filter(|process| is_it && *process > 0)
}

fn uses(process: u32, image: &Path) -> bool {
    if fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|program| program.starts_with(image)) {
        return true;
    }
    // A program that has loaded the JVM as a library.
    let maps = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.split(|byte| *byte == b'\n').any(|line| names(line, image))
}

/// Whether a line of `/proc/PID/maps` has a file in the image: its path follows five words.
fn names(line: &[u8], image: &Path) -> bool {
    let image = image.as_os_str().as_encoded_bytes();
    let path = line.iter().position(|byte| *byte == b'/').map(|at| &line[at..]);
    path.is_some_and(|path| path.strip_prefix(image).is_some_and(|rest| rest.starts_with(b"/")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use cct_test_classes::executable;

    use super::*;

    #[test]
    fn a_program_of_an_image_uses_it() {
        let folder = tempfile::tempdir().unwrap();
        let image = fs::canonicalize(folder.path()).unwrap().join("image");
        fs::create_dir_all(image.join("bin")).unwrap();
        let program = image.join("bin/sleep");
        executable::copy(Path::new("/bin/sleep"), &program).unwrap();
        assert_eq!(of_image(&image), None);
        let mut child = Command::new(&program).arg("60").spawn().unwrap();
        let found = of_image(&image);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, Some(child.id()));
        assert_eq!(of_image(&image), None);
    }

    #[test]
    fn the_holder_of_a_lock_is_named() {
        let line = "3: FLOCK  ADVISORY  WRITE 4711 fd:00:786457 0 EOF";
        assert_eq!(holder(line, 786_457), Some(4711));
        assert_eq!(holder(line, 786_458), None);
        assert_eq!(holder("3: -> FLOCK  ADVISORY  WRITE 4712 fd:00:786457 0 EOF", 786_457), None);
        assert_eq!(holder("4: POSIX  ADVISORY  WRITE 4711 fd:00:786457 0 EOF", 786_457), None);
        assert_eq!(holder("3: FLOCK  ADVISORY  WRITE 0 fd:00:786457 0 EOF", 786_457), None);
    }

    #[test]
    fn a_mapped_file_of_an_image_is_recognised() {
        let line = b"7f00-7f01 r-xp 00000000 fd:00 42   /cache/key/lib/server/libjvm.so";
        assert!(names(line, Path::new("/cache/key")));
        assert!(!names(line, Path::new("/cache/ke")));
        assert!(!names(b"7f00-7f01 rw-p 00000000 00:00 0", Path::new("/cache/key")));
    }
}
