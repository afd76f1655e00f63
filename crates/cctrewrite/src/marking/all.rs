//! All inputs of a run, marked.

use std::collections::BTreeSet;
use std::sync::Mutex;

use anyhow::{Result, bail};
use cct_archive::{Input, Layout, RewriteOptions, Staged, Target};
use cct_build::vm_options::VmOptions;
use cct_build::{jdk, output};
use cct_markers::{Library, World};

use super::driver::{Driver, Record};
use super::{Tally, Wanted};
use crate::exit::say;
use crate::inputs::BadClasses;
use crate::text::counted;

/// What decides beside inputs and rules.
#[derive(Debug, Clone)]
pub struct Manner<'m> {
    /// What to do with entries that are no classes.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// What outputs say of themselves; those of an image say nothing, since the image does.
    pub lines: Option<String>,
    /// Whether classes are checked against their originals.
    pub verify: bool,
    /// JVM options that the only input, the modules of a JDK, gets as a resource (one on each
    /// line).
    pub options: Option<&'m str>,
}

/// What became of a run.
#[derive(Debug)]
pub struct Done {
    /// One for each input, not in their places yet.
    pub outputs: Vec<Staged<Record>>,
    /// What became of rules.
    pub tally: Tally,
    /// How many classes have markers.
    pub classes: u64,
    /// How many markers they have.
    pub markers: u64,
    /// What is said of classes that stay as they are, in the order of the inputs.
    pub stays: Vec<String>,
    /// Names of attributes that were left out.
    pub dropped: BTreeSet<String>,
    /// How many classes were checked against their originals, and what was found, with where it
    /// was.
    checks: (u64, Vec<String>),
}

/// Marks all inputs, each to its target. What outputs have to say is said.
pub fn mark_all(
    wanted: &Wanted,
    world: &World,
    inputs: &[Input],
    targets: &[Target],
    manner: &Manner<'_>,
) -> Result<Done> {
    let options = RewriteOptions { level: manner.level, ..RewriteOptions::default() };
    let tally = Tally::new(&wanted.rules);
    let (outputs, stays, dropped) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut done = Done { outputs, tally, classes: 0, markers: 0, stays, dropped, checks: (0, Vec::new()) };
    for (input, target) in inputs.iter().zip(targets) {
        let driver = Driver {
            rules: &wanted.rules,
            world,
            bad: manner.bad,
            lines: manner.lines.as_deref(),
            library: library(input),
            patches: manner.patches,
            verify: manner.verify,
            options: manner.options.map(VmOptions::new),
            modules: Mutex::default(),
        };
        let output = if manner.patches {
            input.rewrite_as_patches(target, &options, &driver)?
        } else {
            input.rewrite(target, &options, &driver)?
        };
        for record in &output.account().records {
            done.tally.add(&record.marked);
            done.classes += u64::from(record.changed);
            done.markers += record.marked.descriptors.len() as u64;
            done.stays.extend(record.stays.clone());
            done.dropped.extend(record.marked.dropped_attributes.iter().cloned());
            if let Some(findings) = &record.findings {
                done.checks.0 += 1;
                done.checks.1.extend(findings.iter().cloned());
            }
        }
        for notice in &output.account().notices {
            say(&format!("cctrewrite: {notice}"));
        }
        done.outputs.push(output);
    }
    Ok(done)
}

impl Done {
    /// Says which classes were left out, and what was left out of others.
    pub fn warn(&self) {
        for class in &self.stays {
            say(&format!("warning: {class}"));
        }
        for name in &self.dropped {
            say(&format!("cctrewrite: attribute {name} of code may hold bytecode indices and was left out"));
        }
    }

    /// Fails if a check of a class against its original found something: that is a fault of this
    /// program.
    pub fn check(&self) -> Result<()> {
        let (_, findings) = &self.checks;
        let Some(first) = findings.first() else { return Ok(()) };
        bail!(
            "the check of marked classes against their originals found something, which is a fault of cctrewrite: {first} ({} in all)",
            counted(findings.len() as u64, "finding")
        );
    }

    /// How many classes were checked, if any was.
    pub fn checked(&self) -> Option<String> {
        let (classes, _) = self.checks;
        let classes = (classes > 0).then(|| counted(classes, "class"))?;
        Some(format!("checked against their originals: {classes}, nothing was found"))
    }

    /// How much was marked.
    pub fn totals(&self) -> String {
        format!("{} in {}", counted(self.markers, "marker"), counted(self.classes, "class"))
    }
}

/// The class library that an input is part of.
fn library(input: &Input) -> Option<Library> {
    let is_library = jdk::home_around(input.path()).is_some() || output::has_object(input);
    is_library.then_some(if input.layout() == Layout::Plain { Library::BootPath } else { Library::Modules })
}
