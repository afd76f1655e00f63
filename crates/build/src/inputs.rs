//! The classes that a command works on: the inputs, and the rest of their world. That is the
//! libraries named, and the class library of each JDK around any of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cct_archive::{Failure, Input, Layout, Limits, Location};
use cct_classfile::mutf8::lossy;
use cct_index::mid::ClassHash;
use cct_index::provenance::{self, Provenance};
use cct_jdk::convention;
use cct_rewrite::{ClassSummary, Role, World, hooks, jlink};
use cct_settings::Settings;

use crate::file_error::{FileError, Operation};
use crate::output::{BadLibraryHash, IndexError, Mismatch};
use crate::text::counted;
use crate::user_module::TransformedClasses;
use crate::{jdk, output};

/// Inputs or libraries that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    /// An input is standard input.
    #[error("-: standard input cannot be an input; name a file or folder (./- is the file of that name)")]
    StandardInput,
    /// An input is the home of a JDK.
    #[error(
        "{} is the home of a JDK; name a part of its class library ({}), or have all of it made into a profiled JDK by \
         `cctrewrite jdk`",
        .home.display(),
        .part.display()
    )]
    Home {
        /// The home.
        home: PathBuf,
        /// The first part of its class library; empty if it has none.
        part: PathBuf,
    },
    /// An input is given twice.
    #[error("{} is given twice", .0.display())]
    Twice(PathBuf),
    /// An input or library cannot be found.
    #[error(transparent)]
    File(#[from] FileError),
    /// An input or library cannot be read.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
}

/// Inputs or libraries whose classes cannot be rewritten together.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// A class, or the archive around it, cannot be used.
    #[error(transparent)]
    Class(#[from] Failure<ClassError>),
    /// An input has two entries of one name.
    #[error("{0}: there are two entries of this name, with different classes; remove the wrong one")]
    TwoEntries(String),
    /// The index of an earlier output cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The provenance of an earlier output is damaged.
    #[error(transparent)]
    LibraryHash(#[from] BadLibraryHash),
    /// A library is an earlier output with which this run's outputs cannot run.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A class of the user's module cannot be read.
    #[error(transparent)]
    OwnClass(#[from] cct_rewrite::Error),
}

/// A class of an input that cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum ClassError {
    /// It is no class file, or is damaged.
    #[error("{0}; replace or remove it, or keep it with --keep-bad-classes")]
    Bad(cct_classfile::Error),
    /// It is already rewritten, or uses a reserved name.
    #[error(transparent)]
    Refused(cct_rewrite::Error),
}

/// Name and version of this program, as outputs state them.
pub const TOOL: &str = concat!("cctrewrite ", env!("CARGO_PKG_VERSION"));

/// Opened inputs and libraries.
#[derive(Debug)]
pub struct Sources {
    /// Inputs: they are rewritten (or explained).
    pub inputs: Vec<Input>,
    /// Libraries: they are only read.
    pub libraries: Vec<Input>,
    /// The results of the user's module for the classes of the inputs.
    pub udi: Option<TransformedClasses>,
    /// Whether jlink will link the jmods. It generates some of their classes itself.
    pub for_jlink: bool,
}

/// Treatment of an entry of an input that is named like a class file but is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadClasses {
    /// Fail.
    Refuse,
    /// Keep it unchanged, and report it.
    Keep,
}

/// Classes of the inputs that stay unchanged, each with the reason. JVMs refuse the class, its code
/// is damaged, or it outgrows a class file when it is rewritten. The other classes must be planned
/// with that in mind.
pub type UnfitClasses = BTreeMap<ClassHash, String>;

/// The result of a survey.
#[derive(Debug)]
pub struct Survey {
    /// All classes, each with its role.
    classes: Vec<(Role, Arc<ClassSummary>)>,
    /// The provenance of outputs made from these classes.
    pub provenance: Provenance,
    /// Number of classes in the inputs.
    pub in_inputs: u64,
    /// Notices for the user about the inputs.
    pub notices: Vec<String>,
}

impl Survey {
    /// The world of these classes, in which unfit ones are not rewritten.
    pub fn world(&self, unfit: &UnfitClasses) -> World {
        let with_role = |(role, summary): &(Role, Arc<ClassSummary>)| {
            let role = if unfit.contains_key(&summary.hash) { Role::Library } else { *role };
            (role, Arc::clone(summary))
        };
        World::new(self.classes.iter().map(with_role))
    }
}

/// Callback for each class of an input or library, with its role, location, summary and bytes.
/// Called from many threads.
pub type Visitor<'v> = dyn Fn(Role, &Location<'_>, &ClassSummary, &[u8]) + Sync + 'v;

