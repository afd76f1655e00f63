//! Patches for `--patch-module`: jars with only the changed entries of each module.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::INDEX_NAME;
use crate::container::Container;
use crate::entry::Method;
use crate::error::{EntryProblem, Error, Failure};
use crate::jar::{Contents, FreshJar};
use crate::location::{ArchivePath, Location};
use crate::pipeline;
use crate::rewrite::{Action, NewEntry, Pass, RewriteAccount, Rewriter, check_collisions};

/// The destination of patches.
pub(crate) enum Place<'p> {
    /// A folder with a jar for each module, `MODULE.jar`. For images and folders of modules.
    Folder(&'p Path),
    /// A single jar. For jmods.
    Jar(File),
}

/// Size of the buffer for a jar, in bytes.
const WRITE_BUFFER: usize = 1 << 16;

/// The result for one entry: its new contents (`None` if unchanged or dropped), compressed, and the
/// account.
struct Step<T> {
    changed: Option<Contents<'static>>,
    account: RewriteAccount<T>,
}

/// Writes only the entries of `container` that the rewriter of `pass` replaces, and those that it
/// adds.
pub(crate) fn rewrite<R: Rewriter>(
    pass: &Pass<'_, R>,
    container: &dyn Container,
    archive: &ArchivePath<'_>,
    place: Place<'_>,
) -> Result<RewriteAccount<R::Record>, Failure<R::Error>> {
    let entries = container.entries();
    let layout = archive.layout();
    let level = pass.options.level;
    let mut added = pass.leading(archive)?;
    let mut patches = Patches::new(place, archive)?;
    let mut total = RewriteAccount::default();
    pipeline::in_order(
        entries.len(),
        pass.options.window_bytes.min(u64::MAX - 1),
        |index| entries[index].size,
        |index| step(pass, container, &Location { archive, index, entry: &entries[index] }),
        |start, window| {
            for (entry, step) in entries[start..].iter().zip(window) {
                if let (Some(contents), Some((module, path))) = (step.changed, layout.path(&entry.name)) {
                    patches.add(module, path, &contents)?;
                }
                total.add(step.account);
            }
            Ok(())
        },
    )?;
    added.extend(pass.trailing(archive, &total.records)?);
    check_collisions(added.iter(), entries.iter().map(|entry| &*entry.name), archive)?;
    for NewEntry { name, bytes, method } in &added {
        let own = of_output(name);
        if let (true, Some(folder)) = (own, patches.folder) {
            let written = write_beside(folder, name, bytes);
            written.map_err(|problem| Error::Entry { entry: archive.entry(name), problem })?;
            continue;
        }
        let (module, path) = match layout.path(name) {
            Some(found) if !own => found,
            _ => (None, &**name),
        };
        let contents = Contents::pack(Cow::Borrowed(bytes), *method, level);
        patches.add(module, path, &contents.map_err(Error::entry(&archive.entry(name)))?)?;
    }
    total.tally.added += added.len() as u64;
    patches.finish()?;
    Ok(total)
}

/// Whether an added entry describes the whole output, not one module: it is in the folder of
/// [`INDEX_NAME`].
fn of_output(name: &str) -> bool {
    let folder = |name: &str| name.split_once('/').map(|(folder, _)| folder.to_owned());
    folder(name) == folder(INDEX_NAME)
}

/// Rewrites and compresses one entry; runs in many threads.
fn step<R: Rewriter>(
    pass: &Pass<'_, R>,
    container: &dyn Container,
    at: &Location<'_>,
) -> Result<Step<R::Record>, Failure<R::Error>> {
    // Skip the sections of a jmod from which JVMs load nothing.
    if at.archive.layout().path(&at.entry.name).is_none() {
        return Ok(Step { changed: None, account: RewriteAccount::default() });
    }
    let decision = pass.decide(container, at)?;
    let changed = match decision.action {
        Action::Keep | Action::Drop => None,
        Action::Replace(bytes) => Some(
            Contents::pack(Cow::Owned(bytes), Method::Deflated, pass.options.level)
                .map_err(Error::entry(at))?,
        ),
    };
    Ok(Step { changed, account: decision.account })
}

/// The jars of the output. In a folder, a module's jar is created with its first entry.
struct Patches<'p> {
    folder: Option<&'p Path>,
    shown: String,
    /// By name of the module; the jar of a jmod is under the empty name.
    jars: BTreeMap<String, FreshJar<BufWriter<File>>>,
}

