//! What becomes of each entry of an input: classes are rewritten, and each archive gets its index and, if it holds
//! `java/lang/Object`, the runtime. The outermost one also gets its place. Where an archive has them is for its layout to say.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use cct_archive::{
    Action, ArchivePath, EntryKind, INDEX_NAME, Layout, Location, Method, NewEntry,
    Rewriter as ArchiveRewriter,
};
use cct_classfile::{ClassFile, ErrorKind};
use cct_rewrite::index::{self, ClassRecord};
use cct_rewrite::mid::ClassHash;
use cct_rewrite::report::ClassReport;
use cct_rewrite::{ClassSummary, Error, Rewriter, convention, module_descriptor, runtime_classes};

use crate::inputs::BadClasses;
use crate::place::{PLACE_NAME, Place};
use crate::progress::Progress;

/// What is kept of a rewritten class until its archive is complete.
#[derive(Debug)]
pub struct Record {
    /// Where it was.
    pub depth: usize,
    /// Its row in the index.
    pub class: Option<ClassRecord>,
    /// What was done.
    pub report: ClassReport,
}

/// The archive crate's rewriter, on top of ours.
pub struct Driver<'r> {
    rewriter: &'r Rewriter,
    bad: BadClasses,
    progress: &'r Progress,
    /// Known from an attempt before.
    stays: &'r BTreeMap<ClassHash, String>,
    outgrown: Mutex<BTreeMap<ClassHash, String>>,
    /// Classes of the jmods done so far. In an image linked from them the runtime finds one index, that of `java.base`.
    of_jmods: Mutex<Vec<ClassRecord>>,
    /// JVM options that are built into a JDK's image, which then has its index elsewhere.
    options: Option<&'r str>,
    /// Whether they stand together with such as the image had.
    has_options: AtomicBool,
}

/// The resource of an image from which HotSpot takes options, since JDK 9 (`ClassLoader::lookup_vm_options`).
const OPTIONS_NAME: &str = "java.base/jdk/internal/vm/options";

impl<'r> Driver<'r> {
    /// A driver. The classes in `stays` are left as they are.
    pub fn new(
        rewriter: &'r Rewriter,
        bad: BadClasses,
        progress: &'r Progress,
        stays: &'r BTreeMap<ClassHash, String>,
        options: Option<&'r str>,
    ) -> Self {
        let (outgrown, of_jmods, has_options) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Driver { rewriter, bad, progress, stays, outgrown, of_jmods, options, has_options }
    }

    /// Classes that turned out not to be rewritable though nothing is wrong with them, and why. If there are any, the outputs are of no use: the
    /// others were planned as if these were rewritten.
    pub fn outgrown(self) -> BTreeMap<ClassHash, String> {
        self.outgrown.into_inner().unwrap_or_else(PoisonError::into_inner)
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
        at.entry.kind == EntryKind::Class || self.options.is_some() && &*at.entry.name == OPTIONS_NAME
    }

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        if let (Some(options), OPTIONS_NAME) = (self.options, &*at.entry.name) {
            self.has_options.store(true, Ordering::Relaxed);
            // HotSpot takes the last of options given twice.
            return Ok((Action::Replace([options.as_bytes(), bytes].concat()), None));
        }
        // The survey has told the user of it.
        if self.bad == BadClasses::Keep && ClassSummary::parse(bytes).is_err() {
            return Ok((Action::Keep, None));
        }
        let hash = ClassHash::of(bytes);
        if self.stays.contains_key(&hash) {
            return Ok((Action::Keep, None));
        }
        let rewritten = match self.rewriter.rewrite(bytes) {
            Err(error) if is_outgrown(&error) => {
                let mut outgrown = self.outgrown.lock().unwrap_or_else(PoisonError::into_inner);
                outgrown.insert(hash, error.to_string());
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
        let record = Record { depth: at.archive.depth(), class: rewritten.record, report: rewritten.report };
        Ok((rewritten.bytes.map_or(Action::Keep, Action::Replace), Some(record)))
    }

    fn trailing(&self, archive: &ArchivePath<'_>, records: &[Record]) -> Result<Vec<NewEntry>, Error> {
        let here = records.iter().filter(|r| r.depth == archive.depth());
        let mut classes: Vec<ClassRecord> = here.filter_map(|r| r.class.clone()).collect();
        let has_object = classes.iter().any(|c| *c.name == *convention::OBJECT);
        let layout = archive.layout();
        if layout == Layout::Jmod {
            let mut of_jmods = self.of_jmods.lock().unwrap_or_else(PoisonError::into_inner);
            match has_object {
                true => classes.append(&mut of_jmods),
                false => of_jmods.extend_from_slice(&classes),
            }
        }
        let mut entries = Vec::new();
        if has_object {
            let internal_unsafe = classes.iter().find(|c| *c.name == *runtime_classes::INTERNAL_UNSAFE);
            let methods: Option<Vec<&[u8]>> =
                internal_unsafe.map(|c| c.methods.iter().map(|m| &*m.name).collect());
            for (name, bytes) in jdk_wrap::classes() {
                let bytes = runtime_classes::fit(bytes, methods.as_deref())?;
                entries.push(NewEntry {
                    name: layout.name(&format!("{name}.class")),
                    bytes,
                    method: Method::Deflated,
                });
            }
        }
        if let Some(options) = self.options {
            if !self.has_options.load(Ordering::Relaxed) {
                let bytes = options.as_bytes().to_vec();
                entries.push(NewEntry { name: OPTIONS_NAME.to_owned(), bytes, method: Method::Stored });
            }
            return Ok(entries);
        }
        entries.push(NewEntry {
            name: layout.name(INDEX_NAME),
            bytes: index::write(self.rewriter.provenance(), &classes)?,
            // Each JVM reads it at its start.
            method: Method::Stored,
        });
        if archive.depth() == 0 {
            entries.push(NewEntry {
                name: layout.name(PLACE_NAME),
                bytes: Place::of(archive.input_path(), layout, has_object).line().into(),
                method: Method::Stored,
            });
        }
        Ok(entries)
    }
}
