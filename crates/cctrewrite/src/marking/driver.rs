//! What becomes of each entry of an input: classes get the markers that rules give them. A class
//! library also gets the runtime.

use std::sync::{Mutex, PoisonError};

use cct_archive::{Action, ArchivePath, EntryKind, Layout, Location, Method, NewEntry, Rewriter};
use cct_build::place::RESOLVED_NAME;
use cct_build::vm_options::VmOptions;
use cct_classfile::ClassFile;
use cct_jdk::convention;
use cct_markers::{Error, Library, Marked, Rules, Way, World, library, mark};
use cct_rewrite::ClassSummary;
use cct_rewrite::module_graph::{self, Descriptor};
use cct_rewrite::survey::trait_bits;
use cct_verify::{Expectation, Tool};

use super::{ENTRY, lossy};
use crate::inputs::BadClasses;
use crate::instrument::refused_by_jvms;

/// What is kept of a class.
#[derive(Debug)]
pub struct Record {
    /// Its markers.
    pub marked: Marked,
    /// Whether it has any.
    pub changed: bool,
    /// What is said of one that stays as it is, whatever rules match.
    pub stays: Option<String>,
    /// What a check against its original found, where it was, if there was one.
    pub findings: Option<Vec<String>>,
    /// Whether it is `java.lang.Object`, beside which the runtime goes.
    is_object: bool,
}

/// A class with its markers, or what became of it; if JVMs refuse it, none, and what is said of it.
/// With room for ours on the stack, say, they might take it.
pub fn unless_refused(
    class: &ClassFile<'_>,
    marked: Result<Marked, Error>,
) -> Result<(Marked, Option<String>), Error> {
    let is_asked = match &marked {
        Ok(marked) => marked.bytes.is_some() || !marked.descriptors.is_empty(),
        Err(error) => matches!(error, Error::Class(_)),
    };
    let Some(why) = is_asked.then(|| refused_by_jvms(class)).flatten() else {
        return marked.map(|marked| (marked, None));
    };
    let mut marked = marked.unwrap_or_default();
    marked.give_up(class.name(), "JVMs refuse its class, which stays as it is");
    Ok((marked, Some(format!("{why}; the class stays as it is, without markers"))))
}

/// The archive crate's rewriter.
pub struct Driver<'d> {
    pub rules: &'d Rules,
    pub world: &'d World,
    pub bad: BadClasses,
    /// What the output says of itself; nothing, if it is part of an image.
    pub lines: Option<&'d str>,
    /// The class library that the input is part of: it has the runtime in itself.
    pub library: Option<Library>,
    /// Whether images and jmods become patches.
    pub patches: bool,
    /// Whether classes are checked against their originals.
    pub verify: bool,
    /// JVM options that are built into a JDK's image.
    pub options: Option<VmOptions<'d>>,
    /// The descriptors of all modules so far, if there are to be patches.
    pub modules: Mutex<Vec<Descriptor>>,
}

impl Driver<'_> {
    fn is_patched(&self, layout: Layout) -> bool {
        self.patches && layout != Layout::Plain
    }

    fn marked(&self, bytes: &[u8]) -> Result<Record, Error> {
        let class = ClassFile::parse(bytes)?;
        let marked = match self.library {
            None => mark(bytes, &Way::new(self.rules, self.world)),
            Some(_) => self.marked_of_library(&class, bytes),
        };
        let (marked, stays) = unless_refused(&class, marked)?;
        let changed = !marked.descriptors.is_empty();
        let is_object = self.library.is_some() && class.name() == convention::OBJECT;
        Ok(Record { marked, changed, stays, findings: None, is_object })
    }

    fn marked_of_library(&self, class: &ClassFile<'_>, bytes: &[u8]) -> Result<Marked, Error> {
        let prepared = library::prepared(class)?;
        let bytes = prepared.as_deref().unwrap_or(bytes);
        let whole = library::unmarked(class.name());
        let summary = ClassSummary::of(class).ok();
        // A body that HotSpot replaces would not be heard of where it is compiled.
        let replaced = |name: &[u8], descriptor: &[u8]| {
            let summary = summary.as_ref()?;
            let method = &summary.methods[summary.find(name, descriptor)?];
            let is_replaced = method.has(trait_bits::INTRINSIC) || method.has(trait_bits::RECOGNISED);
            is_replaced
                .then_some("HotSpot may put code of its own in place of it; mark its calls, by at = \"call\"")
        };
        let objection = |name: &[u8], descriptor: &[u8]| whole.or_else(|| replaced(name, descriptor));
        let way = Way { library: self.library, objection: &objection, ..Way::new(self.rules, self.world) };
        let mut marked = mark(bytes, &way)?;
        marked.bytes = marked.bytes.take().or(prepared);
        Ok(marked)
    }
}

