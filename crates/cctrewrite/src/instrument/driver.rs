//! What becomes of each entry of an input: classes are rewritten, and each archive gets its index
//! and, if it holds `java/lang/Object`, the runtime. The outermost one also gets its place. Where
//! an archive has them is for its layout to say.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cct_archive::{
    Action, ArchivePath, EntryKind, INDEX_NAME, Layout, Location, Method, NewEntry,
    Rewriter as ArchiveRewriter,
};
use cct_build::place::{PLACE_NAME, Place, RESOLVED_NAME, made_from_line};
use cct_build::vm_options::VmOptions;
use cct_classfile::{ClassFile, ErrorKind, wellformed};
use cct_index::mid::ClassHash;
use cct_index::record::ClassRecord;
use cct_jdk::convention;
use cct_rewrite::module_graph::{self, Descriptor};
use cct_rewrite::{ClassSummary, Error, Rewriter, jlink, module_descriptor, runtime_classes};
use cct_verify::Expectation;

use crate::inputs::{BadClasses, Sources};
use crate::instrument::manner::Manner;
use crate::instrument::record::Record;
use crate::instrument::refusal::refusal;
use crate::marking::{self, Beside};
use crate::progress::Progress;
use crate::udi::Transformed;

/// The archive crate's rewriter, on top of ours.
pub struct Driver<'r> {
    rewriter: &'r Rewriter,
    bad: BadClasses,
    progress: &'r Progress,
    /// Known from an attempt before.
    stays: &'r BTreeMap<ClassHash, String>,
    /// What a module of the user's made of the classes.
    udi: Option<&'r Transformed>,
    unfit: Mutex<BTreeMap<ClassHash, String>>,
    /// Classes of the jmods done so far. In an image linked from them the runtime finds one index,
    /// that of `java.base`.
    of_jmods: Mutex<Vec<ClassRecord>>,
    /// JVM options that are built into a JDK's image, which then has its index elsewhere.
    options: Option<VmOptions<'r>>,
    /// Whether images, modules and jmods become patches.
    patches: bool,
    /// A hash over what decides about the outputs.
    made_from: Option<&'r str>,
    /// How rewritten classes are checked against their originals, if they are.
    verify: Option<Expectation>,
    /// What is marked beside.
    beside: Option<&'r Beside>,
    /// The descriptors of all modules so far, if there are to be patches.
    modules: Mutex<Vec<Descriptor>>,
}

impl<'r> Driver<'r> {
    /// A driver. The classes that do not fit are left as they are.
    pub fn new(
        rewriter: &'r Rewriter,
        manner: &Manner<'r>,
        progress: &'r Progress,
        sources: &'r Sources,
    ) -> anyhow::Result<Self> {
        let expectation = || {
            let names = Some(rewriter.names_parameters());
            let expectation = Expectation::of(rewriter.provenance().lines())?;
            anyhow::Ok(Expectation { parameter_names: names, ..expectation })
        };
        Ok(Driver {
            rewriter,
            bad: manner.bad,
            progress,
            stays: &sources.unfit,
            udi: sources.udi.as_ref(),
            unfit: Mutex::default(),
            of_jmods: Mutex::default(),
            options: manner.options.map(VmOptions::new),
            patches: manner.patches,
            made_from: manner.made_from,
            verify: manner.verify.then(expectation).transpose()?,
            beside: manner.beside,
            modules: Mutex::default(),
        })
    }

    /// Classes that turned out not to be rewritable, and why. If there are any, the outputs are of
    /// no use: the others were planned as if these were rewritten.
    pub fn unfit(self) -> BTreeMap<ClassHash, String> {
        self.unfit.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A module descriptor for jlink, which is to list the packages itself.
fn without_packages(descriptor: Vec<u8>) -> Result<Vec<u8>, Error> {
    let shorter = module_descriptor::without(&ClassFile::parse(&descriptor)?, module_descriptor::PACKAGES);
    Ok(shorter.unwrap_or(descriptor))
}

/// Whether a class outgrew what a class file can hold.
fn is_outgrown(error: &Error) -> bool {
    matches!(error, Error::Class(e) if matches!(e.kind(), ErrorKind::PoolTooLarge | ErrorKind::TooMany(_)))
}

impl ArchiveRewriter for Driver<'_> {
    type Record = Record;
    type Error = Error;

    fn wants(&self, at: &Location<'_>) -> bool {
        at.entry.kind == EntryKind::Class || self.options.is_some() && VmOptions::are_at(at)
    }

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        let Some(udi) = self.udi else { return self.rewrite_given(at, bytes) };
        let given = udi.given(bytes);
        match self.rewrite_given(at, given)? {
            // As the module made it.
            (Action::Keep, record) if given != bytes => Ok((Action::Replace(given.to_vec()), record)),
            other => Ok(other),
        }
    }

