//! `cctrewrite run --tool pcc`: each JVM leaves the values of the contexts in which chosen methods were entered, when it ends.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::child::{self, Ending};
use super::collection::{Collection, Jvm};
use super::{FAILURE, UNKNOWN, file_name, not_started, quoted};
use crate::args::Run;
use crate::exit::{Outcome, say};
use crate::image::{self, Leaves};
use crate::pcc_command::read_values;
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
    image::check_tool(&home, Leaves::Values)?;
    image::check_chosen(&home, &arguments.choices)?;
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
            "cctrewrite: {} started no JVM of the JDK {}; a program that names another java by its path leaves no values",
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
        (arguments.system_threads, "--system-threads"),
        (arguments.max_contexts.is_some(), "--max-contexts"),
        (arguments.recursion != "unbounded", "--recursion"),
        (arguments.identity_is_by_loader(), "--identity"),
        (arguments.wanted.wanted()?.is_some(), "choosing what is in the profile"),
    ];
    if let Some((_, option)) = given.iter().find(|(given, _)| *given) {
        bail!("--tool pcc does not go together with {option}, which is for profiles; leave it out");
    }
    match arguments.tracing.given() {
        Some(option) => {
            bail!("{option} says how a trace is written; give --tool trace with it, or leave it out")
        }
        None => Ok(()),
    }
}

/// Where the values go.
fn output(arguments: &Run) -> PathBuf {
    match arguments.output == Path::new("cctrewrite.cct") {
        true => PathBuf::from("cctrewrite.pcc"),
        false => arguments.output.clone(),
    }
}

/// Puts the files in their places; whether some are missing.
fn deliver(arguments: &Run, output: &Path, jvms: &[Jvm]) -> Result<bool> {
    let mut files = Vec::new();
    for jvm in jvms {
        let mut place = jvm.place.clone().into_os_string();
        place.push(".pcc");
        let place = PathBuf::from(place);
        if place.is_file() {
            files.push((jvm, place));
        } else {
            say(&format!(
                "cctrewrite: the JVM of process {} left no values; it refused to run, was killed, or still runs: {}",
                jvm.process,
                jvm.command()
            ));
        }
    }
    let missing = files.len() < jvms.len();
    let each = output.with_extension("jvms");
    if files.len() > 1 {
        fs::create_dir_all(&each).with_context(|| format!("cannot make {}", each.display()))?;
    }
    let count = files.len();
    for (jvm, from) in files {
        let recorded = read_values(&from)?;
        let to = match count {
            1 => output.to_owned(),
            _ => {
                let main = recorded.meta.get("main").map_or(UNKNOWN, |main| main);
                each.join(file_name(jvm.number, count, main)).with_extension("pcc")
            }
        };
        if fs::rename(&from, &to).is_err() {
            fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
        }
        if arguments.quiet {
            continue;
        }
        let values: usize = recorded.counts.values().map(|values| values.len()).sum();
        let (values, methods) =
            (counted(values as u64, "value"), counted(recorded.counts.len() as u64, "method"));
        say(&format!("cctrewrite: {}: {values} at {methods}", to.display()));
        for note in &recorded.notes {
            say(&format!("note: {note}"));
        }
        say(&format!("see it: cctrewrite pcc dump {}", quoted(&to)));
    }
    Ok(missing)
}
