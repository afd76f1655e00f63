//! Runs of the crate on bytes, and reading of its output with the `zip` crate.

use std::convert::Infallible;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use cct_archive::{
    Action, ArchivePath, EntryKind, Error, Failure, Input, Limits, Location, NewEntry, RewriteAccount,
    RewriteOptions, Rewriter, Target,
};

/// A folder with an input in it.
pub struct Bench {
    pub folder: tempfile::TempDir,
}

impl Bench {
    pub fn with(bytes: &[u8]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.jar"), bytes).unwrap();
        Bench { folder }
    }

    pub fn input(&self) -> PathBuf {
        self.folder.path().join("in.jar")
    }

    pub fn output(&self) -> PathBuf {
        self.folder.path().join("out.jar")
    }

    pub fn open(&self) -> Result<Input, Error> {
        Input::open(&self.input(), &Limits::default())
    }

    /// The names of all files, so that a test can check that none were left.
    pub fn files(&self) -> Vec<String> {
        list(self.folder.path())
    }

    pub fn rewrite<R: Rewriter>(&self, rewriter: &R) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
        let input = self.open()?;
        rewrite_to(&input, &self.output(), &RewriteOptions::default(), rewriter)
    }

    pub fn written(&self) -> Vec<u8> {
        fs::read(self.output()).unwrap()
    }
}

pub fn list(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub fn rewrite_to<R: Rewriter>(
    input: &Input,
    output: &Path,
    options: &RewriteOptions,
    rewriter: &R,
) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
    let target = Target::new(output, &[input])?;
    Ok(input.rewrite(&target, options, rewriter)?.commit()?)
}

pub fn keep(_: &Location<'_>, _: &[u8]) -> Result<Action, Infallible> {
    Ok(Action::Keep)
}

/// Replaces every class by its bytes twice.
pub fn double(_: &Location<'_>, bytes: &[u8]) -> Result<Action, Infallible> {
    Ok(Action::Replace([bytes, bytes].concat()))
}

/// Rewrites by a function, records the names of the entries that it saw, and adds entries at both
/// ends of each archive; the last one lists the records.
pub struct AddingRewriter<F>(pub F);

impl<F: Fn(&Location<'_>, &[u8]) -> Result<Action, Infallible> + Sync> Rewriter for AddingRewriter<F> {
    type Record = String;
    type Error = Infallible;

    fn wants(&self, at: &Location<'_>) -> bool {
        matches!(at.entry.kind, EntryKind::Class)
    }

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<String>), Infallible> {
        Ok(((self.0)(at, bytes)?, Some(at.entry.name.to_string())))
    }

    fn leading(&self, archive: &ArchivePath<'_>) -> Result<Vec<NewEntry>, Infallible> {
        let method = cct_archive::Method::Deflated;
        let name = format!("added/First{}.class", archive.depth());
        Ok(vec![NewEntry { name, bytes: vec![b'f'; 100], method }])
    }

    fn trailing(&self, _: &ArchivePath<'_>, records: &[String]) -> Result<Vec<NewEntry>, Infallible> {
        let method = cct_archive::Method::Stored;
        Ok(vec![NewEntry { name: cct_archive::INDEX_NAME.into(), bytes: records.join("\n").into(), method }])
    }
}

/// Name and contents of each entry, as the `zip` crate reads them (checksums included).
pub fn contents(jar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(jar)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut file = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().into_owned(), bytes)
        })
        .collect()
}

pub fn names(jar: &[u8]) -> Vec<String> {
    contents(jar).into_iter().map(|(name, _)| name).collect()
}

pub fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
