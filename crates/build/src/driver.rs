//! What becomes of each entry of an input, whatever is done to its classes: a
//! [`Transformation`] gives each archive its classes, its runtime and what it says of itself.
//! Layouts say where an archive has them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cct_archive::{
    Action, ArchivePath, EntryKind, Failure, Input, Layout, Location, Method, NewEntry, RewriteOptions,
    Rewriter, StagedOutput, Target,
};
use cct_classfile::ClassFile;
use cct_rewrite::module_graph::{self, Descriptor};

use crate::jvm_options::resource::VmOptions;
use crate::place::RESOLVED_NAME;

/// What is done to the classes of inputs. Called from many threads.
pub trait Transformation: Sync {
    /// What is kept of a class.
    type Record: Send;
    /// What goes wrong.
    type Error: From<cct_classfile::Error> + Send;

    /// What becomes of a class.
    ///
    /// # Errors
    /// A class that cannot be transformed, and may not stay as it is.
    fn class(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Self::Record>), Self::Error>;

    /// The classes of the runtime that go into an archive, by their names: some, if it has
    /// `java.lang.Object`.
    ///
    /// # Errors
    /// A class of the runtime that does not fit the archive's.
    fn runtime(
        &self,
        archive: &Archive<'_>,
        records: &[Self::Record],
    ) -> Result<Vec<(String, Vec<u8>)>, Self::Error>;

    /// The entries by which an archive says what it is, by their paths. Of images of JDKs the image
    /// says so.
    ///
    /// # Errors
    /// More than an entry can hold.
    fn description(
        &self,
        archive: &Archive<'_>,
        records: &[Self::Record],
    ) -> Result<Vec<(&'static str, Vec<u8>)>, Self::Error>;
}

/// An archive all of whose classes are transformed.
pub struct Archive<'a> {
    /// Where it is.
    pub path: &'a ArchivePath<'a>,
    /// Whether only what changes is written.
    pub is_patched: bool,
    /// The descriptors of all modules of which patches were made so far.
    pub modules: &'a [Descriptor],
}

impl Archive<'_> {
    /// The entry that says which modules a JVM resolves.
    pub fn resolved_modules(&self) -> (&'static str, Vec<u8>) {
        let names = module_graph::resolved(self.modules).into_iter();
        let lines = names.map(|name| cct_classfile::mutf8::lossy(name) + "\n");
        (RESOLVED_NAME, lines.collect::<String>().into())
    }
}

/// The archive crate's rewriter for a transformation.
pub struct Driver<'o, T> {
    /// What is done to classes.
    pub transformation: T,
    /// Whether images, modules and jmods become patches.
    patches: bool,
    /// JVM options that are built into a JDK's image, which then has its description elsewhere.
    options: Option<VmOptions<'o>>,
    modules: Mutex<Vec<Descriptor>>,
}

impl<'o, T: Transformation> Driver<'o, T> {
    /// A driver. Images, modules and jmods become patches, if `patches`; `options` (one on each
    /// line) are built into the only input, the modules of a JDK.
    pub fn new(transformation: T, patches: bool, options: Option<&'o str>) -> Driver<'o, T> {
        Driver { transformation, patches, options: options.map(VmOptions::new), modules: Mutex::default() }
    }

    /// Writes an input to its target.
    ///
    /// # Errors
    /// Those of the transformation, and files that cannot be read or written.
    pub fn write(
        &self,
        input: &Input,
        target: &Target,
        options: &RewriteOptions,
    ) -> Result<StagedOutput<T::Record>, Failure<T::Error>> {
        if self.patches {
            input.rewrite_as_patches(target, options, self)
        } else {
            input.rewrite(target, options, self)
        }
    }

    fn is_patched(&self, archive: &ArchivePath<'_>) -> bool {
        self.patches && archive.layout() != Layout::Plain
    }

    fn modules(&self) -> MutexGuard<'_, Vec<Descriptor>> {
        // A poisoned one means that another thread panicked, which ends the run anyway.
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Transformation> Rewriter for Driver<'_, T> {
    type Record = T::Record;
    type Error = T::Error;

    fn wants(&self, at: &Location<'_>) -> bool {
        at.entry.kind == EntryKind::Class || self.options.is_some() && VmOptions::are_at(at)
    }

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<T::Record>), T::Error> {
        if let Some(options) = self.options.as_ref().filter(|_| VmOptions::are_at(at)) {
            return Ok((options.put_before(bytes), None));
        }
        if self.is_patched(at.archive)
            && is_module_info(at)
            // The transformation says what becomes of one that is no class.
            && let Ok(class) = ClassFile::parse(bytes)
        {
            self.modules().extend(Descriptor::read(&class)?);
            // A JVM takes no descriptor from a patch.
            return Ok((Action::Drop, None));
        }
        self.transformation.class(at, bytes)
    }

    fn trailing(&self, path: &ArchivePath<'_>, records: &[T::Record]) -> Result<Vec<NewEntry>, T::Error> {
        let (layout, is_patched) = (path.layout(), self.is_patched(path));
        let modules = self.modules();
        let archive = Archive { path, is_patched, modules: &modules };
        let mut entries = Vec::new();
        for (name, bytes) in self.transformation.runtime(&archive, records)? {
            let name = layout.name(&format!("{name}.class"));
            entries.push(NewEntry { name, bytes, method: Method::Deflated });
        }
        if let Some(options) = &self.options {
            entries.extend(options.entry());
            return Ok(entries);
        }
        for (path, bytes) in self.transformation.description(&archive, records)? {
            // Those of patches lie at the top, of the jar or of the folder of jars.
            let name = if is_patched { path.to_owned() } else { layout.name(path) };
            // Each JVM reads the index at its start.
            entries.push(NewEntry { name, bytes, method: Method::Stored });
        }
        Ok(entries)
    }
}

fn is_module_info(at: &Location<'_>) -> bool {
    at.archive.layout().path(&at.entry.name).is_some_and(|(_, path)| path == "module-info.class")
}