/// One class entry.
enum ClassEntry {
    Class {
        summary: ClassSummary,
        /// Hash of the class file before the user's module replaced it.
        original: ClassHash,
        place: String,
    },
    Bad {
        notice: String,
    },
    /// Not part of the world.
    Skipped,
}

impl Sources {
    /// Opens the inputs, the libraries named, and the rest of the class library of each JDK that
    /// contains one of them.
    ///
    /// # Errors
    /// Fails if one of them cannot be opened.
    pub fn open(inputs: &[PathBuf], libraries: &[PathBuf], limits: &Limits) -> Result<Sources, SourcesError> {
        Sources::of(Sources::open_inputs(inputs, limits)?, libraries, limits)
    }

    /// Opens the inputs alone.
    ///
    /// # Errors
    /// Fails if one of them cannot be opened.
    pub fn open_inputs(paths: &[PathBuf], limits: &Limits) -> Result<Vec<Input>, SourcesError> {
        let open = |path: &PathBuf| {
            if path.as_os_str() == "-" {
                return Err(SourcesError::StandardInput);
            }
            if jdk::is_home(path) {
                let part = jdk::class_library_of(path).into_iter().next().unwrap_or_default();
                return Err(SourcesError::Home { home: path.clone(), part });
            }
            Ok(Input::open(path, limits)?)
        };
        paths.iter().map(open).collect()
    }

    /// Opens the libraries named, and the rest of the class library of each JDK that contains one
    /// of the inputs or libraries.
    ///
    /// # Errors
    /// Fails if one of them cannot be opened, or if an input is given twice.
    pub fn of(inputs: Vec<Input>, libraries: &[PathBuf], limits: &Limits) -> Result<Sources, SourcesError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        for input in &inputs {
            let canonical = canonical(input.path())?;
            if seen.contains(&canonical) {
                return Err(SourcesError::Twice(input.path().to_path_buf()));
            }
            seen.push(canonical);
        }
        let given = inputs.iter().map(Input::path).chain(libraries.iter().map(PathBuf::as_path));
        let around: Vec<PathBuf> = given.flat_map(jdk::class_library_around).collect();
        let mut sources = Sources { inputs, libraries: Vec::new(), udi: None, for_jlink: true };
        let named = libraries.iter().flat_map(|path| {
            if jdk::is_home(path) { jdk::class_library_of(path) } else { vec![path.clone()] }
        });
        let paths: Vec<PathBuf> = named.chain(around).collect();
        for path in paths {
            let canonical = canonical(&path)?;
            if !seen.contains(&canonical) {
                sources.libraries.push(Input::open(&path, limits)?);
                seen.push(canonical);
            }
        }
        Ok(sources)
    }

    /// Reads every class.
    ///
    /// # Errors
    /// Fails if an input or library cannot be read, or if a class of an input cannot be rewritten.
    /// Fails if a library is an earlier run's output with which this run's outputs could not run.
    pub fn survey(
        &self,
        settings: &Settings,
        bad: BadClasses,
        visit: &Visitor<'_>,
    ) -> Result<Survey, SurveyError> {
        let mut classes: Vec<(Role, Arc<ClassSummary>)> = Vec::new();
        let mut of_library: Vec<bool> = Vec::new();
        let mut originals: Vec<ClassHash> = Vec::new();
        let mut notices = Vec::new();
        let mut in_inputs = 0;
        let mut library_hash = None;
        let inputs = self.inputs.iter().map(|input| (Role::Input, input));
        for (role, input) in inputs.chain(self.libraries.iter().map(|library| (Role::Library, library))) {
            let udi = self.udi.as_ref().filter(|_| role == Role::Input);
            let survey = input.survey(|at, bytes| {
                let given = udi.map_or(bytes, |udi| udi.given(bytes));
                survey_class(role, bad, at, (bytes, given), visit)
            })?;
            if role == Role::Input {
                notices.extend(survey.notices.iter().map(ToString::to_string));
            }
            let mut found = Vec::with_capacity(survey.classes.len());
            let mut places = BTreeMap::new();
            for class in survey.classes {
                match class {
                    ClassEntry::Class { summary, original, place } => {
                        let hash = summary.hash;
                        if role == Role::Input
                            && places.insert(place.clone(), hash).is_some_and(|first| first != hash)
                        {
                            // The other classes could be checked against either of them: the JVM
                            // loads the last, tools list the first.
                            return Err(SurveyError::TwoEntries(place));
                        }
                        found.push(summary);
                        // For a class of an earlier run's output, the summary has the hash of its
                        // original.
                        originals.push(if found[found.len() - 1].is_rewritten() { hash } else { original });
                    }
                    ClassEntry::Bad { notice } => notices.push(notice),
                    ClassEntry::Skipped => {}
                }
            }
            let object = found.iter().find(|class| *class.name == *convention::OBJECT);
            // The class library that the inputs will run on is rewritten in another run, or they
            // could not run.
            let role = match object {
                Some(object) if role == Role::Library && !object.is_rewritten() => Role::Companion,
                _ => role,
            };
            if object.is_some_and(|object| object.is_rewritten()) {
                // The originals of an output cannot be hashed any more, but its provenance has
                // their hash.
                library_hash = output::provenance(input)?
                    .map(|lines| output::library_hash(&lines))
                    .transpose()?
                    .flatten();
            }
            in_inputs += if role == Role::Input { found.len() as u64 } else { 0 };
            let made_by_jlink = |class: &ClassSummary| {
                role == Role::Input
                    && self.for_jlink
                    && input.layout() == Layout::Jmod
                    && jlink::makes(&class.name)
            };
            let of_jlink = found.iter().filter(|class| made_by_jlink(class)).count();
            if of_jlink > 0 {
                let classes = counted(of_jlink as u64, "class");
                let path = input.path().display();
                notices.push(format!(
                    "{path}: {classes} that jlink makes itself stay as they are, and what it makes is missing from the tree"
                ));
            }
            let is_library = jdk::home_around(input.path()).is_some() || object.is_some();
            classes.extend(
                found
                    .into_iter()
                    .map(|class| (if made_by_jlink(&class) { Role::Library } else { role }, Arc::new(class))),
            );
            of_library.resize(classes.len(), is_library);
        }
        let library = classes.iter().zip(&originals).zip(&of_library).filter(|(_, of_library)| **of_library);
        let library_hash = library_hash.or_else(|| {
            provenance::library_hash(library.map(|(((_, class), &original), _)| (&*class.name, original)))
        });
        let mut provenance = cct_rewrite::provenance(settings, TOOL, library_hash);
        if let Some(udi) = &self.udi {
            provenance = provenance.with_udi(&udi.identity);
            classes.extend(udi.summaries()?.into_iter().map(|class| (Role::Library, Arc::new(class))));
        }
        for library in &self.libraries {
            if let Some(its) = output::provenance(library)? {
                output::check_library(library, &its, &provenance)?;
            }
        }
        let survey = Survey { classes, provenance, in_inputs, notices };
        let of_names = duplicates(&survey.world(&UnfitClasses::new()));
        Ok(Survey { notices: [survey.notices, of_names].concat(), ..survey })
    }
}

fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    std::fs::canonicalize(path).map_err(Operation::Resolve.failed_on(path))
}

/// Summarises one class. In a library an entry that is no class file is skipped.
fn survey_class(
    role: Role,
    bad: BadClasses,
    at: &Location<'_>,
    (original, bytes): (&[u8], &[u8]),
    visit: &Visitor<'_>,
) -> Result<ClassEntry, ClassError> {
    let is_input = role == Role::Input;
    match ClassSummary::parse(bytes) {
        // A versioned class of a library does not represent its name.
        Ok(_) if !is_input && at.entry.name.starts_with("META-INF/versions/") => Ok(ClassEntry::Skipped),
        Ok(summary) if hooks::is_runtime_class(&summary.name) => {
            if is_input {
                Err(ClassError::Refused(cct_rewrite::Error::AlreadyRewritten(lossy(&summary.name))))
            } else {
                Ok(ClassEntry::Skipped)
            }
        }
        Ok(summary) => {
            visit(role, at, &summary, bytes);
            let is_original = std::ptr::eq(original, bytes) && !summary.is_rewritten();
            let original = if is_original { summary.hash } else { ClassHash::of(original) };
            Ok(ClassEntry::Class { summary, original, place: at.to_string() })
        }
        Err(_) if !is_input => Ok(ClassEntry::Skipped),
        Err(cct_rewrite::Error::Class(problem)) => match bad {
            BadClasses::Keep => Ok(ClassEntry::Bad { notice: format!("{at}: kept as it is: {problem}") }),
            BadClasses::Refuse => Err(ClassError::Bad(problem)),
        },
        Err(other) => Err(ClassError::Refused(other)),
    }
}

/// Notices about classes of one name with different contents. They are legal, but only one of them
/// can represent the name.
fn duplicates(world: &World) -> Vec<String> {
    let mut notices = Vec::new();
    for &(first, second) in &world.duplicates {
        let name = lossy(&world[first].summary.name);
        let descriptive = ["module-info", "package-info"].iter().any(|end| name.ends_with(end));
        if world[second].role == Role::Input && !descriptive {
            notices.push(format!(
                "class {name} occurs twice with different contents; others are checked against the first one"
            ));
        }
    }
    notices
}
