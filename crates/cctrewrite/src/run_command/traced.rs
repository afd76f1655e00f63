//! `cctrewrite run --tool trace`: each JVM leaves a trace, as it runs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_trace::Trace;

use super::child::{self, Ending};
use super::collection::{Collection, Jvm};
use super::{FAILURE, UNKNOWN, file_name, not_started, quoted};
use crate::args::Run;
use crate::exit::{Outcome, say};
use crate::image::{self, Leaves};
use crate::target_jdk::Target;
use crate::text::counted;

/// Runs the command.
pub fn run(arguments: &Run, command: &OsStr, rest: &[OsString]) -> Result<Outcome> {
    check(arguments)?;
    let output = output(arguments);
    if output.is_dir() {
        bail!("{} is a folder; name a file", output.display());
    }
    let target = Target::of(command, arguments.jdk.as_deref())?;
    let home = image::of_home(target.home, |home| arguments.image(home))?;
    image::check_tool(&home, Leaves::Traces)?;
    let collection = Collection::beside(&output)?;
    collection.tell(&arguments.options())?;
    let program = target.tool.map_or(command.to_owned(), |tool| home.join(tool).into_os_string());
    let code = match child::run(&program, rest, &home, collection.path())? {
        Ending::Code(code) => code,
        Ending::NotFound => return not_started(command, "not found", 127),
        Ending::NotStarted => return not_started(command, "cannot be started", 126),
    };
    let jvms = collection.jvms()?;
    if jvms.is_empty() {
        say(&format!(
            "cctrewrite: {} started no JVM of the tracing JDK {}; a program that names another java by its path is not traced",
            Path::new(command).display(),
            home.display()
        ));
    }
    let missing = deliver(arguments, &output, &jvms)? || jvms.is_empty();
    Ok(Outcome::Passed(if code == 0 && missing { FAILURE } else { code }))
}

/// What is about profiles alone.
fn check(arguments: &Run) -> Result<()> {
    arguments.choices.filter()?;
    let given = [
        (arguments.pcc_memory.is_some(), "--pcc-memory"),
        (arguments.system_threads, "--system-threads"),
        (arguments.max_contexts.is_some(), "--max-contexts"),
        (arguments.recursion != "unbounded", "--recursion"),
        (arguments.wanted.wanted()?.is_some(), "choosing what is in the profile"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, option)) => bail!(
            "--tool trace does not go together with {option}, which is for profiles; leave it out, or rebuild a profile with `cctrewrite trace contexts`"
        ),
        None => Ok(()),
    }
}

/// Where the trace goes.
fn output(arguments: &Run) -> PathBuf {
    match arguments.output == Path::new("cctrewrite.cct") {
        true => PathBuf::from("cctrewrite.trace"),
        false => arguments.output.clone(),
    }
}

fn with_suffix(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(cct_trace::LAST_SUFFIX);
    path.into()
}

fn put(from: &Path, to: &Path) -> Result<()> {
    if fs::rename(from, to).is_err() {
        fs::copy(from, to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

/// Puts the traces in their places; whether some are missing.
fn deliver(arguments: &Run, output: &Path, jvms: &[Jvm]) -> Result<bool> {
    let mut traces = Vec::new();
    let mut missing = false;
    for jvm in jvms {
        let mut place = jvm.place.clone().into_os_string();
        place.push(".trace");
        let place = PathBuf::from(place);
        if place.is_file() {
            traces.push((jvm, place));
        } else {
            missing = true;
            say(&format!(
                "cctrewrite: the JVM of process {} left no trace; it refused to run, or ended before it was ready: {}",
                jvm.process,
                jvm.command()
            ));
        }
    }
    let each = output.with_extension("jvms");
    if traces.len() > 1 {
        fs::create_dir_all(&each).with_context(|| format!("cannot make {}", each.display()))?;
    }
    let count = traces.len();
    for (jvm, from) in traces {
        let trace = Trace::open(&from)?;
        let to = match count {
            1 => output.to_owned(),
            _ => {
                let main = trace.meta.get("main").map_or(UNKNOWN, |main| main);
                each.join(file_name(jvm.number, count, main)).with_extension("trace")
            }
        };
        put(&from, &to)?;
        // What a JVM left in memory that was killed.
        let (last, beside) = (with_suffix(&from), with_suffix(&to));
        if last.is_file() {
            put(&last, &beside)?;
        }
        if !arguments.quiet {
            let threads = counted(trace.threads.len() as u64, "thread");
            let words = counted(trace.words(), "word");
            say(&format!(
                "cctrewrite: {}: {words} of events of {threads}, {} bytes",
                to.display(),
                trace.sizes.file
            ));
            say(&format!("see it: cctrewrite trace info {}", quoted(&to)));
        }
        if !trace.is_complete {
            say(&format!(
                "note: {}: the JVM was killed or crashed; its trace is whole up to the last chunk",
                to.display()
            ));
        }
    }
    Ok(missing)
}
