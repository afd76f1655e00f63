//! `cctrewrite flags`: the JVM options that put outputs in place, and those that exact numbers
//! need.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cct_archive::{INDEX_NAME, Input, InputKind, Limits};
use cct_build::jvm_options::{exactness, reproducible, stack_traces};
use cct_build::marking;
use cct_build::place::{PLACE_NAME, Place, RESOLVED_NAME};
use cct_build::text::shell_option;
use cct_build::{load_time, output};

use crate::args::Flags;
use crate::exit;

/// An output of `instrument`.
struct Output {
    /// The path as the user gave it.
    shown: PathBuf,
    /// Absolute, without `.`, `..` and links.
    path: PathBuf,
    place: Place,
    has_object: bool,
    provenance: String,
    /// If this is a class library, the feature release of its JDK.
    feature: Option<u16>,
    /// If this is a folder of patches, the modules that a JVM resolves.
    resolved: Option<Vec<String>>,
}

/// Runs the command.
pub fn run(arguments: &Flags) -> Result<()> {
    if let Some(mut options) = marking::flags(&arguments.outputs)? {
        options.extend(fast(arguments));
        return print(&options, arguments.one_line);
    }
    let mut outputs = Vec::new();
    for path in &arguments.outputs {
        outputs.push(Output::open(path)?);
    }
    for (i, first) in outputs.iter().enumerate() {
        for second in &outputs[..i] {
            let [(a, its), (b, others)] =
                [second, first].map(|o| (o.shown.display().to_string(), &*o.provenance));
            output::check_fit((&a, its), (&b, others))?;
        }
    }
    let with_object: Vec<&Output> = outputs.iter().filter(|output| output.has_object).collect();
    if let [first, second, ..] = *with_object {
        let (first, second) = (first.shown.display(), second.shown.display());
        bail!("{first} and {second} both have java.lang.Object; give one class library");
    }
    let library = with_object.first().copied();
    let mut options = placing(&outputs)?;
    let patches = Patches::of(&outputs, library)?;
    options.extend(patches.options()?);
    if let Some(library) = library {
        options.extend(exact(library, arguments)?);
    }
    options.extend(marking::flags_beside(&arguments.outputs)?);
    for hint in hints(&outputs)?.into_iter().chain(patches.hint()) {
        exit::say(&format!("cctrewrite: {hint}"));
    }
    print(&options, arguments.one_line)
}

fn print(options: &[String], one_line: bool) -> Result<()> {
    let separator = if one_line { " " } else { "\n" };
    let options: Vec<String> = options.iter().map(|option| shell_option(option)).collect();
    if options.is_empty() {
        return Ok(());
    }
    exit::to_stdout(|out| writeln!(out, "{}", options.join(separator)))
}

/// The JVM options that exact numbers need with this class library.
fn exact(library: &Output, arguments: &Flags) -> Result<Vec<String>> {
    let no_class = || format!("{}: its index does not list java.lang.Object", library.shown.display());
    let feature = library.feature.with_context(no_class)?;
    let mut options = Vec::new();
    if !arguments.no_load_time {
        match load_time::library()? {
            Some(path) => options.push(format!("-Dcctrewrite.loadtime={}", path_list([&*path])?)),
            None => exit::say(&format!("cctrewrite: {}", load_time::missing())),
        }
    }
    options.extend(stack_traces::spelled(arguments.stack_depth, feature.into()));
    // All outputs agree in these settings.
    let is = |key, wanted| output::value(&library.provenance, key) == Some(wanted);
    options.extend(exactness::spelled(feature.into(), !is("intrinsics", "native")));
    if is("natives", "prefix") {
        options.push(format!("-agentpath:{}", path_list([&*load_time::prefix()?])?));
    }
    if is("reproducible", "yes") {
        options.extend(reproducible::spelled(feature));
    }
    if output::value(&library.provenance, "cost-model").is_some() {
        options.push(exactness::WITHOUT_SYSTEM_THREADS.to_owned());
    }
    options.extend(fast(arguments));
    Ok(options)
}

/// The options for speed, if `--fast` is given.
fn fast(arguments: &Flags) -> impl Iterator<Item = String> + use<> {
    let wanted = if arguments.fast { exactness::FAST } else { &[] };
    wanted.iter().map(|&option| option.to_owned())
}

impl Output {
    fn open(path: &Path) -> Result<Output> {
        let input = Input::open(path, &Limits::default())?;
        let again =
            |what: String| anyhow!("{}: {what}; make one with `cctrewrite instrument`", path.display());
        let provenance = output::provenance(&input)?;
        let provenance =
            provenance.ok_or_else(|| again(format!("not an output of cctrewrite (no {INDEX_NAME})")))?;
        if input.kind() == InputKind::Image && output::entry(&input, INDEX_NAME)?.is_none() {
            bail!(
                "{}: part of a profiled JDK, whose options are built in; run that JDK's `java`",
                path.display()
            );
        }
        let place = output::entry(&input, PLACE_NAME)?.and_then(|text| Place::parse(&text));
        let place =
            place.ok_or_else(|| again(format!("its place in a JDK is not recorded (in {PLACE_NAME})")))?;
        let feature = output::feature(&input)?;
        let cannot = || format!("{}: cannot find", path.display());
        Ok(Output {
            shown: path.to_path_buf(),
            path: fs::canonicalize(path).with_context(cannot)?,
            has_object: place == Place::Patches || output::has_object(&input),
            place,
            provenance,
            feature,
            resolved: output::lines(&input, RESOLVED_NAME)?,
        })
    }

    fn is(&self, place: &Place) -> bool {
        self.place == *place
    }
}

