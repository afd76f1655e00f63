//! Inputs: opening, surveying, rewriting.

use std::borrow::Cow;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::container::{self, Container};
use crate::entry::{ArchivePath, Entry, Location};
use crate::error::{EntryProblem, Error, Failure, Notice};
use crate::folder::{self, Folder};
use crate::jar::{self, Jar};
use crate::jimage::{self, Image};
use crate::layout::Layout;
use crate::limits::{Budget, Limits};
use crate::patches;
use crate::rewrite::{Pass, RewriteOptions, Rewriter};
use crate::target::{Staged, StagedPlace, Target};

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A file that is a zip archive, by whatever name; jmods are.
    Jar,
    /// The modules of a JDK from 9 on, `lib/modules`.
    Image,
    /// A folder.
    Folder,
}

/// An opened input. It holds a file's bytes, or the list of a folder's files.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    canonical: PathBuf,
    limits: Limits,
    root: Root,
}

#[derive(Debug)]
enum Root {
    Jar(Jar<'static>),
    Image(Image),
    Folder(Folder),
}

/// What a visitor made of the classes of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey<T> {
    /// One for each class, in input order, those of a nested archive in that archive's place.
    pub classes: Vec<T>,
    /// What a user should hear, in input order.
    pub notices: Vec<Notice>,
}

/// Bytes gathered before each write to an output file.
const WRITE_BUFFER: usize = 1 << 20;

impl Input {
    /// Opens a jar, an image or a folder and lists its entries. Nested archives are opened when they are walked.
    pub fn open(path: &Path, limits: &Limits) -> Result<Input, Error> {
        let metadata = fs::metadata(path).map_err(Error::io(path, "read"))?;
        let canonical = fs::canonicalize(path).map_err(Error::io(path, "find"))?;
        let root = if metadata.is_dir() {
            Root::Folder(Folder::walk(canonical.clone(), path)?)
        } else if metadata.is_file() {
            let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
            let root = match Image::is_announced_by(&bytes) {
                true => Image::parse(bytes).map(Root::Image),
                false => Jar::parse(Cow::Owned(bytes)).map(Root::Jar),
            };
            root.map_err(|problem| Error::Archive { archive: path.display().to_string(), problem })?
        } else {
            return Err(Error::Entry { entry: path.display().to_string(), problem: EntryProblem::Special });
        };
        Ok(Input { path: path.to_path_buf(), canonical, limits: limits.clone(), root })
    }

