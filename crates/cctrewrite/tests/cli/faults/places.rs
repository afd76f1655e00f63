//! Outputs that cannot be written to the requested path.

use std::fs;

use super::super::support::put;
use super::{WORKS, can, contents, ended, names, on_tmpfs, stored};

/// A folder instead of a file, a file instead of a folder, no parent folder.
#[test]
fn taken_by_something_else_or_nowhere() {
    for work in &WORKS {
        // The output of one jar may also go into a folder, under the jar's name.
        if work.output == "out.jar" {
            continue;
        }
        let folder = stored();
        let home = folder.path();
        let place = home.join(work.output);
        let (other, why) = match work.output {
            "out" => {
                fs::write(&place, "a file").unwrap();
                ("is a file", "is a file")
            }
            _ => {
                put(home, &format!("{}/precious", work.output), b"precious");
                ("is a folder", "")
            }
        };
        let (before, there) = (names(home), contents(&place));
        let run = ended(work.command(home).output().unwrap());
        assert_eq!(run.code, Some(1), "{other}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(work.output) && run.stderr.contains(why), "{}", run.stderr);
        assert!(contents(&place) == there && names(home) == before, "{}: {other}", work.output);

        let mut command = super::command();
        let gone = format!("gone/{}", work.output);
        let arguments = work.arguments.iter().map(|&a| if a == work.output { &*gone } else { a });
        let run = ended(command.current_dir(home).args(arguments).output().unwrap());
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("gone") && run.stderr.contains("No such file"), "{}", run.stderr);
        assert_eq!((run.stderr.lines().count(), names(home)), (1, before), "{}", run.stderr);
    }
}

/// Permissions do not bind root; a file system that is mounted read-only does.
#[test]
fn on_a_file_system_that_is_read_only() {
    if !can("unshare", &["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]) {
        return;
    }
    for work in &WORKS {
        let folder = stored();
        let home = folder.path();
        let mount = home.join("sealed");
        fs::create_dir(&mount).unwrap();
        let mut command = super::command();
        let sealed = mount.join(work.output).display().to_string();
        let arguments = work.arguments.iter().map(|&a| if a == work.output { &*sealed } else { a });
        command.current_dir(home).args(arguments);
        let before = names(home);
        let run = ended(on_tmpfs("ro", &mount, &command).output().unwrap());
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let parts = ["cctrewrite: ", work.output, "Read-only file system"];
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "{}", run.stderr);
        assert_eq!((run.stderr.lines().count(), names(home)), (1, before), "{}", run.stderr);
    }
}
