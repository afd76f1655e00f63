//! `cctrewrite run`: a command on a profiled JDK (docs/use/run.md).
//!
//! `run` finds the JDK that the command would use ([`cct_build::target_jdk`]), takes its image from
//! the cache, and runs the command on it ([`execution`], [`child`]). `JAVA_HOME` and `PATH` lead to
//! the image. A variable tells its JVMs where their profiles go ([`collection`]).
//!
//! A wrapper of `java` would miss JVMs: a JVM starts others by the `java` of its own home.

mod child;
mod collection;
pub mod delivery;
mod execution;
pub mod files;
pub mod markers;
mod missing;
mod no_jvm;
mod own_classes;
mod run_markers;
mod signals;
pub mod traces;
pub mod valued;

use std::path::Path;

use anyhow::{Result, bail};
use cct_build::image::fit::{ToolOutput, check_choices, check_tool};
use cct_build::instrument::filter;
use cct_build::text::shell_word;
use cct_settings::ToolName;
use delivery::{Places, WrittenParts, deliver};
use execution::{Execution, execute};
use files::keep_earlier;
use missing::recover_missing;
use run_markers::RunMarkers;

use crate::args::Run;
use crate::exit::{Outcome, say};

/// Runs the command.
pub fn run(arguments: &Run) -> Result<Outcome> {
    let Some((command, rest)) = arguments.command.split_first() else { bail!("no command") };
    if arguments.choices.marks_alone() {
        return markers::run(arguments, command, rest);
    }
    let beside = RunMarkers::of(arguments, command)?;
    if arguments.choices.settings().traces() {
        return traces::run(arguments, command, rest);
    }
    if arguments.choices.settings().pcc().is_some() {
        return valued::run(arguments, command, rest);
    }
    filter(&arguments.choices)?;
    arguments.recording.check(ToolName::Profile)?;
    let places = Places::of(&arguments.output)?;
    let parts = WrittenParts { wanted: arguments.wanted.wanted()?, library: arguments.library.library()? };
    let check = |home: &Path| {
        check_tool(home, ToolOutput::Profiles)?;
        check_choices(home, arguments.choices.get())?;
        beside.check(home)
    };
    let mut ended = match execute(arguments, command, rest, &places.sum, check)? {
        Execution::Ended(ended) => ended,
        Execution::NotStarted(outcome) => return Ok(outcome),
    };
    let mut jvms = ended.jvms()?;
    let mut missing = recover_missing(&mut jvms, &ended);
    if jvms.is_empty() {
        ended.say_no_jvm("profiled JDK");
    } else {
        missing |= !ended.or_keep(|home| {
            let beside = beside.left(home)?;
            let mut is_whole = true;
            let quiet = arguments.verbosity.quiet;
            let has_profile = jvms.iter().any(|jvm| jvm.profile.is_some());
            let earlier = if has_profile { keep_earlier(&places.sum)? } else { None };
            deliver(&places, &parts, jvms, quiet, |jvm, place| {
                if let Some(left) = beside {
                    is_whole &= left.put(jvm, place, quiet)?;
                }
                Ok(())
            })?;
            if let Some(earlier) = earlier.filter(|_| !quiet) {
                let (now, earlier) = (shell_word(&places.sum), shell_word(&earlier));
                say(&format!("the profile of the run before is {earlier}: cctrewrite diff {earlier} {now}"));
            }
            Ok(is_whole)
        })?;
    }
    Ok(ended.outcome(missing))
}
