//! What is wanted of an image.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cct_build::image::archive_of_classes::{self, Variant};
use cct_build::image::cache::{self, Content};
use cct_build::image::home::{Home, Layout};
use cct_build::image::jvm::Jvm;
use cct_build::image::known_hashes::KnownHashes;
use cct_build::image::time_limit::TimeLimit;
use cct_build::image::tree::{Manner, Tree};
use cct_build::image::workshop::{self, Place, Workshop};
use cct_build::image::{check, permissions};
use cct_build::load_time;
use cct_build::pending_file::PendingFile;
use cct_image::record::{self, Record};

use crate::args;
use crate::exit::say;
use crate::image::class_library::{ClassLibrary, Made};
use crate::image::{copying, key, options, prune};
use crate::inputs::TOOL;
use crate::marking::Wanted;
use crate::text::counted;

/// An image that is to be made.
pub(crate) struct Order<'a> {
    pub(crate) arguments: &'a args::Jdk,
    pub(crate) home: Home,
    /// How many files of the JDK an image does not have.
    left_out: usize,
    library: PathBuf,
    /// What is to be marked: beside what counts, or alone.
    wanted: Option<Wanted>,
    options: Vec<String>,
    /// Archives of classes that are to be made.
    archives: Vec<Variant>,
    /// Hashes of this command and its libraries.
    build: Vec<String>,
    pub(crate) key: String,
    pub(crate) manner: Manner,
    /// How long a JVM of the image may take while this is made.
    limit: TimeLimit,
}

