//! Inputs: opening, surveying and rewriting them.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::container::Container;
use crate::entry::Entry;
use crate::error::{EntryProblem, Error, Failure, Notice};
use crate::folder::Folder;
use crate::jar::Jar;
use crate::jimage::Image;
use crate::kind::InputKind;
use crate::layout::Layout;
use crate::limits::{Budget, Limits};
use crate::location::{ArchivePath, Location};
use crate::lone_class::LoneClass;
use crate::survey;

/// An opened input. It holds a file's bytes, or the list of a folder's files.
#[derive(Debug)]
pub struct Input {
    pub(crate) path: PathBuf,
    pub(crate) canonical: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) root: Root,
}

#[derive(Debug)]
pub(crate) enum Root {
    Jar(Jar<'static>),
    Image(Image),
    Folder(Folder),
    Class(LoneClass),
}

/// The results of a visitor for the classes of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey<T> {
    /// One result for each class, in input order; those of a nested archive are at that archive's
    /// position.
    pub classes: Vec<T>,
    /// Notices for the user, in input order.
    pub notices: Vec<Notice>,
}

impl Input {
    /// Opens a jar, an image, a folder or a class file and lists its entries. Nested archives are
    /// opened when they are walked.
    pub fn open(path: &Path, limits: &Limits) -> Result<Input, Error> {
        let metadata = fs::metadata(path).map_err(Error::io(path, "read"))?;
        let canonical = fs::canonicalize(path).map_err(Error::io(path, "find"))?;
        let root = if metadata.is_dir() {
            Root::Folder(Folder::walk(canonical.clone(), path)?)
        } else if metadata.is_file() {
            let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
            let root = if Image::is_announced_by(&bytes) {
                Image::parse(bytes).map(Root::Image)
            } else if LoneClass::is_announced_by(&bytes) {
                Ok(Root::Class(LoneClass::new(path, bytes)))
            } else {
                Jar::parse(Cow::Owned(bytes)).map(Root::Jar)
            };
            root.map_err(|problem| Error::Archive { archive: path.display().to_string(), problem })?
        } else {
            return Err(Error::Entry { entry: path.display().to_string(), problem: EntryProblem::Special });
        };
        Ok(Input { path: path.to_path_buf(), canonical, limits: limits.clone(), root })
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The contents of the file; `None` for a folder.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.root {
            Root::Jar(jar) => Some(jar.bytes()),
            Root::Image(image) => Some(image.bytes()),
            Root::Class(class) => Some(class.bytes()),
            Root::Folder(_) => None,
        }
    }

    pub(crate) fn canonical_path(&self) -> &Path {
        &self.canonical
    }

    /// The kind of the input.
    pub fn kind(&self) -> InputKind {
        match self.root {
            Root::Jar(_) => InputKind::Jar,
            Root::Image(_) => InputKind::Image,
            Root::Folder(_) => InputKind::Folder,
            Root::Class(_) => InputKind::Class,
        }
    }

    /// The input's layout.
    pub fn layout(&self) -> Layout {
        match &self.root {
            Root::Jar(jar) => Layout::of_prefix(jar.prefix()),
            Root::Image(_) => Layout::Modules,
            Root::Folder(folder) => Layout::of_folder(folder.entries()),
            Root::Class(_) => Layout::Plain,
        }
    }

    pub(crate) fn container(&self) -> &dyn Container {
        match &self.root {
            Root::Jar(jar) => jar,
            Root::Image(image) => image,
            Root::Folder(folder) => folder,
            Root::Class(class) => class,
        }
    }

    /// The input's path, for messages and rewriters.
    pub fn archive_path(&self) -> ArchivePath<'_> {
        ArchivePath::input(&self.path, self.kind(), self.layout())
    }

    /// The input's entries in order, without those of nested archives. A jar's are in the order of
    /// its central directory, an image's in the order of their contents, a folder's sorted by name.
    pub fn entries(&self) -> &[Entry] {
        self.container().entries()
    }

    /// The contents of an entry of [`Input::entries`], borrowed if they are stored. `None` past the
    /// last entry.
    pub fn read(&self, index: usize) -> Option<Result<Cow<'_, [u8]>, Error>> {
        let archive = self.archive_path();
        let at = Location { archive: &archive, index, entry: self.entries().get(index)? };
        Some(self.container().read(index, &Budget::new(&self.limits)).map_err(Error::entry(&at)))
    }

    /// Passes all classes, including those of nested archives, to `visit` in parallel; returns its
    /// results in input order. Of several errors it returns that of the first entry.
    pub fn survey<T, E, F>(&self, visit: F) -> Result<Survey<T>, Failure<E>>
    where
        T: Send,
        E: Send,
        F: Fn(&Location<'_>, &[u8]) -> Result<T, E> + Sync,
    {
        let budget = Budget::new(&self.limits);
        let visited = survey::survey(self.container(), &self.archive_path(), &budget, &visit)?;
        Ok(Survey { classes: visited.results, notices: visited.notices })
    }
}
