//! Write permissions of an image: for its owner alone, whatever the umask and the modes of the
//! JDK's own files.
//!
//! JVMs run the code in an image. Read permissions are left as they are: an image may be built for
//! others.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::file_error::{FileError, Operation};

/// Permission bits that let others than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Removes write permission from everybody but the owner. Skips files that the JDK shares by hard
/// links (`--link`): they are the JDK's.
///
/// # Errors
/// Fails if the system refuses.
pub fn forbid_others_to_write(image: &Path) -> Result<(), FileError> {
    narrow(image).map_err(Operation::SetPermissions.failed_on(image))
}

/// Closes a folder before it lists it, which needs a recursion of its own. A walker opens folders
/// first: a user who may still write there could replace one by a link.
fn narrow(path: &Path) -> io::Result<()> {
    let its = fs::symlink_metadata(path)?;
    if its.is_symlink() || its.is_file() && its.nlink() > 1 {
        return Ok(());
    }
    if its.mode() & WRITABLE_BY_OTHERS != 0 {
        fs::set_permissions(path, Permissions::from_mode(its.mode() & 0o7777 & !WRITABLE_BY_OTHERS))?;
    }
    if its.is_dir() {
        for entry in fs::read_dir(path)? {
            narrow(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_write_to_an_image() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("image/lib")).unwrap();
        for (name, mode) in [("image/lib/modules", 0o666), ("image/java", 0o775), ("jdk-file", 0o666)] {
            fs::write(path(name), b"").unwrap();
            fs::set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(path("image/lib"), Permissions::from_mode(0o777)).unwrap();
        fs::hard_link(path("jdk-file"), path("image/linked")).unwrap();
        std::os::unix::fs::symlink(path("jdk-file"), path("image/link")).unwrap();
        forbid_others_to_write(&path("image")).unwrap();
        let mode = |name: &str| fs::metadata(path(name)).unwrap().mode() & 0o777;
        let modes = ["image/lib", "image/lib/modules", "image/java", "jdk-file"].map(mode);
        assert_eq!(modes, [0o755, 0o644, 0o755, 0o666]);
    }
}
