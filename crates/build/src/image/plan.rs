//! Plan of an image, and how it is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cct_image::record::{self, Record};

use crate::file_error::{FileError, Operation};
use crate::image::archive_of_classes::{self, MakeError, Variant};
use crate::image::cache::{self, Content, ContentError, LockError};
use crate::image::check::{self, StoreError};
use crate::image::class_library::{
    BuiltLibrary, ClassLibrary, Destination, MarkError, OpenLibraryError, RewriteLibraryError,
};
use crate::image::home::{Home, HomeError, Layout};
use crate::image::jvm::{Jvm, JvmError};
use crate::image::key::{self, BuildError, KeyError};
use crate::image::known_hashes::KnownHashes;
use crate::image::options::{self, InstallError};
use crate::image::prune::{self, BadBound};
use crate::image::request::ImageRequest;
use crate::image::time_limit::{BadLimit, TimeLimit};
use crate::image::tree::{CopyError, Tree, TreeError};
use crate::image::workshop::{self, DeliverError, Overlap, Place, PlaceError, Workshop, WorkshopError};
use crate::image::{copying, permissions};
use crate::inputs::TOOL;
use crate::instrument::filter::{FilterError, filter};
use crate::load_time::{self, PrefixError, UnpackError};
use crate::marking::{Marking, MarkingError};
use crate::observer::Observer;
use crate::pending_file::PendingFile;
use crate::text::{counted, with_causes};

