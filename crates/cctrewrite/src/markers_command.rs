//! `cctrewrite markers`: checks rules without rewriting, and writes the runtime's jar for compiling
//! clients.

use anyhow::Result;
use cct_build::inputs::Sources;
use cct_build::marking::{self, Tally};
use cct_build::pending_file::PendingFile;
use cct_build::text::readable;
use cct_markers::{Callers, MarkedClass, Way, weave};
use cct_profile::report::grouped;

use crate::args::{MarkersCheck, MarkersCommand};
use crate::exit::{say, text_to_stdout};

/// Runs the command.
pub fn run(command: &MarkersCommand) -> Result<()> {
    match command {
        MarkersCommand::Check(arguments) => check(arguments),
        MarkersCommand::Jar(arguments) => {
            let jar = marking::jar()?;
            Ok(PendingFile::write(&arguments.output, |out| out.write_all(&jar))?.commit()?)
        }
    }
}

fn check(arguments: &MarkersCheck) -> Result<()> {
    let rules = marking::rules(std::slice::from_ref(&arguments.rules))?;
    if arguments.inputs.is_empty() {
        return text_to_stdout(|out| {
            for rule in &rules.list {
                let kind = if rule.pair { "pair" } else { "one-way" };
                let callers = match rule.callers {
                    Callers::All => "",
                    Callers::Program => ", outside the class library",
                };
                writeln!(out, "line {}: {} at {}, {kind}{callers}", rule.line, rule.token, rule.at.name())?;
            }
            Ok::<(), std::io::Error>(())
        });
    }
    let sources = Sources::open(&arguments.inputs, &arguments.library, &arguments.limits.limits())?;
    let world = marking::world(sources.inputs.iter().chain(&sources.libraries))?;
    let mut tally = Tally::new(&rules);
    let mut places = Vec::new();
    for input in &sources.inputs {
        let survey = input.survey(|at, bytes| -> Result<Option<(String, MarkedClass, Option<String>)>> {
            let Ok(class) = cct_classfile::ClassFile::parse(bytes) else { return Ok(None) };
            let marked = weave::matches(&class, &Way::new(&rules, &world));
            let (marked, stays) = marking::unless_refused(&class, marked)?;
            Ok(Some((format!("{at}: {}", readable(class.name())), marked, stays)))
        })?;
        for (class, marked, stays) in survey.classes.into_iter().flatten() {
            if let Some(stays) = stays {
                say(&format!("warning: {stays}"));
            }
            tally.add(&marked);
            for descriptor in &marked.descriptors {
                places.push(format!("{class} {}", marking::shown(descriptor)));
            }
        }
    }
    text_to_stdout(|out| {
        if arguments.places {
            for place in &places {
                writeln!(out, "{place}")?;
            }
        }
        for line in tally.lines(&rules) {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "{} locations", grouped(places.len() as u128))
    })
}