/// The options that put outputs in place.
fn placing(outputs: &[Output]) -> Result<Vec<String>> {
    let mut boot: Vec<&Output> = outputs.iter().filter(|output| output.is(&Place::Boot)).collect();
    // The output with java.lang.Object has the runtime, so it comes first. The sort is stable: the
    // others keep their order.
    boot.sort_by_key(|output| !output.has_object);
    let folders: BTreeSet<&Path> = outputs
        .iter()
        .filter(|output| output.is(&Place::Extension))
        .filter_map(|output| output.path.parent())
        .collect();
    let mut options = Vec::new();
    if !boot.is_empty() {
        options.push(format!("-Xbootclasspath/p:{}", path_list(boot.iter().map(|output| &*output.path))?));
    }
    if !folders.is_empty() {
        options.push(format!("-Djava.ext.dirs={}", path_list(folders)?));
    }
    Ok(options)
}

/// Jars for `--patch-module`.
#[derive(Debug, Default)]
struct Patches {
    /// The outputs that are, or hold, such jars.
    outputs: Vec<PathBuf>,
    /// Jars by module.
    jars: BTreeMap<String, PathBuf>,
    /// Jars by module that are not named to the JVM. It would warn of modules that it does not
    /// resolve.
    left_out: BTreeMap<String, PathBuf>,
}

impl Patches {
    fn of(outputs: &[Output], library: Option<&Output>) -> Result<Patches> {
        let mut patches = Patches::default();
        for output in outputs {
            match &output.place {
                Place::Patch(module) => {
                    patches.jars.insert(module.clone(), output.path.clone());
                }
                Place::Patches => patches.jars.extend(jars_in(&output.path)?),
                _ => continue,
            }
            patches.outputs.push(output.path.clone());
        }
        if let Some(resolved) = library.and_then(|library| library.resolved.as_ref()) {
            (patches.jars, patches.left_out) = std::mem::take(&mut patches.jars)
                .into_iter()
                .partition(|(module, _)| resolved.contains(module));
        }
        Ok(patches)
    }

    fn options(&self) -> Result<Vec<String>> {
        let mut options = Vec::new();
        for (module, jar) in &self.jars {
            options.push(format!("--patch-module={module}={}", path_list([&**jar])?));
        }
        if !self.outputs.is_empty() {
            options.push(format!("-Dcctrewrite.outputs={}", path_list(self.outputs.iter().map(|p| &**p))?));
        }
        Ok(options)
    }

    fn hint(&self) -> Option<String> {
        let (module, jar) = self.left_out.first_key_value()?;
        let modules: Vec<&str> = self.left_out.keys().map(String::as_str).collect();
        Some(format!(
            "a program that adds one of these modules also needs its patch, as in \
             --add-modules={module} --patch-module={module}={}: {}",
            jar.display(),
            modules.join(", ")
        ))
    }
}

/// The jars in a folder, by their names without the extension.
fn jars_in(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let cannot = || format!("cannot list {}", folder.display());
    let mut jars = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_some_and(|extension| extension == "jar")
            && let Some(name) = path.file_stem()
        {
            jars.insert(name.to_string_lossy().into_owned(), path);
        }
    }
    Ok(jars)
}

fn path_list<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<String> {
    let joined = std::env::join_paths(paths).context("a list of paths cannot contain this path")?;
    joined.into_string().map_err(|path| anyhow!("{} is not Unicode; rename it", path.display()))
}

/// What a user must know, or do besides passing the options.
fn hints(outputs: &[Output]) -> Result<Vec<String>> {
    let mut hints = Vec::new();
    if !outputs.iter().any(|output| output.has_object) {
        hints.push(
            "none of these outputs has java.lang.Object; also give the instrumented class library, \
             which determines the options for exact numbers (a profiled JDK needs none)"
                .to_owned(),
        );
    }
    let module = outputs.iter().find_map(|output| output::value(&output.provenance, "udi"));
    hints.extend(module.map(|module| {
        format!(
            "the module {module} transforms classes at load time only if -Dcctrewrite.udi names \
             its file (docs/research/udi.md)"
        )
    }));
    let extensions: Vec<&Output> = outputs.iter().filter(|output| output.is(&Place::Extension)).collect();
    let folders: BTreeSet<&Path> = extensions.iter().filter_map(|output| output.path.parent()).collect();
    for folder in folders {
        let others = other_jars(folder, &extensions)?;
        let folder = folder.display();
        if !others.is_empty() {
            hints.push(format!(
                "the JVM loads all jars in {folder} as extensions, including these, which are not \
                 outputs for the extension folder: {}",
                others.join(", ")
            ));
        }
        hints.push(format!(
            "{folder} replaces the JDK's extension folder: extensions that are not in it are missing"
        ));
    }
    for output in outputs {
        let path = output.shown.display();
        match &output.place {
            Place::Image => hints.push(format!(
                "{path} replaces {} in a copy of its JDK; run that with -Xshare:off, as the JDK's \
                 class data archive does not fit it. `cctrewrite jdk` makes such a copy, with all \
                 options built in",
                if output.path.is_dir() { "modules" } else { "lib/modules" }
            )),
            Place::Jmod => hints.push(format!(
                "{path} is for jlink, together with all other jmods of the same run; use these \
                 options with the JDK that jlink makes"
            )),
            _ => {}
        }
    }
    for output in outputs.iter().filter(|output| output.is(&Place::Application)) {
        let (path, word) = (output.shown.display(), shell_option(&output.shown.display().to_string()));
        hints.push(format!("put {path} on the class path instead of its original (java ... -cp {word})"));
    }
    Ok(hints)
}

/// Names of the jars in a folder that are not among `known`, sorted.
fn other_jars(folder: &Path, known: &[&Output]) -> Result<Vec<String>> {
    let cannot = || format!("cannot list {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let is_jar = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar"));
        if is_jar && !known.iter().any(|output| output.path == path) {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}
