//! `cctrewrite run` with rules for markers. Beside its profile, each JVM leaves what clients of
//! markers print, and a report about properties.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Result, bail};
use cct_build::image::fit;
use cct_build::instrument::filter;
use cct_build::marking::Marking;
use cct_build::target_jdk::Target;

use super::files::with_suffix;
use super::markers::{put_printed, put_report};
use crate::args::Run;
use crate::exit::say;
use crate::run_folder::Jvm;

/// Extensions of the files beside profiles: what clients print, and reports about properties.
pub const EXTENSIONS: [&str; 2] = ["markers", "typestate"];

/// The markers that a command line asks for in addition to a profile.
pub struct RunMarkers<'a> {
    arguments: &'a Run,
    marking: Option<Marking>,
}

impl<'a> RunMarkers<'a> {
    /// Refuses options that contradict each other, before anything is made.
    pub fn of(arguments: &'a Run, command: &OsStr) -> Result<RunMarkers<'a>> {
        let choices = &arguments.choices;
        if choices.has_rules() {
            filter(choices)?;
            let marking = Marking::beside(choices)?;
            if arguments.recording.is_given("typestate-budget") && choices.typestate.is_empty() {
                bail!("{NO_PROPERTIES}");
            }
            return Ok(RunMarkers { arguments, marking: Some(marking) });
        }
        if let Some(option) = arguments.recording.of_markers() {
            // The JDK may be an image that has its own rules.
            let target = Target::of(command, arguments.jdk.as_deref())?;
            if fit::checks_properties_beside(&target.home)?.is_none() {
                bail!("--{option} needs rules for markers; add --markers or --typestate, or leave it out");
            }
        }
        Ok(RunMarkers { arguments, marking: None })
    }

    /// Fails if the image in a folder does not have the wanted rules.
    pub fn check(&self, home: &Path) -> Result<()> {
        let checks_properties = fit::checks_properties_beside(home)?;
        match (&self.marking, checks_properties) {
            (Some(marking), Some(_)) => fit::check_marked(home, marking)?,
            (Some(_), None) => bail!(
                "{}: this JDK was made without markers; leave out --markers and --typestate, or \
                 name a plain JDK, from which cctrewrite makes one with your rules",
                home.display()
            ),
            (None, _) => {}
        }
        match checks_properties {
            Some(false) if self.arguments.recording.is_given("typestate-budget") => bail!("{NO_PROPERTIES}"),
            _ => Ok(()),
        }
    }

    /// The files that JVMs of the image in a folder leave beside profiles; `None` if there are
    /// none.
    pub fn left(&self, home: &Path) -> Result<Option<MarkerFiles>> {
        let Some(checks_properties) = fit::checks_properties_beside(home)? else { return Ok(None) };
        // The rules of properties print nothing by themselves.
        let prints = !checks_properties
            || !self.arguments.choices.markers.is_empty()
            || self.arguments.recording.is_given("client");
        Ok(Some(MarkerFiles { checks_properties, prints }))
    }
}

/// The message about a budget without properties.
const NO_PROPERTIES: &str = "--typestate-budget needs properties; add --typestate, or leave it out";

/// The files that JVMs leave beside profiles.
#[derive(Debug, Clone, Copy)]
pub struct MarkerFiles {
    checks_properties: bool,
    prints: bool,
}

impl MarkerFiles {
    /// Moves these files of a JVM to where its profile is, and reports their contents. Returns
    /// whether no file is missing.
    pub fn put(self, jvm: &Jvm, profile: &Path, quiet: bool) -> Result<bool> {
        type PutFile = fn(&Path, &Path, bool) -> Result<()>;
        let [printed, report] = EXTENSIONS;
        let all: [(bool, &str, PutFile); 2] =
            [(self.checks_properties, report, put_report), (self.prints, printed, put_printed)];
        let mut is_whole = true;
        for (_, extension, put) in all.into_iter().filter(|(is_left, ..)| *is_left) {
            let from = with_suffix(&jvm.place, &format!(".{extension}"));
            if from.is_file() {
                put(&from, &profile.with_extension(extension), quiet)?
            } else {
                is_whole = false;
                say(&format!(
                    "cctrewrite: the JVM of process {} left no output of its markers; it was \
                     killed, halted, or still runs: {}",
                    jvm.process,
                    jvm.command()
                ));
                break;
            }
        }
        Ok(is_whole)
    }
}
