//! Files that only their owner can read.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Creates a file, replacing an existing one of this name. It neither follows a link nor writes
/// into a file that somebody else has open. In a folder into which others may write, both could be
/// anybody's.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() => fs::remove_file(path)?,
        Ok(_) => return Err(io::Error::other("something else has this name, such as a link")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    cct_private::create(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn existing_files_are_replaced_and_not_written_to() {
        let folder = tempfile::TempDir::new().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "before").unwrap();
        fs::hard_link(&path, &other).unwrap();
        create(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&other).unwrap()),
            (b"new".to_vec(), b"before".to_vec())
        );
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        symlink(&other, &link).unwrap();
        assert!(create(&link).unwrap_err().to_string().contains("a link"));
        assert!(create(folder.path()).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"before");
    }
}
