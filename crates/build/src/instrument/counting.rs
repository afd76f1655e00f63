//! Rewriting of the classes of inputs, for all tools except markers alone. Each archive gets its
//! index and, if it holds `java/lang/Object`, the runtime. The outermost archive also gets an entry
//! with its place.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cct_archive::{Action, INDEX_NAME, Layout, Location};
use cct_classfile::mutf8::lossy;
use cct_classfile::{ClassFile, ErrorKind, wellformed};
use cct_index::mid::ClassHash;
use cct_index::record::ClassRecord;
use cct_jdk::convention;
use cct_rewrite::{ClassSummary, Error, Rewriter, jlink, module_descriptor, runtime_classes};
use cct_settings::UnknownSettings;
use cct_verify::Expectation;

use super::output_options::OutputOptions;
use super::record::Record;
use super::refusal::refusal;
use crate::driver::{Archive, Transformation};
use crate::inputs::{BadClasses, Sources, UnfitClasses};
use crate::marking::{self, TreeMarking};
use crate::observer::Steps;
use crate::place::{PLACE_NAME, Place, made_from_line};
use crate::user_module::TransformedClasses;

/// The rewriting of the classes of all inputs of a run.
pub struct InputRewriter<'r> {
    rewriter: &'r Rewriter,
    bad: BadClasses,
    /// Whether jlink will link the jmods. It generates some of their classes itself.
    for_jlink: bool,
    steps: &'r dyn Steps,
    /// Unfit classes of earlier attempts; they stay unchanged.
    stays: &'r UnfitClasses,
    /// The results of the user's module for the classes, if there is one.
    udi: Option<&'r TransformedClasses>,
    unfit: Mutex<UnfitClasses>,
    /// Classes of the jmods that were written so far. The index of `java.base` gets all of them,
    /// since the runtime finds only that index in a linked image.
    of_jmods: Mutex<Vec<ClassRecord>>,
    /// The hash over everything that determines the outputs.
    made_from: Option<&'r str>,
    /// How rewritten classes are checked against their originals; `None` if they are not checked.
    verify: Option<Expectation>,
    /// The markers to add, if any.
    beside: Option<&'r TreeMarking>,
}

impl<'r> InputRewriter<'r> {
    /// The rewriting of a run. Classes in `stays` are left unchanged.
    ///
    /// # Errors
    /// Fails if classes are to be checked, and their settings are unknown.
    pub fn new(
        rewriter: &'r Rewriter,
        how: &OutputOptions<'r>,
        steps: &'r dyn Steps,
        sources: &'r Sources,
        stays: &'r UnfitClasses,
    ) -> Result<Self, UnknownSettings> {
        let expectation = || {
            let names = Some(rewriter.names_parameters());
            let expectation = Expectation::of(rewriter.provenance().lines());
            expectation.map(|expectation| Expectation { parameter_names: names, ..expectation })
        };
        Ok(InputRewriter {
            rewriter,
            bad: how.bad,
            for_jlink: sources.for_jlink,
            steps,
            stays,
            udi: sources.udi.as_ref(),
            unfit: Mutex::default(),
            of_jmods: Mutex::default(),
            made_from: how.made_from,
            verify: how.verify.then(expectation).transpose()?,
            beside: how.beside,
        })
    }

