//! Marking of the classes of an input by rules. A class library also gets the runtime.

use cct_archive::{Action, Layout, Location};
use cct_classfile::{ClassFile, NameAndType};
use cct_jdk::convention;
use cct_markers::{Error, Library, MarkedClass, Rules, Way, World, library, mark};
use cct_rewrite::ClassSummary;
use cct_rewrite::survey::trait_bits;
use cct_verify::{Expectation, Tool};

use super::ENTRY;
use crate::driver::{Archive, Transformation};
use crate::inputs::BadClasses;
use crate::instrument::refused_by_jvms;

/// The record of a class.
#[derive(Debug)]
pub struct Record {
    /// Its markers.
    pub marked: MarkedClass,
    /// Whether it has markers.
    pub changed: bool,
    /// The message about a class that stays unchanged, whatever rules match.
    pub stays: Option<String>,
    /// The findings of the check against its original, with locations; `None` if it was not
    /// checked.
    pub findings: Option<Vec<String>>,
    /// Whether it is the `java.lang.Object` of a class library, beside which the runtime goes.
    is_object: bool,
}

/// Returns the markers of a class. If JVMs refuse the class, it gets no markers, and a message says
/// so. Marking could make it acceptable, for instance because it then states more room on the
/// stack.
pub fn unless_refused(
    class: &ClassFile<'_>,
    marked: Result<MarkedClass, Error>,
) -> Result<(MarkedClass, Option<String>), Error> {
    let is_asked = match &marked {
        Ok(marked) => marked.bytes.is_some() || !marked.descriptors.is_empty(),
        Err(error) => matches!(error, Error::Class(_)),
    };
    let Some(why) = is_asked.then(|| refused_by_jvms(class)).flatten() else {
        return marked.map(|marked| (marked, None));
    };
    let mut marked = marked.unwrap_or_default();
    marked.give_up(class.name(), "JVMs refuse its class, which is not rewritten");
    Ok((marked, Some(format!("{why}; the class stays as it is, without markers"))))
}

/// Marking of the classes of an input.
pub struct Marks<'d> {
    pub rules: &'d Rules,
    pub world: &'d World,
    pub bad: BadClasses,
    /// The lines of the output's description; `None` if it is part of an image.
    pub lines: Option<&'d str>,
    /// The kind of class library that the input is part of. A class library contains the runtime.
    pub library: Option<Library>,
    /// Whether classes are checked against their originals.
    pub verify: bool,
}

impl Marks<'_> {
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

    fn marked_of_library(&self, class: &ClassFile<'_>, bytes: &[u8]) -> Result<MarkedClass, Error> {
        let prepared = library::prepared(class)?;
        let bytes = prepared.as_deref().unwrap_or(bytes);
        let whole = library::unmarked(class.name());
        let summary = ClassSummary::of(class).ok();
        // HotSpot may replace the body when it compiles a caller; markers in it would then do
        // nothing.
        let replaced = |method: NameAndType<'_>| {
            let summary = summary.as_ref()?;
            let method = &summary.methods[summary.find(method)?];
            let is_replaced = method.has(trait_bits::INTRINSIC) || method.has(trait_bits::RECOGNISED);
            is_replaced
                .then_some("HotSpot may replace it with its own code; mark its calls with at = \"call\"")
        };
        let objection = |method: NameAndType<'_>| whole.or_else(|| replaced(method));
        let way = Way { library: self.library, objection: &objection, ..Way::new(self.rules, self.world) };
        let mut marked = mark(bytes, &way)?;
        marked.bytes = marked.bytes.take().or(prepared);
        Ok(marked)
    }
}

impl Transformation for Marks<'_> {
    type Record = Record;
    type Error = Error;

    fn class(&self, at: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<Record>), Error> {
        let mut record = match self.marked(bytes) {
            Err(Error::Class(problem)) if self.bad == BadClasses::Keep => Record {
                marked: MarkedClass::default(),
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

    fn runtime(&self, archive: &Archive<'_>, records: &[Record]) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let has_object = archive.path.depth() == 0 && records.iter().any(|record| record.is_object);
        let classes = if has_object { jdk_wrap::markers_of_library() } else { &[] };
        Ok(classes.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect())
    }

    fn description(
        &self,
        archive: &Archive<'_>,
        _records: &[Record],
    ) -> Result<Vec<(&'static str, Vec<u8>)>, Error> {
        let Some(lines) = self.lines.filter(|_| archive.path.depth() == 0) else { return Ok(Vec::new()) };
        let place = match archive.path.layout() {
            _ if self.library.is_none() => "",
            _ if archive.is_patched => "place=patches\n",
            Layout::Plain => "place=boot\n",
            _ => "place=image\n",
        };
        let mut entries = vec![(ENTRY, format!("{lines}{place}").into_bytes())];
        entries.extend(archive.is_patched.then(|| archive.resolved_modules()));
        Ok(entries)
    }
}