impl Rewriter for Driver<'_> {
    type Record = Record;
    type Error = Error;

    fn wants(&self, at: &Location<'_>) -> bool {
        at.entry.kind == EntryKind::Class || self.options.is_some() && VmOptions::are_at(at)
    }

    fn rewrite(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        if let Some(options) = self.options.as_ref().filter(|_| VmOptions::are_at(at)) {
            return Ok((options.put_before(bytes), None));
        }
        let layout = at.archive.layout();
        if self.is_patched(layout)
            && layout.path(&at.entry.name).is_some_and(|(_, path)| path == "module-info.class")
        {
            if let Some(descriptor) = Descriptor::read(&ClassFile::parse(bytes)?)? {
                self.modules.lock().unwrap_or_else(PoisonError::into_inner).push(descriptor);
            }
            return Ok((Action::Drop, None));
        }
        let mut record = match self.marked(bytes) {
            Err(Error::Class(problem)) if self.bad == BadClasses::Keep => Record {
                marked: Marked::default(),
                changed: false,
                stays: Some(format!("{at}: kept as it is: {problem}")),
                findings: None,
                is_object: false,
            },
            other => other?,
        };
        let original = bytes;
        let bytes = record.marked.bytes.take();
        if self.verify {
            let expectation = Expectation { tool: Some(Tool::Markers), ..Expectation::default() };
            let (findings, _) =
                cct_verify::check(original, bytes.as_deref().unwrap_or(original), expectation);
            record.findings = Some(findings.iter().map(|finding| format!("{at}: {finding}")).collect());
        }
        Ok((bytes.map_or(Action::Keep, Action::Replace), Some(record)))
    }

    fn trailing(&self, archive: &ArchivePath<'_>, records: &[Record]) -> Result<Vec<NewEntry>, Error> {
        if archive.depth() > 0 {
            return Ok(Vec::new());
        }
        let layout = archive.layout();
        let mut entries = Vec::new();
        if records.iter().any(|record| record.is_object) {
            for (name, bytes) in jdk_wrap::markers_of_library() {
                entries.push(NewEntry {
                    name: layout.name(&format!("{name}.class")),
                    bytes: bytes.to_vec(),
                    method: Method::Deflated,
                });
            }
        }
        entries.extend(self.options.as_ref().and_then(VmOptions::entry));
        let Some(lines) = self.lines else { return Ok(entries) };
        let own = |path: &str| if self.is_patched(layout) { path.to_owned() } else { layout.name(path) };
        let mut add = |path: &str, bytes: Vec<u8>| {
            entries.push(NewEntry { name: own(path), bytes, method: Method::Stored });
        };
        let mut lines = lines.to_owned();
        if self.library.is_some() {
            lines += match (self.is_patched(layout), layout) {
                (true, _) => "place=patches\n",
                (false, Layout::Plain) => "place=boot\n",
                (false, _) => "place=image\n",
            };
        }
        add(ENTRY, lines.into_bytes());
        if self.is_patched(layout) {
            let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            let names = module_graph::resolved(&modules).into_iter();
            add(RESOLVED_NAME, names.map(|name| lossy(name) + "\n").collect::<String>().into());
        }
        Ok(entries)
    }
}