    fn trailing(&self, archive: &ArchivePath<'_>, records: &[Record]) -> Result<Vec<NewEntry>, Error> {
        let here = records.iter().filter(|r| r.depth == archive.depth());
        let mut classes: Vec<ClassRecord> = here.filter_map(|r| r.class.clone()).collect();
        let has_object = classes.iter().any(|c| *c.name == *convention::OBJECT);
        let layout = archive.layout();
        let is_patched = self.is_patched(archive);
        if layout == Layout::Jmod && !is_patched {
            let mut of_jmods = locked(&self.of_jmods);
            if has_object { classes.append(&mut of_jmods) } else { of_jmods.extend_from_slice(&classes) }
        }
        let mut entries = Vec::new();
        if has_object {
            let internal_unsafe = classes.iter().find(|c| *c.name == *runtime_classes::INTERNAL_UNSAFE);
            let methods: Option<Vec<&[u8]>> =
                internal_unsafe.map(|c| c.methods.iter().map(|m| &*m.name).collect());
            let mut add = |name: &str, bytes: Vec<u8>| {
                let name = layout.name(&format!("{name}.class"));
                entries.push(NewEntry { name, bytes, method: Method::Deflated });
            };
            let of_markers = self.beside.map_or(&[][..], |_| jdk_wrap::markers_of_tree());
            for (name, bytes) in jdk_wrap::classes().iter().chain(of_markers) {
                add(name, runtime_classes::fit(bytes, methods.as_deref())?);
            }
            for class in self.udi.iter().flat_map(|udi| &udi.runtime) {
                add(&class.name, class.bytes.clone());
            }
        }
        if let Some(options) = &self.options {
            entries.extend(options.entry());
            return Ok(entries);
        }
        // Those of patches lie at the top, of the jar or of the folder of jars.
        let own = |path: &str| if is_patched { path.to_owned() } else { layout.name(path) };
        let mut add = |path: &str, bytes: Vec<u8>| {
            // Each JVM reads the index at its start.
            entries.push(NewEntry { name: own(path), bytes, method: Method::Stored });
        };
        add(INDEX_NAME, cct_index::write(self.rewriter.provenance(), &classes)?);
        if archive.depth() == 0 {
            let modules = locked(&self.modules);
            let place = match (layout, modules.last()) {
                (Layout::Modules, _) if is_patched => Place::Patches,
                (Layout::Jmod, Some(module)) if is_patched => Place::Patch(lossy(&module.name)),
                _ => Place::of(archive.input_path(), layout, has_object),
            };
            if let Some(beside) = self.beside {
                add(marking::ENTRY, beside.lines().into());
            }
            let made_from = self.made_from.map(made_from_line);
            add(PLACE_NAME, (place.line() + &made_from.unwrap_or_default()).into());
            if is_patched && has_object {
                let names = module_graph::resolved(&modules).into_iter();
                add(RESOLVED_NAME, names.map(|name| lossy(name) + "\n").collect::<String>().into());
            }
        }
        Ok(entries)
    }
}

impl Driver<'_> {
    /// The same for what a module has made of the entry, if there is one.
    fn rewrite_given(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        if let Some(options) = self.options.as_ref().filter(|_| VmOptions::are_at(at)) {
            return Ok((options.put_before(bytes), None));
        }
        // The survey has told the user of it.
        if self.bad == BadClasses::Keep && ClassSummary::parse(bytes).is_err() {
            return Ok((Action::Keep, None));
        }
        let hash = ClassHash::of(bytes);
        if self.stays.contains_key(&hash) || self.is_made_by_jlink(at) {
            return Ok((Action::Keep, None));
        }
        if self.is_patched(at.archive) && is_module_info(at) {
            if let Some(descriptor) = Descriptor::read(&ClassFile::parse(bytes)?)? {
                locked(&self.modules).push(descriptor);
            }
            self.progress.step();
            // A JVM takes no descriptor from a patch.
            return Ok((Action::Drop, None));
        }
        let class = ClassFile::parse(bytes)?;
        let code = match wellformed::check(&class) {
            Ok(code) => code,
            Err(fault) => {
                locked(&self.unfit).insert(hash, refusal(&class, fault));
                return Ok((Action::Keep, None));
            }
        };
        let rewritten = match self.rewriter.rewrite_checked(&class, &code, hash) {
            Err(error) if is_outgrown(&error) || self.is_bad(&error) => {
                locked(&self.unfit).insert(hash, error.to_string());
                return Ok((Action::Keep, None));
            }
            other => other?,
        };
        self.progress.step();
        let mut rewritten = rewritten;
        if at.archive.layout() == Layout::Jmod && *at.entry.name == *Layout::Jmod.name("module-info.class") {
            // Of java.base, which gets the runtime's packages: only it has had hashes.
            rewritten.bytes = rewritten.bytes.map(without_packages).transpose()?;
        }
        let check = self.verify.map(|expectation| {
            let made = rewritten.bytes.as_deref().unwrap_or(bytes);
            Box::new(cct_verify::check(bytes, made, expectation))
        });
        let cct_rewrite::Rewritten { bytes, record: class, structure, report, marked } = rewritten;
        let record = Record { depth: at.archive.depth(), class, structure, report, marked, check };
        Ok((bytes.map_or(Action::Keep, Action::Replace), Some(record)))
    }

    /// Whether of this archive only what changes is written.
    fn is_patched(&self, archive: &ArchivePath<'_>) -> bool {
        self.patches && archive.layout() != Layout::Plain
    }

    /// Whether a class turned out to be none in its code, where the survey does not look, and such
    /// are kept.
    fn is_bad(&self, error: &Error) -> bool {
        self.bad == BadClasses::Keep && matches!(error, Error::Class(_))
    }

    /// Whether jlink makes the class itself.
    fn is_made_by_jlink(&self, at: &Location<'_>) -> bool {
        let layout = at.archive.layout();
        let path = layout.path(&at.entry.name).and_then(|(_, path)| path.strip_suffix(".class"));
        layout == Layout::Jmod && !self.patches && path.is_some_and(|path| jlink::makes(path.as_bytes()))
    }
}

fn is_module_info(at: &Location<'_>) -> bool {
    at.archive.layout().path(&at.entry.name).is_some_and(|(_, path)| path == "module-info.class")
}

fn lossy(name: &[u8]) -> String {
    cct_classfile::mutf8::decode_lossy(name).into_owned()
}

/// What a mutex holds. A poisoned one means that another thread panicked, which ends the run
/// anyway.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