impl<'p> Patches<'p> {
    fn new(place: Place<'p>, archive: &ArchivePath<'_>) -> Result<Patches<'p>, Error> {
        let mut patches = Patches { folder: None, shown: archive.to_string(), jars: BTreeMap::new() };
        match place {
            Place::Folder(folder) => patches.folder = Some(folder),
            Place::Jar(file) => {
                let jar = patches.begin(file)?;
                patches.jars.insert(String::new(), jar);
            }
        }
        Ok(patches)
    }

    fn begin(&self, file: File) -> Result<FreshJar<BufWriter<File>>, Error> {
        FreshJar::new(BufWriter::with_capacity(WRITE_BUFFER, file)).map_err(|cause| self.error(cause))
    }

    fn error(&self, cause: std::io::Error) -> Error {
        let problem = EntryProblem::Io { action: "write the output", cause };
        Error::Entry { entry: self.shown.clone(), problem }
    }

    fn add(&mut self, module: Option<&str>, path: &str, contents: &Contents<'_>) -> Result<(), Error> {
        let module = module.unwrap_or_default();
        if !self.jars.contains_key(module) {
            let named = self.folder.filter(|_| is_module_name(module));
            let Some(folder) = named else {
                return Err(Error::Entry {
                    entry: format!("{}: {module}", self.shown),
                    problem: EntryProblem::BadName,
                });
            };
            let file = folder.join(format!("{module}.jar"));
            let file = File::create_new(&file).map_err(|cause| self.error(cause))?;
            let jar = self.begin(file)?;
            self.jars.insert(module.to_owned(), jar);
        }
        let added = self.jars.get_mut(module).map_or(Ok(()), |jar| jar.add(path, contents));
        added.map_err(|cause| self.error(cause))
    }

    fn finish(self) -> Result<(), Error> {
        let shown = self.shown;
        for jar in self.jars.into_values() {
            let finished = jar.finish().and_then(|out| out.into_inner().map_err(|e| e.into_error()));
            finished.map_err(|cause| {
                let problem = EntryProblem::Io { action: "write the output", cause };
                Error::Entry { entry: shown.clone(), problem }
            })?;
        }
        Ok(())
    }
}

/// Whether a module's name is safe as a file name.
fn is_module_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || "._-$".contains(c))
        && !name.starts_with('.')
}

fn write_beside(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), EntryProblem> {
    let path = folder.join(name);
    let write = || {
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(&path, bytes)
    };
    write().map_err(|cause| EntryProblem::Io { action: "create it in the output", cause })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Input, Limits, RewriteOptions, Target};

    /// Replaces classes named `A`, drops module descriptors, and adds a class and an index.
    struct Marker;

    impl Rewriter for Marker {
        type Record = ();
        type Error = std::convert::Infallible;

        fn rewrite(&self, at: &Location<'_>, _: &[u8]) -> Result<(Action, Option<()>), Self::Error> {
            let action = match () {
                () if at.entry.name.ends_with("module-info.class") => Action::Drop,
                () if at.entry.name.ends_with("A.class") => Action::Replace(b"new".to_vec()),
                () => Action::Keep,
            };
            Ok((action, None))
        }

        fn trailing(&self, archive: &ArchivePath<'_>, _: &[()]) -> Result<Vec<NewEntry>, Self::Error> {
            let entry = |name: String| NewEntry { name, bytes: b"added".to_vec(), method: Method::Stored };
            Ok(vec![entry(archive.layout().name("r/R.class")), entry(INDEX_NAME.to_owned())])
        }
    }

    #[test]
    fn each_module_gets_a_jar_of_what_is_new_in_it() {
        let home = tempfile::tempdir().unwrap();
        let names = [
            "java.base/module-info.class",
            "java.base/a/A.class",
            "java.base/a/B.class",
            "m/A.class",
            "n/C.class",
        ];
        for name in names {
            let path = home.path().join("modules").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"old").unwrap();
        }
        let input = Input::open(&home.path().join("modules"), &Limits::default()).unwrap();
        let out = home.path().join("out");
        for _ in 0..2 {
            // An earlier output is replaced.
            let target = Target::new(&out, &[&input]).unwrap();
            input.rewrite_as_patches(&target, &RewriteOptions::default(), &Marker).unwrap().commit().unwrap();
        }
        let mut files: Vec<_> = fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
        files.sort();
        assert_eq!(files, ["cctrewrite-output", "java.base.jar", "m.jar"]);
        let base = Input::open(&out.join("java.base.jar"), &Limits::default()).unwrap();
        let names: Vec<&str> = base.entries().iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["a/A.class", "r/R.class"]);
        assert_eq!(&*base.read(0).unwrap().unwrap(), b"new");
        let other = Input::open(&out.join("m.jar"), &Limits::default()).unwrap();
        assert_eq!(&*other.entries()[0].name, "A.class");
        assert_eq!(fs::read(out.join(INDEX_NAME)).unwrap(), b"added");
    }
}