    /// Classes that turned out not to be rewritable, and why. If there are any, the outputs are
    /// useless: the other classes were planned as if these were rewritten.
    pub fn unfit(self) -> UnfitClasses {
        self.unfit.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The module descriptor without its list of packages, which jlink writes itself.
fn without_packages(descriptor: Vec<u8>) -> Result<Vec<u8>, Error> {
    let shorter = module_descriptor::without(&ClassFile::parse(&descriptor)?, module_descriptor::PACKAGES);
    Ok(shorter.unwrap_or(descriptor))
}

/// Whether rewriting failed because the class outgrew a class file.
fn is_outgrown(error: &Error) -> bool {
    matches!(error, Error::Class(e) if matches!(e.kind(), ErrorKind::PoolTooLarge | ErrorKind::TooMany(_)))
}

impl Transformation for InputRewriter<'_> {
    type Record = Record;
    type Error = Error;

    fn class(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        let Some(udi) = self.udi else { return self.rewritten(at, bytes) };
        let given = udi.given(bytes);
        match self.rewritten(at, given)? {
            // The class stays as the user's module made it.
            (Action::Keep, record) if given != bytes => Ok((Action::Replace(given.to_vec()), record)),
            other => Ok(other),
        }
    }

    fn runtime(&self, archive: &Archive<'_>, records: &[Record]) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let classes =
            || records.iter().filter(|r| r.depth == archive.path.depth()).filter_map(|r| r.class.as_ref());
        if !classes().any(|class| *class.name == *convention::OBJECT) {
            return Ok(Vec::new());
        }
        let internal_unsafe = classes().find(|class| *class.name == *runtime_classes::INTERNAL_UNSAFE);
        let methods: Option<Vec<&[u8]>> =
            internal_unsafe.map(|class| class.methods.iter().map(|method| &*method.name).collect());
        let of_markers = self.beside.map_or(&[][..], |_| jdk_wrap::markers_of_tree());
        let own = jdk_wrap::classes()
            .iter()
            .chain(of_markers)
            .map(|(name, bytes)| Ok(((*name).to_owned(), runtime_classes::fit(bytes, methods.as_deref())?)));
        let of_module = self.udi.iter().flat_map(|udi| &udi.runtime);
        own.chain(of_module.map(|class| Ok((class.name.clone(), class.bytes.clone())))).collect()
    }

    fn description(
        &self,
        archive: &Archive<'_>,
        records: &[Record],
    ) -> Result<Vec<(&'static str, Vec<u8>)>, Error> {
        let Archive { path, is_patched, modules } = *archive;
        let here = records.iter().filter(|record| record.depth == path.depth());
        let mut classes: Vec<ClassRecord> = here.filter_map(|record| record.class.clone()).collect();
        let has_object = classes.iter().any(|class| *class.name == *convention::OBJECT);
        let layout = path.layout();
        if layout == Layout::Jmod && !is_patched {
            let mut of_jmods = locked(&self.of_jmods);
            if has_object { classes.append(&mut of_jmods) } else { of_jmods.extend_from_slice(&classes) }
        }
        let mut entries = vec![(INDEX_NAME, cct_index::write(self.rewriter.provenance(), &classes)?)];
        if path.depth() > 0 {
            return Ok(entries);
        }
        entries.extend(self.beside.map(|beside| (marking::ENTRY, beside.lines().into())));
        let place = match (layout, modules.last()) {
            (Layout::Modules, _) if is_patched => Place::Patches,
            (Layout::Jmod, Some(module)) if is_patched => Place::Patch(lossy(&module.name)),
            _ => Place::of(path.input_path(), layout, has_object),
        };
        let made_from = self.made_from.map(made_from_line);
        entries.push((PLACE_NAME, (place.line() + &made_from.unwrap_or_default()).into()));
        entries.extend((is_patched && has_object).then(|| archive.resolved_modules()));
        Ok(entries)
    }
}

impl InputRewriter<'_> {
    /// Rewrites a class. If the user's module has replaced it, `bytes` is the replacement.
    fn rewritten(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        // The survey has already notified the user.
        if self.bad == BadClasses::Keep && ClassSummary::parse(bytes).is_err() {
            return Ok((Action::Keep, None));
        }
        let hash = ClassHash::of(bytes);
        if self.stays.contains_key(&hash) || self.is_made_by_jlink(at) {
            return Ok((Action::Keep, None));
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
        self.steps.step();
        let mut rewritten = rewritten;
        if at.archive.layout() == Layout::Jmod && *at.entry.name == *Layout::Jmod.name("module-info.class") {
            // This is the descriptor of java.base, which gets the runtime's packages: only it had
            // hashes, so only it was rewritten.
            rewritten.bytes = rewritten.bytes.map(without_packages).transpose()?;
        }
        let check = self.verify.map(|expectation| {
            let made = rewritten.bytes.as_deref().unwrap_or(bytes);
            Box::new(cct_verify::check(bytes, made, expectation))
        });
        let cct_rewrite::RewrittenClass { bytes, record: class, structure, report, marked } = rewritten;
        let record = Record { depth: at.archive.depth(), class, structure, report, marked, check };
        Ok((bytes.map_or(Action::Keep, Action::Replace), Some(record)))
    }

    /// Whether damaged classes are kept and this class is one. The damage is in its code, which the
    /// survey does not read.
    fn is_bad(&self, error: &Error) -> bool {
        self.bad == BadClasses::Keep && matches!(error, Error::Class(_))
    }

    /// Whether jlink makes the class itself.
    fn is_made_by_jlink(&self, at: &Location<'_>) -> bool {
        let layout = at.archive.layout();
        let path = layout.path(&at.entry.name).and_then(|(_, path)| path.strip_suffix(".class"));
        layout == Layout::Jmod && self.for_jlink && path.is_some_and(|path| jlink::makes(path.as_bytes()))
    }
}

/// Locks a mutex. A poisoned one means that another thread panicked, which ends the run anyway.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
