//! The files of a home: listed once, hashed and copied from the list.
//!
//! Links within the home stay links. Targets outside (Debian keeps a JDK's configuration in `/etc`)
//! are copied as files or folders, so that the image is complete wherever it goes. Broken links are
//! omitted.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::file_stamps::{Stamp, Stamps};
use crate::file_error::{FileError, Operation};

/// A home that cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A folder, or a file in it, cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Folders are nested too deep.
    #[error("{}: folders nested without end; check for a circle of links", .0.display())]
    Endless(PathBuf),
    /// A pipe, socket or device.
    #[error("{}: neither a file nor a folder; is this the home of a JDK?", .0.display())]
    Special(PathBuf),
}

/// A file or folder of a home that cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A folder or link of the copy cannot be created.
    #[error(transparent)]
    Make(#[from] FileError),
    /// A file cannot be copied.
    #[error("cannot copy {} to {}", .from.display(), .to.display())]
    Copy {
        /// The file.
        from: PathBuf,
        /// The copy.
        to: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The contents of a home, folders before their contents, in a fixed order.
#[derive(Debug, Default)]
pub struct Tree {
    items: Vec<Item>,
    /// Broken links, relative to the home.
    pub dangling: Vec<PathBuf>,
}

#[derive(Debug)]
struct Item {
    /// The path relative to the home.
    path: PathBuf,
    what: EntryKind,
}

#[derive(Debug)]
enum EntryKind {
    Folder,
    /// The file with the contents.
    File(PathBuf),
    /// The text of the link.
    Link(PathBuf),
}

/// How to create the files of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyMode {
    /// All are copied.
    Copy,
    /// Hard links, but for files that people edit.
    Link,
}

/// Folders whose files people or tools (`keytool`) change: never hard links.
const CONFIGURATION: &[&str] = &["conf", "security", "management"];

/// Maximum nesting; deeper nesting is a cycle of links.
const MAX_DEPTH: usize = 100;

impl Tree {
    /// Lists a home (absolute, without links).
    ///
    /// # Errors
    /// Fails if a folder cannot be read, or if it holds something else than files, folders and
    /// links.
    pub fn list(home: &Path) -> Result<Tree, TreeError> {
        let mut tree = Tree::default();
        tree.folder(home, home, Path::new(""), 0)?;
        Ok(tree)
    }

    /// Implemented here, since a walker follows all links or none, and only those that lead out of
    /// the home must be followed.
    fn folder(&mut self, home: &Path, folder: &Path, relative: &Path, depth: usize) -> Result<(), TreeError> {
        let cannot = Operation::List.failed_on(folder);
        if depth > MAX_DEPTH {
            return Err(TreeError::Endless(folder.to_path_buf()));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(cannot)? {
            names.push(entry.map_err(cannot)?.file_name());
        }
        names.sort();
        for name in names {
            let (path, relative) = (folder.join(&name), relative.join(&name));
            let kind = fs::symlink_metadata(&path).map_err(Operation::Find.failed_on(&path))?;
            let (real, is_link) = if !kind.is_symlink() {
                (path, false)
            } else {
                match fs::canonicalize(&path) {
                    Ok(real) => (real, true),
                    Err(_) => {
                        self.dangling.push(relative);
                        continue;
                    }
                }
            };
            if let (true, Ok(inside)) = (is_link, real.strip_prefix(home)) {
                let what = EntryKind::Link(way(&relative, inside));
                self.items.push(Item { path: relative, what });
            } else if real.is_dir() {
                self.items.push(Item { path: relative.clone(), what: EntryKind::Folder });
                self.folder(home, &real, &relative, depth + 1)?;
            } else if real.is_file() {
                self.items.push(Item { path: relative, what: EntryKind::File(real) });
            } else {
                return Err(TreeError::Special(real));
            }
        }
        Ok(())
    }

    /// Removes the files for which `unwanted` is true, by their paths relative to the home. Returns
    /// their number.
    pub fn leave_out(&mut self, unwanted: impl Fn(&Path) -> bool) -> usize {
        let before = self.files().count();
        self.items.retain(|item| !unwanted(&item.path));
        before - self.files().count()
    }

    /// The relative paths of all files, except links within the home.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.items.iter().filter(|item| matches!(item.what, EntryKind::File(_))).map(|item| &*item.path)
    }

    /// Feeds a hash with everything: paths, kinds, permissions, contents.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn hash(&self, into: &mut Xxh3) -> Result<(), FileError> {
        let hashes: Vec<u128> = self
            .items
            .par_iter()
            .map(|item| match &item.what {
                EntryKind::Folder => Ok(0),
                EntryKind::Link(target) => {
                    Ok(xxhash_rust::xxh3::xxh3_128(target.as_os_str().as_encoded_bytes()))
                }
                EntryKind::File(source) => {
                    let cannot = Operation::Read.failed_on(source);
                    let bytes = fs::read(source).map_err(cannot)?;
                    let mut hash = Xxh3::new();
                    hash.update(&bytes);
                    hash.update(&[u8::from(is_executable(source).map_err(cannot)?)]);
                    Ok(hash.digest128())
                }
            })
            .collect::<Result<_, FileError>>()?;
        for (item, hash) in self.items.iter().zip(hashes) {
            let kind = match item.what {
                EntryKind::Folder => b'd',
                EntryKind::File(_) => b'f',
                EntryKind::Link(_) => b'l',
            };
            let path = item.path.as_os_str().as_encoded_bytes();
            into.update(&[kind]);
            into.update(&(path.len() as u64).to_le_bytes());
            into.update(path);
            into.update(&hash.to_le_bytes());
        }
        Ok(())
    }

    /// The stamp of everything: paths, kinds, and metadata of files.
    ///
    /// # Errors
    /// Fails if a file cannot be found.
    pub fn stamp(&self) -> Result<Stamp, FileError> {
        let mut stamps = Stamps::default();
        for item in &self.items {
            stamps.name(item.path.as_os_str().as_encoded_bytes());
            match &item.what {
                EntryKind::Folder => stamps.name(b"folder"),
                EntryKind::Link(target) => stamps.name(target.as_os_str().as_encoded_bytes()),
                EntryKind::File(source) => {
                    stamps.file(&fs::metadata(source).map_err(Operation::Find.failed_on(source))?);
                }
            }
        }
        Ok(stamps.stamp())
    }

    /// Total size of all files, in bytes.
    ///
    /// # Errors
    /// Fails if a file cannot be found.
    pub fn size(&self) -> Result<u64, FileError> {
        let mut sum = 0;
        for item in &self.items {
            if let EntryKind::File(source) = &item.what {
                sum += fs::metadata(source).map_err(Operation::Find.failed_on(source))?.len();
            }
        }
        Ok(sum)
    }

    /// Creates a copy in an empty folder. Calls `copied` after each file.
    ///
    /// # Errors
    /// Fails if a file cannot be read or written.
    pub fn copy(&self, to: &Path, mode: CopyMode, copied: impl Fn() + Sync) -> Result<(), CopyError> {
        for item in &self.items {
            let path = to.join(&item.path);
            let cannot = Operation::Make.failed_on(&path);
            match &item.what {
                EntryKind::Folder => fs::create_dir(&path).map_err(cannot)?,
                EntryKind::Link(target) => link(target, &path).map_err(cannot)?,
                EntryKind::File(_) => {}
            }
        }
        self.items.par_iter().try_for_each(|item| {
            let EntryKind::File(source) = &item.what else { return Ok(()) };
            copy_file(source, &to.join(&item.path), mode)?;
            copied();
            Ok(())
        })
    }
}