/// An image that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The time limit of JVMs in the environment is invalid.
    #[error(transparent)]
    Limit(#[from] BadLimit),
    /// Choices do not go together, or name no classes to record.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// There is a user's module beside markers and a calling-context tree.
    #[error("--udi cannot be combined with markers and a calling-context tree yet; leave it out")]
    ModuleBesideMarkers,
    /// An option is not for markers alone.
    #[error("{0} cannot be combined with --tool markers yet; leave it out")]
    NotYet(&'static str),
    /// Rules or properties cannot be used.
    #[error(transparent)]
    Marking(#[from] MarkingError),
    /// It is not the home of a supported JDK.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The JDK cannot be listed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The load-time library cannot be unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// The load-time library is neither installed nor inside this command.
    #[error(
        "{0} is not beside this command, and without it an image cannot rewrite the program's classes; install both together"
    )]
    NoLibrary(String),
    /// There is no agent for renamed natives.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// The hash of this build cannot be computed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The key cannot be computed.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// An image that cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildImageError {
    /// The class library cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenLibraryError),
    /// The JDK cannot be listed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A file of the JDK cannot be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The class library cannot be marked.
    #[error(transparent)]
    Mark(#[from] MarkError),
    /// The class library cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] RewriteLibraryError),
    /// JVM options do not get into the image.
    #[error(transparent)]
    Options(#[from] InstallError),
    /// The image's JVM does not start.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// The image's JVM creates no archives of classes.
    #[error(transparent)]
    Archives(#[from] MakeError),
    /// The manifest cannot be stored.
    #[error(transparent)]
    Manifest(#[from] StoreError),
    /// A file of the image cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// An image that does not get into the cache.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The image's files in the cache cannot be locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Something else than an image is in its place.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The bound on the size of the cache in the environment is invalid.
    #[error(transparent)]
    Bound(#[from] BadBound),
    /// The cache overlaps with the JDK.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// There is no folder to build it in.
    #[error(transparent)]
    Workshop(#[from] WorkshopError),
    /// It cannot be built.
    #[error(transparent)]
    Build(#[from] BuildImageError),
    /// The damaged image in its place cannot be moved away.
    #[error(transparent)]
    Discard(#[from] FileError),
    /// No image can be put in its place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// It cannot be moved to its place.
    #[error(transparent)]
    Deliver(#[from] DeliverError),
}

/// The plan of an image, before it is built.
pub struct Plan<'a> {
    /// The request for the image.
    pub request: &'a ImageRequest,
    /// The home of the JDK.
    pub home: Home,
    /// Number of files of the JDK that the image omits.
    left_out: usize,
    library: PathBuf,
    /// The rules and properties for markers, with a calling-context tree or alone; `None` without
    /// markers.
    marking: Option<Marking>,
    options: Vec<String>,
    /// Archives of classes to create.
    archives: Vec<Variant>,
    /// Hashes of this command and its libraries.
    build: Vec<String>,
    /// The image's name in the cache: a hash over everything that determines its contents.
    pub key: String,
    /// Time limit of each JVM that runs while the image is built.
    limit: TimeLimit,
}

impl<'a> Plan<'a> {
    /// Reads the JDK. Writes nothing except hashes of files into the cache.
    ///
    /// # Errors
    /// Fails if options cannot be combined, a file cannot be read, or a library is missing.
    pub fn new(request: &'a ImageRequest) -> Result<Plan<'a>, PlanError> {
        let limit = TimeLimit::of_environment()?;
        let marking = marking(request)?;
        let home = Home::open(&request.home)?;
        let mut tree = Tree::list(&home.path)?;
        let left_out = tree.leave_out(|path| is_stale(&home, path));
        let library = load_time::library()?.ok_or_else(|| PlanError::NoLibrary(load_time::library_name()))?;
        let options = if request.choices.marks_alone() {
            options::for_markers()
        } else {
            options::built_in(&home, request)
        };
        // HotSpot creates no archive if an agent is loaded.
        let has_agent = options::renames_natives(request);
        if has_agent {
            load_time::prefix()?;
        }
        let without = !request.archives_classes || request.choices.settings().reproducible || has_agent;
        let archives = if without { Vec::new() } else { archive_of_classes::variants(&home) };
        let mut known = match &request.cache {
            Some(folder) => KnownHashes::of_cache(folder),
            None => KnownHashes::default(),
        };
        let build = key::build(&mut known)?;
        let spelled = spelled(request, marking.as_ref());
        let contents =
            key::Contents { build: &build, spelled: &spelled, options: &options, archives: &archives };
        let key = key::of(&tree, &mut known, request, &contents)?;
        known.store();
        Ok(Plan { request, home, left_out, library, marking, options, archives, build, key, limit })
    }

    /// Returns the image's slot in the cache. Builds the image if the slot has no sound one.
    ///
    /// # Errors
    /// Fails if the cache cannot be used, or if the image cannot be built.
    pub fn fill_slot(
        &self,
        folder: &Path,
        observer: &dyn Observer,
    ) -> Result<(cache::Slot, Option<BuiltLibrary>), FillError> {
        let limit = self.limit.of_image();
        let slot = cache::Slot::take(folder, &self.key, limit, |owner| {
            let which = owner.map_or(String::new(), |owner| format!(" ({owner})"));
            observer.note(&format!("cctrewrite: waits for another process{which} that makes the same image"));
        })?;
        let content = slot.content()?;
        if content == Content::Image {
            slot.note_use(&self.home.path);
            return Ok((slot, None));
        }
        let bounds = prune::default_policy()?;
        workshop::check_apart(&slot.path, &slot.path, &self.home.path)?;
        let workshop = Workshop::open(slot.folder())?;
        if let Content::Damaged(what) = &content {
            observer.warn(&format!("cctrewrite: warning: {what}; the image is made again"));
        }
        let made = self.build(&workshop.image(), observer)?;
        if content != Content::None {
            // The old image is discarded last, since JVMs may use it.
            workshop.discard(&slot.path)?;
        }
        workshop.deliver(&Place::new(&slot.path, &self.home.path)?)?;
        slot.note_use(&self.home.path);
        if let Err(error) = prune::keep_within_bounds(slot.folder(), bounds, observer) {
            let why = with_causes(&error);
            observer.warn(&format!("cctrewrite: warning: cannot remove old images from the cache: {why}"));
        }
        Ok((slot, Some(made)))
    }

    /// Builds the image in an empty folder.
    ///
    /// # Errors
    /// Fails if a class cannot be rewritten, if a file cannot be read or written, or if the image's
    /// JVM fails.
    pub fn build(&self, image: &Path, observer: &dyn Observer) -> Result<BuiltLibrary, BuildImageError> {
        let class_library = ClassLibrary::open(&self.home, self.request)?;
        let mut rest = Tree::list(&self.home.path)?;
        rest.leave_out(|path| is_stale(&self.home, path) || class_library.has(path));
        copying::copy(&rest, image, self.request.copy_mode, observer)?;
        let own = image.join(self.home.own_folder());
        fs::create_dir(&own).map_err(Operation::Make.failed_on(&own))?;
        let destination = Destination { home: &self.home, image, options: &self.options };
        let mut made = match &self.marking {
            Some(marking) if self.marks_alone() => class_library.mark(destination, marking, observer)?,
            marking => class_library.rewrite(destination, self.request, marking.as_ref(), observer)?,
        };

        let copy = image.join(self.home.lib()).join(load_time::library_name());
        fs::copy(&self.library, &copy).map_err(Operation::Make.failed_on(&copy))?;
        options::install_prefix(&self.home, image, self.request)?;
        if !self.options.is_empty() {
            options::install_vm(&self.home, image, &self.options)?;
        }
        made.summary.write_report(&own.join(record::COMPLETENESS))?.map(PendingFile::commit).transpose()?;
        let java_home = self.home.lib().parent().map(Path::to_path_buf).unwrap_or_default();
        let remedy = "see whether `java -version` of the JDK itself ends";
        Jvm { image, java_home: &java_home, arguments: &["-version"], limit: self.limit, remedy }.run()?;
        let runtime = match self.marking {
            Some(_) if self.marks_alone() => vec![jdk_wrap::markers_of_library()],
            Some(_) => vec![jdk_wrap::classes(), jdk_wrap::markers_of_tree()],
            None => vec![jdk_wrap::classes()],
        };
        archive_of_classes::make(&self.home, image, &runtime.concat(), &self.archives, self.limit, observer)?;
        let record = own.join(record::NAME);
        fs::write(&record, self.record(&made).text()).map_err(Operation::Write.failed_on(&record))?;
        permissions::forbid_others_to_write(image)?;
        check::store(image, &own, &self.home.path)?;
        if let Some(output) = &self.request.name {
            made.summary.name(output);
        } else {
            made.summary.name(&self.home.path);
        }
        Ok(made)
    }

    /// The image's record.
    fn record(&self, made: &BuiltLibrary) -> Record {
        let of_jdk = |key: &str| self.home.release.value(key).unwrap_or("unknown").to_owned();
        let version = self.home.release.version().unwrap_or("unknown").to_owned();
        let mut lines = vec![
            ("tool", TOOL.to_owned()),
            ("build", self.build.join(" ")),
            ("key", self.key.clone()),
            ("java", version),
            ("implementor", of_jdk("IMPLEMENTOR")),
            ("options", spelled(self.request, self.marking.as_ref()).join(" ")),
            (record::HAS_MANIFEST, "1".to_owned()),
        ];
        lines.extend(self.archives.iter().map(|archive| ("archive-of-classes", archive.file.to_owned())));
        lines.extend(self.options.iter().map(|option| ("jvm-option", option.clone())));
        lines.extend(made.provenance.lines().map(|line| ("provenance", line.to_owned())));
        Record::new(lines)
    }

    /// The kind of the image, for messages.
    pub fn kind(&self) -> &'static str {
        match self.marking {
            Some(_) if self.marks_alone() => "marked",
            Some(_) => "marked and profiled",
            None => "profiled",
        }
    }

    /// Whether the image has markers and no calling-context tree.
    fn marks_alone(&self) -> bool {
        self.request.choices.marks_alone()
    }

    /// Reports the summary of the built image.
    ///
    /// # Errors
    /// Fails if the image cannot be listed for its size.
    pub fn say_made(
        &self,
        made: &BuiltLibrary,
        path: &Path,
        started: Instant,
        observer: &dyn Observer,
    ) -> Result<(), TreeError> {
        made.summary.say(started.elapsed(), observer);
        let version = self.home.release.version().map_or(String::new(), |v| format!(" of Java {v}"));
        let size = Tree::list(path)?.size()?;
        observer.note(&format!(
            "{}: a {} JDK{version}, {} MB, {:.1} s",
            path.display(),
            self.kind(),
            size / 1_000_000,
            started.elapsed().as_secs_f64()
        ));
        if self.left_out > 0 {
            let files = counted(self.left_out as u64, "file");
            observer.note(&format!(
                "note: {files} of archives of plain classes left out ({})",
                stale_names(&self.home)
            ));
        }
        Ok(())
    }
}

/// The rules and properties for markers; `None` without markers. Fails if options cannot be
/// combined.
fn marking(request: &ImageRequest) -> Result<Option<Marking>, PlanError> {
    if !request.choices.marks_alone() {
        filter(&request.choices)?;
        if !request.choices.marks_beside() {
            return Ok(None);
        }
        if request.module.module.is_some() {
            return Err(PlanError::ModuleBesideMarkers);
        }
        return Ok(Some(Marking::beside(&request.choices)?));
    }
    for (given, option) in [(request.has_report, "--report"), (request.module.module.is_some(), "--udi")] {
        if given {
            return Err(PlanError::NotYet(option));
        }
    }
    Ok(Some(Marking::alone(&request.choices)?))
}

/// The options as on a command line, but with hashes of the contents of rules and properties.
fn spelled(request: &ImageRequest, marking: Option<&Marking>) -> Vec<String> {
    match marking {
        Some(marking) if request.choices.marks_alone() => marking.spelled(),
        Some(marking) => [request.choices.spelled(), marking.spelled_rules()].concat(),
        None => request.choices.spelled(),
    }
}

/// Whether a file of the JDK would bring unmodified classes into the image: archives of classes,
/// and jmods.
fn is_stale(home: &Home, path: &Path) -> bool {
    let is_archive = path.extension().is_some_and(|extension| extension == "jsa");
    is_archive && path.starts_with(home.server())
        || home.layout == Layout::Modules && path.starts_with("jmods")
}

fn stale_names(home: &Home) -> &'static str {
    match home.layout {
        Layout::Jars { .. } => "classes.jsa",
        Layout::Modules => "classes*.jsa, jmods",
    }
}
