//! The rewritten class library of an image.

use std::fs;
use std::path::{Path, PathBuf, StripPrefixError};
use std::time::Duration;

use cct_archive::{EntryKind, Limits, Target};
use cct_image::record;
use cct_index::MidCollision;
use cct_index::record::ClassRecord;
use zip::result::ZipError;

use super::options;
use super::request::ImageRequest;
use crate::api_jar;
use crate::file_error::{FileError, Operation};
use crate::image::home::{Home, Layout};
use crate::image::structure;
use crate::inputs::{BadClasses, Sources, SourcesError};
use crate::instrument::output_options::OutputOptions;
use crate::instrument::{Outputs, Record, RewriteError, Summary, rewrite_all};
use crate::jdk;
use crate::marking::image::MarkLibraryError;
use crate::marking::{self, Marking, TreeMarking};
use crate::observer::Observer;
use crate::pending_file::PendingFile;
use crate::user_module::{Module, ModuleError, UnreadableModule};

/// A class library that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenLibraryError {
    /// A file of it, or a library, cannot be opened.
    #[error(transparent)]
    Sources(#[from] SourcesError),
    /// A file of it is not in the home of its JDK.
    #[error("a part of the class library lies outside its home")]
    Outside(#[from] StripPrefixError),
}

/// A class library that cannot be rewritten into an image.
#[derive(Debug, thiserror::Error)]
pub enum RewriteLibraryError {
    /// A file of it cannot be read or put in its place.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// The user's module cannot be read.
    #[error(transparent)]
    UnreadableModule(#[from] UnreadableModule),
    /// The user's module fails.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The classes cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The jar from which the module's JVM starts cannot be put together.
    #[error(transparent)]
    Host(#[from] ZipError),
    /// Two methods have the same id.
    #[error(transparent)]
    Index(#[from] MidCollision),
    /// A file of the image cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A class library that cannot be marked for an image.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    /// There is no place in the image for a file of it.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// Marking fails.
    #[error(transparent)]
    Mark(#[from] MarkLibraryError),
    /// A file of the image cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The files that hold the class library, opened.
#[derive(Debug)]
pub struct ClassLibrary {
    sources: Sources,
    /// Of each input, its path relative to the home.
    paths: Vec<PathBuf>,
}

/// A class library in its place in an image.
#[derive(Debug)]
pub struct BuiltLibrary {
    /// What was done.
    pub summary: LibrarySummary,
    /// Where it comes from, as lines.
    pub provenance: String,
}

/// What was done to a class library.
#[derive(Debug)]
pub enum LibrarySummary {
    /// It was rewritten for profiles, traces or values.
    Rewritten(Summary),
    /// It has markers.
    Marked(marking::image::Summary),
}

impl LibrarySummary {
    /// Writes the completeness report, where there is one: of markers the rules say what is to be
    /// marked, and outputs what is not.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_report(&self, path: &Path) -> Result<Option<PendingFile>, FileError> {
        match self {
            LibrarySummary::Rewritten(summary) => summary.write_report(path).map(Some),
            LibrarySummary::Marked(_) => Ok(None),
        }
    }

    /// Names the whole that was made.
    pub fn name(&mut self, whole: &Path) {
        if let LibrarySummary::Rewritten(summary) = self {
            summary.name(whole);
        }
    }

    /// Says what was done.
    pub fn say(&self, elapsed: Duration, observer: &dyn Observer) {
        match self {
            LibrarySummary::Rewritten(summary) => summary.say(elapsed, observer),
            LibrarySummary::Marked(summary) => summary.say(observer),
        }
    }
}

impl ClassLibrary {
    /// Opens all files of a home in which classes are. Jars without classes are none of them.
    ///
    /// # Errors
    /// A file of it, or a library, cannot be opened.
    pub fn open(home: &Home, request: &ImageRequest) -> Result<ClassLibrary, OpenLibraryError> {
        let files = match &home.layout {
            Layout::Jars { .. } => {
                let mut jars = jdk::class_library_around(&home.path.join(home.lib()).join("rt.jar"));
                // Around the JRE of a JDK there is more, which is looked at and not made anew.
                jars.retain(|jar| jar.starts_with(&home.path));
                jars
            }
            Layout::Modules => vec![home.path.join(home.lib()).join("modules")],
        };
        let mut sources = Sources::open(&files, &request.choices.library, &Limits::default())?;
        sources.inputs.retain(|input| input.entries().iter().any(|entry| entry.kind == EntryKind::Class));
        let relative = |path: &Path| path.strip_prefix(&home.path).map(Path::to_path_buf);
        let paths = sources.inputs.iter().map(|input| relative(input.path())).collect::<Result<_, _>>()?;
        Ok(ClassLibrary { sources, paths })
    }

    /// Whether a file, relative to the home, is rewritten.
    pub fn has(&self, path: &Path) -> bool {
        self.paths.iter().any(|p| p == path)
    }

    /// Writes it into an image in the making, which has all folders and none of these files; and
    /// its index. Where markers are wanted beside, also what the image carries for the program's
    /// classes.
    ///
    /// # Errors
    /// The user's module fails, a class cannot be rewritten, or a file cannot be read or written.
    pub fn rewrite(
        mut self,
        destination: Destination<'_>,
        request: &ImageRequest,
        marking: Option<&Marking>,
        observer: &dyn Observer,
    ) -> Result<BuiltLibrary, RewriteLibraryError> {
        let Destination { home, image, .. } = destination;
        let beside = marking.map(|marking| TreeMarking::of_library(marking, &self.sources)).transpose()?;
        let options = destination.resource();
        let targets = self.targets(image)?;
        let output_options = OutputOptions {
            verify: false,
            choices: &request.choices,
            bad: BadClasses::Refuse,
            level: LEVEL,
            options: options.as_deref(),
            patches: false,
            manifest: false,
            made_from: None,
            beside: beside.as_ref(),
        };
        if let Some(module) = Module::of(&request.module)? {
            self.sources.udi = Some(module.transform(&self.sources.inputs, observer)?);
        }
        let Outputs { summary, outputs, provenance } =
            rewrite_all(output_options, &self.sources, &targets, observer)?;
        let mut classes: Vec<ClassRecord> = Vec::new();
        let mut structures: Vec<Vec<u8>> = Vec::new();
        for output in outputs {
            let records: Vec<Record> = output.commit()?.records;
            for record in records {
                classes.extend(record.class);
                structures.extend(record.structure);
            }
        }
        if request.choices.settings().traces() {
            let file = image.join(home.own_folder()).join(record::STRUCTURE);
            structure::write(&file, &provenance, &structures).map_err(Operation::Write.failed_on(&file))?;
        }
        if let (Some(beside), Some(marking), Some(account)) = (&beside, marking, summary.marked()) {
            let (classes, places) = (beside.markers.world.table(), account.places());
            marking::image::carry(marking, &classes, places, &image.join(home.own_folder()))?;
        }
        if self.sources.udi.is_some() {
            let file = image.join(home.own_folder()).join(record::UDI_HOST);
            fs::write(&file, api_jar::for_modules()?).map_err(Operation::Write.failed_on(&file))?;
        }
        if let Layout::Jars { .. } = home.layout {
            extend_meta_index(home, image)?;
        }
        let originals = image.join(home.own_folder()).join(record::ORIGINALS);
        fs::write(&originals, self.originals(home)).map_err(Operation::Write.failed_on(&originals))?;
        let file = image.join(home.own_folder()).join(record::INDEX);
        fs::write(&file, cct_index::write(&provenance, &classes)?)
            .map_err(Operation::Write.failed_on(&file))?;
        Ok(BuiltLibrary {
            summary: LibrarySummary::Rewritten(summary),
            provenance: provenance.lines().to_owned(),
        })
    }

    /// Writes it with markers into an image in the making, and what the image carries for the
    /// program's classes.
    ///
    /// # Errors
    /// A class cannot be marked, or a file cannot be read or written.
    pub fn mark(
        self,
        destination: Destination<'_>,
        marking: &Marking,
        observer: &dyn Observer,
    ) -> Result<BuiltLibrary, MarkError> {
        let Destination { home, image, .. } = destination;
        let own = image.join(home.own_folder());
        let options = destination.resource();
        let targets = self.targets(image)?;
        let outputs = marking::OutputOptions {
            bad: BadClasses::Refuse,
            level: LEVEL,
            patches: false,
            lines: None,
            verify: false,
            options: options.as_deref(),
        };
        let summary = marking::image::mark(marking, &self.sources, &targets, &outputs, &own, observer)?;
        if let Layout::Jars { .. } = home.layout {
            extend_meta_index(home, image)?;
        }
        Ok(BuiltLibrary { summary: LibrarySummary::Marked(summary), provenance: marking.lines() })
    }

    /// What [`record::ORIGINALS`] says.
    fn originals(&self, home: &Home) -> String {
        self.paths.iter().map(|path| format!("{}\n", home.path.join(path).display())).collect()
    }

    /// Where its files go.
    fn targets(&self, image: &Path) -> Result<Vec<Target>, cct_archive::Error> {
        let inputs: Vec<_> = self.sources.inputs.iter().collect();
        self.paths.iter().map(|path| Target::new(&image.join(path), &inputs)).collect()
    }
}

/// Compression of jars: the JDK's own.
const LEVEL: u32 = 6;

/// Where a class library goes.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// The JDK that it comes from.
    pub home: &'a Home,
    /// The folder of the image in the making.
    pub image: &'a Path,
    /// JVM options of the image, which are in the class library from JDK 9 on.
    pub options: &'a [String],
}

impl Destination<'_> {
    /// The options as a resource of the class library, where HotSpot reads such a one.
    fn resource(&self) -> Option<String> {
        (self.home.layout == Layout::Modules).then(|| options::text(self.options))
    }
}

/// Tells HotSpot 8 that the runtime's packages are in `rt.jar`: it looks for a class only in jars
/// whose entry in `meta-index` names the beginning of the class's name (or that have no entry).
fn extend_meta_index(home: &Home, image: &Path) -> Result<(), FileError> {
    let file = image.join(home.lib()).join("meta-index");
    if !file.is_file() {
        return Ok(());
    }
    let text = fs::read_to_string(&file).map_err(Operation::Read.failed_on(&file))?;
    fs::remove_file(&file).map_err(Operation::Replace.failed_on(&file))?;
    fs::write(&file, with_runtime(&text)).map_err(Operation::Write.failed_on(&file))
}

/// A `meta-index` in which the runtime's packages stand below the line of `rt.jar` (`# rt.jar`,
/// `! rt.jar` or `@ rt.jar`).
fn with_runtime(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        if let Some((mark, "rt.jar")) = line.split_once(' ')
            && ["#", "!", "@"].contains(&mark)
        {
            out.push_str("cctrewrite/\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_in_rt_jar() {
        let text = "% VERSION 2\n# jfr.jar\njdk/jfr/\n! rt.jar\ncom/sun/\njava/\n";
        let expected = "% VERSION 2\n# jfr.jar\njdk/jfr/\n! rt.jar\ncctrewrite/\ncom/sun/\njava/\n";
        assert_eq!(with_runtime(text), expected);
    }
}