/// Whether a file is in a folder whose files people and tools edit.
pub fn is_configuration(path: &Path) -> bool {
    path.components().any(|part| CONFIGURATION.iter().any(|name| part.as_os_str() == *name))
}

/// Copies one file with its permissions and its time, or links it.
fn copy_file(from: &Path, to: &Path, mode: CopyMode) -> Result<(), CopyError> {
    let is_edited = is_configuration(to);
    // Hard links fail across file systems, and for files of others where the system forbids it:
    // then the file is copied.
    if mode == CopyMode::Link && !is_edited && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let copy = || {
        fs::copy(from, to)?;
        let time = fs::metadata(from)?.modified()?;
        // The time is a convenience (`ls`, `make`); a read-only copy keeps its own.
        if let Ok(file) = fs::OpenOptions::new().append(true).open(to) {
            file.set_modified(time)?;
        }
        Ok(())
    };
    copy().map_err(|source| CopyError::Copy { from: from.to_path_buf(), to: to.to_path_buf(), source })
}

#[cfg(unix)]
fn is_executable(file: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(file)?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The text of a link at `link` to `target`, both relative to the same folder.
fn way(link: &Path, target: &Path) -> PathBuf {
    let folder: Vec<Component<'_>> = link.parent().into_iter().flat_map(Path::components).collect();
    let target: Vec<Component<'_>> = target.components().collect();
    let common = folder.iter().zip(&target).take_while(|(a, b)| a == b).count();
    let up = folder[common..].iter().map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(target[common..].iter().copied()).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A home with links inside it, out of it, and broken ones.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap().join("home");
        for (path, text) in [
            ("etc/java.security", "security"),
            ("etc/nested/deep.cfg", "deep"),
            ("home/bin/java", "launcher"),
            ("home/lib/modules", "modules"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let absolute = fs::canonicalize(folder.path()).unwrap();
        link(&absolute.join("etc"), &home.join("conf")).unwrap();
        link(Path::new("../../etc/java.security"), &home.join("lib/outside")).unwrap();
        link(&home.join("bin/java"), &home.join("lib/launcher")).unwrap();
        link(Path::new("/nowhere/at/all"), &home.join("docs")).unwrap();
        (folder, home)
    }

    fn hash(tree: &Tree) -> u128 {
        let mut hash = Xxh3::new();
        tree.hash(&mut hash).unwrap();
        hash.digest128()
    }

    #[test]
    fn a_copy_is_complete_without_what_was_around_the_home() {
        for mode in [CopyMode::Copy, CopyMode::Link] {
            let (folder, home) = home();
            let tree = Tree::list(&home).unwrap();
            assert_eq!(tree.dangling, [Path::new("docs")]);
            let copy = folder.path().join("copy");
            fs::create_dir(&copy).unwrap();
            tree.copy(&copy, mode, || ()).unwrap();
            fs::remove_dir_all(&home).unwrap();
            fs::remove_dir_all(folder.path().join("etc")).unwrap();
            let read = |path: &str| fs::read_to_string(copy.join(path)).unwrap();
            assert_eq!(read("conf/nested/deep.cfg"), "deep");
            assert_eq!(read("lib/outside"), "security");
            assert_eq!(read("lib/launcher"), "launcher");
            assert_eq!(fs::read_link(copy.join("lib/launcher")).unwrap(), Path::new("../bin/java"));
            assert!(!copy.join("docs").exists());
        }
    }

    #[test]
    fn only_what_nobody_edits_is_linked() {
        use std::os::unix::fs::MetadataExt;
        let (folder, home) = home();
        let copy = folder.path().join("copy");
        fs::create_dir(&copy).unwrap();
        Tree::list(&home).unwrap().copy(&copy, CopyMode::Link, || ()).unwrap();
        let links = |path: &str| fs::metadata(copy.join(path)).unwrap().nlink();
        assert_eq!((links("lib/modules"), links("conf/java.security")), (2, 1));
    }

    #[test]
    fn the_hash_sees_contents_names_and_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, home) = home();
        let mut seen = vec![hash(&Tree::list(&home).unwrap())];
        assert_eq!(hash(&Tree::list(&home).unwrap()), seen[0]);
        let mut changed = |what: &str| {
            let hash = hash(&Tree::list(&home).unwrap());
            assert!(!seen.contains(&hash), "{what}");
            seen.push(hash);
        };
        fs::write(home.join("lib/modules"), "others").unwrap();
        changed("contents");
        fs::rename(home.join("lib/modules"), home.join("lib/modulez")).unwrap();
        changed("a name");
        fs::set_permissions(home.join("bin/java"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("permissions");
    }

    #[test]
    fn ways_are_found_up_and_down() {
        let way = |link: &str, target: &str| way(Path::new(link), Path::new(target));
        assert_eq!(way("a/b/l", "a/c/t"), Path::new("../c/t"));
        assert_eq!(way("l", "t"), Path::new("t"));
        assert_eq!(way("a/l", "a"), Path::new("."));
        assert_eq!(way("a/b/l", ""), Path::new("../.."));
    }

    #[test]
    fn unselected_parts_are_left_out() {
        let (_folder, home) = home();
        let mut tree = Tree::list(&home).unwrap();
        assert_eq!(tree.leave_out(|path| path.starts_with("conf")), 2);
        assert!(tree.files().all(|path| !path.starts_with("conf")));
    }
}
