//! A tree of files in memory, sorted by path.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Files by their paths, with `/` between folders and none at the start.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, File>,
}

/// A file.
#[derive(Debug, Clone)]
pub struct File {
    /// Its mode: [`DATA`] or [`PROGRAM`].
    pub mode: u32,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Mode of data files.
pub const DATA: u32 = 0o644;

/// Mode of programs and folders.
pub const PROGRAM: u32 = 0o755;

impl Tree {
    /// Adds a file. Replaces an earlier one with the same path.
    pub fn add(&mut self, path: &str, mode: u32, bytes: Vec<u8>) {
        self.files.insert(path.to_owned(), File { mode, bytes });
    }

    /// All files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (&**path, file))
    }

    /// All folders that contain files, sorted: each parent comes before its children.
    pub fn folders(&self) -> BTreeSet<&str> {
        let above = |path: &'_ str| path.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        self.files.keys().flat_map(|path| above(path).into_iter().map(|at| &path[..at])).collect()
    }

    /// Writes all files below a folder.
    ///
    /// # Errors
    /// Fails if a file or folder cannot be written.
    pub fn write_below(&self, root: &Path) -> Result<()> {
        for folder in self.folders() {
            let path = root.join(folder);
            fs::create_dir_all(&path).with_context(|| format!("make {}", path.display()))?;
            fs::set_permissions(&path, Permissions::from_mode(PROGRAM))?;
        }
        for (name, file) in self.files() {
            let path = root.join(name);
            let written = fs::write(&path, &file.bytes)
                .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(file.mode)));
            written.with_context(|| format!("write {}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them() {
        let mut tree = Tree::default();
        tree.add("lib/cctrewrite/a.so", DATA, b"a".to_vec());
        tree.add("bin/cctrewrite", PROGRAM, b"bin".to_vec());
        tree.add("README", DATA, Vec::new());
        assert_eq!(tree.folders().into_iter().collect::<Vec<_>>(), ["bin", "lib", "lib/cctrewrite"]);
        let folder = tempfile::tempdir().unwrap();
        tree.write_below(folder.path()).unwrap();
        let its = fs::metadata(folder.path().join("bin/cctrewrite")).unwrap();
        assert_eq!((its.permissions().mode() & 0o777, its.len()), (0o755, 3));
    }
}