    /// The path as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file has; `None` of a folder.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.root {
            Root::Jar(jar) => Some(jar.bytes()),
            Root::Image(image) => Some(image.bytes()),
            Root::Folder(_) => None,
        }
    }

    pub(crate) fn canonical_path(&self) -> &Path {
        &self.canonical
    }

    /// What it is.
    pub fn kind(&self) -> InputKind {
        match self.root {
            Root::Jar(_) => InputKind::Jar,
            Root::Image(_) => InputKind::Image,
            Root::Folder(_) => InputKind::Folder,
        }
    }

    /// Where it has its classes.
    pub fn layout(&self) -> Layout {
        match &self.root {
            Root::Jar(jar) => Layout::of_prefix(jar.prefix()),
            Root::Image(_) => Layout::Modules,
            Root::Folder(folder) => Layout::of_folder(folder.entries()),
        }
    }

    fn container(&self) -> &dyn Container {
        match &self.root {
            Root::Jar(jar) => jar,
            Root::Image(image) => image,
            Root::Folder(folder) => folder,
        }
    }

    /// The input as messages and rewriters see it.
    pub fn archive_path(&self) -> ArchivePath<'_> {
        ArchivePath::input(&self.path, self.kind() == InputKind::Folder, self.layout())
    }

    /// Its entries in order, without those of nested archives. A jar's are in the order of its central directory, an
    /// image's in the order of their contents, a folder's sorted by name.
    pub fn entries(&self) -> &[Entry] {
        self.container().entries()
    }

    /// The contents of an entry of [`Input::entries`], borrowed if they are stored. None past the last entry.
    pub fn read(&self, index: usize) -> Option<Result<Cow<'_, [u8]>, Error>> {
        let archive = self.archive_path();
        let at = Location { archive: &archive, index, entry: self.entries().get(index)? };
        Some(self.container().read(index, &Budget::new(&self.limits)).map_err(Error::entry(&at)))
    }

    /// Shows all classes, those of nested archives too, to `visit` in parallel; returns its results in input order.
    /// Of several errors, that of the first entry is returned.
    pub fn survey<T, E, F>(&self, visit: F) -> Result<Survey<T>, Failure<E>>
    where
        T: Send,
        E: Send,
        F: Fn(&Location<'_>, &[u8]) -> Result<T, E> + Sync,
    {
        let budget = Budget::new(&self.limits);
        let visited = container::survey(self.container(), &self.archive_path(), &budget, &visit)?;
        Ok(Survey { classes: visited.results, notices: visited.notices })
    }

    /// Writes the input, as `rewriter` wants it, beside `target`: a jar or an image to a file, a folder to a folder. Of several
    /// errors, that of the first entry is returned, and nothing is left behind.
    pub fn rewrite<R: Rewriter>(
        &self,
        target: &Target,
        options: &RewriteOptions,
        rewriter: &R,
    ) -> Result<Staged<R::Record>, Failure<R::Error>> {
        let pass = Pass { rewriter, options, budget: Budget::new(&self.limits) };
        let archive = self.archive_path();
        match &self.root {
            Root::Jar(jar) => {
                let (file, temp) = target.stage_file()?;
                let mut out = BufWriter::with_capacity(WRITE_BUFFER, file);
                let account = jar::rewrite(&pass, jar, &archive, &mut out)?;
                out.flush().map_err(Error::io(target.path(), "write"))?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
            Root::Image(image) => {
                let (mut file, temp) = target.stage_file()?;
                let account = jimage::rewrite(&pass, image, &archive, &mut file, target.scratch_file()?)?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
            Root::Folder(folder) => {
                let temp = target.stage_folder()?;
                let account = folder::rewrite(&pass, folder, &archive, temp.path())?;
                let mode =
                    fs::metadata(&self.canonical).map_err(Error::io(&self.path, "read"))?.permissions();
                fs::set_permissions(temp.path(), mode)
                    .map_err(Error::io(target.path(), "set the mode bits of"))?;
                Ok(Staged::new(target, StagedPlace::Folder(temp), account))
            }
        }
    }

    /// Writes only what `rewriter` replaces and adds, for `--patch-module`: of a jmod a jar, of an image or a folder of modules a folder with
    /// a jar for each module, `NAME.jar`. Entries added beside [`crate::INDEX_NAME`] lie at the top of the jar or folder. Of anything
    /// else the whole is written, as [`Input::rewrite`] does.
    pub fn rewrite_as_patches<R: Rewriter>(
        &self,
        target: &Target,
        options: &RewriteOptions,
        rewriter: &R,
    ) -> Result<Staged<R::Record>, Failure<R::Error>> {
        let pass = Pass { rewriter, options, budget: Budget::new(&self.limits) };
        let archive = self.archive_path();
        match self.layout() {
            Layout::Plain => self.rewrite(target, options, rewriter),
            Layout::Modules => {
                let temp = target.stage_folder()?;
                let place = patches::Place::Folder(temp.path());
                let account = patches::rewrite(&pass, self.container(), &archive, place)?;
                Ok(Staged::new(target, StagedPlace::Folder(temp), account))
            }
            Layout::Jmod => {
                let (file, temp) = target.stage_file()?;
                let place = patches::Place::Jar(file);
                let account = patches::rewrite(&pass, self.container(), &archive, place)?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
        }
    }
}
