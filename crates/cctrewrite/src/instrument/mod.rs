//! `cctrewrite instrument`: survey, plan, rewrite, put in place.

mod driver;
mod jdk;
mod summary;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use cct_archive::{Input, InputKind, Limits, RewriteOptions, Target};
use cct_rewrite::provenance::{self, Provenance};
use cct_rewrite::{BlockRule, ClassSummary, Metrics, Rewriter, Role, Settings, World, hooks};

use crate::args::{BlocksArgument, Instrument, MetricsArgument};
use crate::filter::Filter;
use driver::Driver;

/// Name and version, as they stand in outputs.
pub const TOOL: &str = concat!("cctrewrite ", env!("CARGO_PKG_VERSION"));

/// Runs the command.
pub fn run(arguments: &Instrument) -> Result<()> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads);
    }
    pool.build().context("cannot start worker threads")?.install(|| instrument(arguments))
}

fn instrument(arguments: &Instrument) -> Result<()> {
    let started = std::time::Instant::now();
    let limits = Limits::default();
    let open = |path: &PathBuf| Input::open(path, &limits).map_err(anyhow::Error::from);
    let inputs: Vec<Input> = arguments.inputs.iter().map(open).collect::<Result<_>>()?;
    let targets = targets(arguments, &inputs)?;
    let filter = Filter::new(&arguments.include, &arguments.exclude)?;
    let settings = settings(arguments);

    let mut summary = summary::Summary::new(settings);
    let rewriter = {
        let libraries = libraries(arguments, &inputs, &limits)?;
        let mut classes: Vec<(Role, ClassSummary)> = Vec::new();
        let mut of_jdk: Vec<bool> = Vec::new();
        for (role, input) in inputs.iter().map(|i| (Role::Input, i)).chain(libraries.iter().map(|i| (Role::Library, i))) {
            let survey = input.survey(|at, bytes| survey_class(role, at, bytes))?;
            let found: Vec<ClassSummary> = survey.classes.into_iter().flatten().collect();
            let object = found.iter().find(|c| *c.name == *cct_rewrite::convention::OBJECT);
            // What the inputs will run on is rewritten too, or they could not run.
            let role = match object {
                Some(object) if role == Role::Library && !object.rewritten => Role::Companion,
                _ => role,
            };
            let is_library = jdk::home_around(input.path()).is_some() || object.is_some();
            classes.extend(found.into_iter().map(|c| (role, c)));
            of_jdk.resize(classes.len(), is_library);
            summary.notices.extend(survey.notices.iter().map(ToString::to_string).filter(|_| role == Role::Input));
        }
        let library = classes.iter().zip(&of_jdk).filter(|(_, of_jdk)| **of_jdk).map(|((_, class), _)| class);
        let jdk = provenance::library_hash(library);
        let world = World::new(classes);
        summary.duplicates(&world);
        Rewriter::new(world, settings, Provenance::new(TOOL, &settings, jdk), move |class| filter.records(class))?
    };

    let driver = Driver::new(&rewriter);
    let mut staged = Vec::with_capacity(inputs.len());
    for (input, target) in inputs.iter().zip(&targets) {
        let output = input.rewrite(target, &RewriteOptions::default(), &driver)?;
        summary.add_output(output.account());
        staged.push(output);
    }
    if let Some(path) = &arguments.report {
        let file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        serde_json::to_writer_pretty(std::io::BufWriter::new(file), &summary.completeness())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    for output in staged {
        output.commit()?;
    }
    summary.print(started.elapsed());
    Ok(())
}

/// Summarises one class. What is no class file at all stays as it is where it is only surveyed, and is an error where it should be rewritten.
fn survey_class(role: Role, at: &cct_archive::Location<'_>, bytes: &[u8]) -> Result<Option<ClassSummary>, cct_rewrite::Error> {
    let versioned = at.entry.name.starts_with("META-INF/versions/");
    match ClassSummary::parse(bytes) {
        // A versioned class of a library does not stand for its name.
        Ok(_) if role == Role::Library && versioned => Ok(None),
        Ok(summary) if hooks::is_runtime_class(&summary.name) => match role {
            Role::Library | Role::Companion => Ok(None),
            Role::Input => Err(cct_rewrite::Error::AlreadyRewritten(String::from_utf8_lossy(&summary.name).into_owned())),
        },
        Ok(summary) => Ok(Some(summary)),
        Err(_) if role == Role::Library => Ok(None),
        Err(e) => Err(e),
    }
}

fn settings(arguments: &Instrument) -> Settings {
    Settings {
        metrics: match arguments.metrics {
            MetricsArgument::Calls => Metrics::Calls,
            MetricsArgument::Bytecodes => Metrics::CallsAndBytecodes,
        },
        blocks: match arguments.blocks {
            BlocksArgument::Default => BlockRule::Default,
            BlocksArgument::Precise => BlockRule::Precise,
        },
    }
}

/// One target for each input.
fn targets(arguments: &Instrument, inputs: &[Input]) -> Result<Vec<Target>> {
    let all: Vec<&Input> = inputs.iter().collect();
    if let [input] = inputs {
        let mut path = arguments.output.clone();
        if input.kind() == InputKind::Jar && path.is_dir() {
            path = path.join(file_name(input)?);
        }
        return Ok(vec![Target::new(&path, &all)?]);
    }
    std::fs::create_dir_all(&arguments.output)
        .with_context(|| format!("cannot make the output folder {}", arguments.output.display()))?;
    let mut names = Vec::new();
    let mut targets = Vec::new();
    for input in inputs {
        let name = file_name(input)?;
        if names.contains(&name) {
            bail!("two inputs are called {}: their outputs would be one; instrument them in separate runs", name.display());
        }
        targets.push(Target::new(&arguments.output.join(&name), &all)?);
        names.push(name);
    }
    Ok(targets)
}

fn file_name(input: &Input) -> Result<PathBuf> {
    let canonical = std::fs::canonicalize(input.path())?;
    let name = input.path().file_name().or(canonical.file_name());
    name.map(PathBuf::from).with_context(|| format!("{} has no name to give to its output", input.path().display()))
}

/// The libraries named, and the rest of each JDK in which an input or a library lies.
fn libraries(arguments: &Instrument, inputs: &[Input], limits: &Limits) -> Result<Vec<Input>> {
    let mut paths: Vec<PathBuf> = arguments.library.clone();
    for path in arguments.inputs.iter().chain(&arguments.library) {
        paths.extend(jdk::class_library_around(path));
    }
    let mut seen: Vec<PathBuf> = inputs.iter().filter_map(|i| std::fs::canonicalize(i.path()).ok()).collect();
    let mut libraries = Vec::new();
    for path in paths {
        let canonical = std::fs::canonicalize(&path).with_context(|| format!("cannot find {}", path.display()))?;
        if !seen.contains(&canonical) {
            libraries.push(Input::open(&path, limits)?);
            seen.push(canonical);
        }
    }
    Ok(libraries)
}