impl<'a> Order<'a> {
    pub(crate) fn new(arguments: &'a args::Jdk) -> Result<Order<'a>> {
        let limit = TimeLimit::of_environment()?;
        let wanted = wanted(arguments)?;
        let home = Home::open(arguments.home()?)?;
        let mut tree = Tree::list(&home.path)?;
        let left_out = tree.leave_out(|path| is_stale(&home, path));
        let library = load_time::library()?.with_context(|| {
            let name = load_time::library_name();
            format!("{name} is not beside this command, and without it an image cannot rewrite the program's classes; install both together")
        })?;
        let options = if arguments.choices.marks_alone() {
            options::for_markers()
        } else {
            options::built_in(&home, arguments)
        };
        // HotSpot makes no archive where an agent is loaded.
        let has_agent = options::renames_natives(arguments);
        if has_agent {
            load_time::prefix()?;
        }
        let without = arguments.no_cds || arguments.choices.settings().reproducible || has_agent;
        let archives = if without { Vec::new() } else { archive_of_classes::variants(&home) };
        let mut known = match &arguments.cache {
            Some(folder) => KnownHashes::of_cache(&cache_folder(folder.as_deref())?),
            None => KnownHashes::default(),
        };
        let build = key::build(&mut known)?;
        let spelled = spelled(arguments, wanted.as_ref());
        let contents =
            key::Contents { build: &build, spelled: &spelled, options: &options, archives: &archives };
        let key = key::of(&tree, &mut known, arguments, &contents)?;
        known.store();
        let manner = if arguments.link { Manner::Link } else { Manner::Copy };
        Ok(Order { arguments, home, left_out, library, wanted, options, archives, build, key, manner, limit })
    }

    /// The image's place in the cache, where it is made if it is not there.
    pub(crate) fn fill_slot(&self, cache: Option<&Path>) -> Result<(cache::Slot, Option<Made>)> {
        let folder = cache_folder(cache)?;
        let quiet = self.arguments.quiet;
        let limit = self.limit.of_image();
        let slot = cache::Slot::take(&folder, &self.key, limit, |owner| {
            let which = owner.map_or(String::new(), |owner| format!(" ({owner})"));
            if !quiet {
                say(&format!("cctrewrite: waits for another process{which} that makes the same image"));
            }
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
            say(&format!("cctrewrite: warning: {what}; the image is made again"));
        }
        let made = self.build(&workshop.image())?;
        if content != Content::None {
            // Last, since JVMs may use it.
            workshop.discard(&slot.path)?;
        }
        workshop.deliver(&Place::new(&slot.path, &self.home.path)?)?;
        slot.note_use(&self.home.path);
        if let Err(error) = prune::keep_within_bounds(slot.folder(), bounds, quiet) {
            say(&format!("cctrewrite: warning: cannot remove old images from the cache: {error:#}"));
        }
        Ok((slot, Some(made)))
    }

    /// Makes the image in an empty folder.
    pub(crate) fn build(&self, image: &Path) -> Result<Made> {
        let class_library = ClassLibrary::open(&self.home, self.arguments)?;
        let mut rest = Tree::list(&self.home.path)?;
        rest.leave_out(|path| is_stale(&self.home, path) || class_library.has(path));
        copying::copy(&rest, image, self.manner, self.arguments.quiet)?;
        let own = image.join(self.home.own_folder());
        fs::create_dir(&own).with_context(|| format!("cannot make {}", own.display()))?;
        let mut made = match &self.wanted {
            Some(wanted) if self.marks_alone() => {
                class_library.mark(&self.home, image, wanted, &self.options)?
            }
            wanted => {
                class_library.rewrite(&self.home, image, self.arguments, wanted.as_ref(), &self.options)?
            }
        };

        let copy = image.join(self.home.lib()).join(load_time::library_name());
        fs::copy(&self.library, &copy).with_context(|| format!("cannot make {}", copy.display()))?;
        options::install_prefix(&self.home, image, self.arguments)?;
        if !self.options.is_empty() {
            options::install_vm(&self.home, image, &self.options)?;
        }
        made.summary.write_report(&own.join(record::COMPLETENESS))?.map(PendingFile::commit).transpose()?;
        let java_home = self.home.lib().parent().map(Path::to_path_buf).unwrap_or_default();
        let remedy = "see whether `java -version` of the JDK itself ends";
        Jvm { image, java_home: &java_home, arguments: &["-version"], limit: self.limit, remedy }.run()?;
        let runtime = match self.wanted {
            Some(_) if self.marks_alone() => vec![jdk_wrap::markers_of_library()],
            Some(_) => vec![jdk_wrap::classes(), jdk_wrap::markers_of_tree()],
            None => vec![jdk_wrap::classes()],
        };
        archive_of_classes::make(&self.home, image, &runtime.concat(), &self.archives, self.limit)?;
        let record = own.join(record::NAME);
        fs::write(&record, self.record(&made)?.text())
            .with_context(|| format!("cannot write {}", record.display()))?;
        permissions::forbid_others_to_write(image)?;
        check::store(image, &own, &self.home.path)?;
        if let Some(output) = &self.arguments.output {
            made.summary.name(output);
        } else {
            made.summary.name(&self.home.path);
        }
        Ok(made)
    }

    /// What the image says of itself.
    fn record(&self, made: &Made) -> Result<Record> {
        let of_jdk = |key: &str| self.home.release.value(key).unwrap_or("unknown").to_owned();
        let version = self.home.release.version().unwrap_or("unknown").to_owned();
        let mut lines = vec![
            ("tool", TOOL.to_owned()),
            ("build", self.build.join(" ")),
            ("key", self.key.clone()),
            ("java", version),
            ("implementor", of_jdk("IMPLEMENTOR")),
            ("options", spelled(self.arguments, self.wanted.as_ref()).join(" ")),
            (record::HAS_MANIFEST, "1".to_owned()),
        ];
        lines.extend(self.archives.iter().map(|archive| ("archive-of-classes", archive.file.to_owned())));
        lines.extend(self.options.iter().map(|option| ("jvm-option", option.clone())));
        lines.extend(made.provenance.lines().map(|line| ("provenance", line.to_owned())));
        Ok(Record::new(lines))
    }

    /// What one says of such an image.
    pub(crate) fn kind(&self) -> &'static str {
        match self.wanted {
            Some(_) if self.marks_alone() => "marked",
            Some(_) => "marked and profiled",
            None => "profiled",
        }
    }

    /// Whether it is marked, and counts nothing.
    fn marks_alone(&self) -> bool {
        self.arguments.choices.marks_alone()
    }

    /// The summary of what was made.
    pub(crate) fn say_made(&self, made: &Made, path: &Path, started: Instant) -> Result<()> {
        let quiet = self.arguments.quiet;
        made.summary.print(started.elapsed(), quiet);
        if quiet {
            return Ok(());
        }
        let version = self.home.release.version().map_or(String::new(), |v| format!(" of Java {v}"));
        let size = Tree::list(path)?.size()?;
        say(&format!(
            "{}: a {} JDK{version}, {} MB, {:.1} s",
            path.display(),
            self.kind(),
            size / 1_000_000,
            started.elapsed().as_secs_f64()
        ));
        if self.left_out > 0 {
            let files = counted(self.left_out as u64, "file");
            say(&format!(
                "note: {files} of archives of plain classes left out ({})",
                stale_names(&self.home)
            ));
        }
        Ok(())
    }
}

/// Fails if the image in a folder leaves behind something else than is wanted.
pub fn check_tool(home: &Path, wanted: Leaves) -> Result<()> {
    let options = options_of(home)?;
    let has = |option: &str| options.iter().any(|given| given == option);
    let left = match () {
        () if has("--tool=trace") => Leaves::Traces,
        () if has("--tool=pcc") => Leaves::Values,
        () if has("--tool=markers") => Leaves::Markers,
        () => Leaves::Profiles,
    };
    if left == wanted {
        return Ok(());
    }
    let ((what, tool), (wanted, wanted_tool)) = (left.words(), wanted.words());
    let made = tool.map_or("to profile".to_owned(), |tool| format!("with {tool}"));
    let home = home.display();
    match (tool, wanted_tool) {
        (_, Some(wanted_tool)) => bail!(
            "{home}: this JDK was made {made} and leaves no {wanted}; give one made with {wanted_tool}, or a plain JDK"
        ),
        (tool, None) => bail!(
            "{home}: this JDK was made {made} and leaves {what}; give {}, or another JDK",
            tool.unwrap_or_default()
        ),
    }
}

/// Fails if the image in a folder was made with other options than are given now. Options that are
/// not given are the image's.
pub fn check_choices(home: &Path, choices: &args::Choices) -> Result<()> {
    let Some(made) = recorded_options(home)? else { return Ok(()) };
    for (flag, given) in choices.given() {
        let is_of_flag = |option: &&String| {
            option.strip_prefix("--").and_then(|option| option.strip_prefix(flag)).is_some_and(is_end_of_flag)
        };
        let of_image: Vec<&String> = made.iter().filter(is_of_flag).collect();
        if of_image.iter().copied().eq(&given) {
            continue;
        }
        let made = if of_image.is_empty() {
            format!("without --{flag}")
        } else {
            format!("with {}", of_image.into_iter().cloned().collect::<Vec<_>>().join(" "))
        };
        bail!(
            "{}: this JDK was made {made}, and {} is given now; leave it out, or give a plain JDK, of which one is made with it",
            home.display(),
            given.join(" ")
        );
    }
    Ok(())
}

/// Whether a flag ends where this begins.
fn is_end_of_flag(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('=')
}

/// Whether properties are checked on the image in a folder; `None` of a folder that is no image
/// with markers.
pub fn checks_properties(home: &Path) -> Result<Option<bool>> {
    let options = options_of(home)?;
    let is_marked = options.iter().any(|option| option == "--tool=markers");
    Ok(is_marked.then(|| options.iter().any(|option| option.starts_with("--typestate="))))
}

/// Whether properties are checked on the image in a folder that has markers beside what counts;
/// `None` of any other.
pub fn checks_properties_beside(home: &Path) -> Result<Option<bool>> {
    let options = options_of(home)?;
    let has = |what: &str| options.iter().any(|option| option.starts_with(what));
    let is_marked = has("--markers=") && !has("--tool=");
    Ok(is_marked.then(|| has("--typestate=")))
}

/// Fails if the image in a folder has markers by other rules than are wanted now.
pub fn check_marked(home: &Path, wanted: &Wanted) -> Result<()> {
    let is_of_rules =
        |option: &String| option.starts_with("--markers=") || option.starts_with("--typestate=");
    let mut options = options_of(home)?;
    options.retain(is_of_rules);
    if options == wanted.spelled_rules() {
        Ok(())
    } else {
        bail!(
            "{}: this JDK was made with other rules; leave out --markers and --typestate, or give a plain JDK, of which one is made with yours",
            home.display()
        )
    }
}

/// What is to be marked, if anything is. Refuses what does not go together.
pub(crate) fn wanted(arguments: &args::Jdk) -> Result<Option<Wanted>> {
    if !arguments.choices.marks_alone() {
        arguments.choices.filter()?;
        if !arguments.choices.marks_beside() {
            return Ok(None);
        }
        if arguments.udi.udi.is_some() {
            bail!("--udi does not go together with markers beside a calling-context tree yet; leave it out");
        }
        return Wanted::beside(&arguments.choices).map(Some);
    }
    for (given, option) in [(arguments.report.is_some(), "--report"), (arguments.udi.udi.is_some(), "--udi")]
    {
        if given {
            bail!("{option} does not go together with --tool markers yet; leave it out");
        }
    }
    Wanted::of(&arguments.choices).map(Some)
}

/// The choices as they are given on a command line; of rules and properties their contents.
pub(crate) fn spelled(arguments: &args::Jdk, wanted: Option<&Wanted>) -> Vec<String> {
    match wanted {
        Some(wanted) if arguments.choices.marks_alone() => wanted.spelled(),
        Some(wanted) => [arguments.choices.spelled(), wanted.spelled_rules()].concat(),
        None => arguments.choices.spelled(),
    }
}

/// The folder of images: the one that was named, or the user's.
fn cache_folder(named: Option<&Path>) -> Result<PathBuf> {
    named.map_or_else(cache::default_folder, |folder| Ok(folder.to_path_buf()))
}

/// What would bring plain classes into the image.
pub(crate) fn is_stale(home: &Home, path: &Path) -> bool {
    let is_archive = path.extension().is_some_and(|extension| extension == "jsa");
    is_archive && path.starts_with(home.server())
        || home.layout == Layout::Modules && path.starts_with("jmods")
}

pub(crate) fn stale_names(home: &Home) -> &'static str {
    match home.layout {
        Layout::Jars { .. } => "classes.jsa",
        Layout::Modules => "classes*.jsa, jmods",
    }
}

/// What a program leaves behind on an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// Profiles.
    Profiles,
    /// Traces.
    Traces,
    /// Values of contexts.
    Values,
    /// What clients of markers print, and what was found of properties.
    Markers,
}

impl Leaves {
    /// What one says of it, and the tool that has a JDK leave it, if that has to be said.
    fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            Leaves::Profiles => ("profiles", None),
            Leaves::Traces => ("traces", Some("--tool trace")),
            Leaves::Values => ("values of contexts", Some("--tool pcc")),
            Leaves::Markers => ("what clients of markers find", Some("--tool markers")),
        }
    }
}

/// The options with which the image in a folder was made; none of a folder that is no image.
fn options_of(home: &Path) -> Result<Vec<String>> {
    Ok(recorded_options(home)?.unwrap_or_default())
}

/// The options with which the image in a folder was made; `None` of a folder that is no image.
fn recorded_options(home: &Path) -> Result<Option<Vec<String>>> {
    let record = Record::of_image(home)?;
    Ok(record.map(|record| {
        let options = record.value("options").unwrap_or_default();
        options.split(' ').map(str::to_owned).collect()
    }))
}
