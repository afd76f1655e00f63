//! Marking of all inputs of a run.

use std::collections::BTreeSet;

use cct_archive::{Failure, Input, RewriteOptions, StagedOutput, Target};
use cct_markers::{Error, World};

use super::above::library;
use super::marks::{Marks, Record};
use super::{Marking, Tally};
use crate::check_failed::CheckFailed;
use crate::driver::Driver;
use crate::inputs::BadClasses;
use crate::observer::Observer;
use crate::text::counted;

/// Options of marked outputs, besides inputs and rules.
#[derive(Debug, Clone)]
pub struct OutputOptions<'m> {
    /// Treatment of entries that are named like class files but are none.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// The lines of each output's description. `None` for outputs in an image, which has its own
    /// description.
    pub lines: Option<String>,
    /// Whether classes are checked against their originals.
    pub verify: bool,
    /// JVM options, one on each line. The only input, the modules of a JDK, gets them as a
    /// resource.
    pub options: Option<&'m str>,
}

/// Inputs that were marked.
#[derive(Debug)]
pub struct MarkedInputs {
    /// One output for each input, not in its place yet.
    pub outputs: Vec<StagedOutput<Record>>,
    /// Numbers of marked locations, and refusals, of each rule.
    pub tally: Tally,
    /// Number of classes with markers.
    pub classes: u64,
    /// Number of markers in these classes.
    pub markers: u64,
    /// Messages about classes that stay unchanged, in the order of the inputs.
    pub stays: Vec<String>,
    /// Names of attributes that were dropped.
    pub dropped: BTreeSet<String>,
    /// Number of classes that were checked against their originals, and the findings with their
    /// locations.
    checks: (u64, Vec<String>),
}

/// Marks all inputs, each to its target. Warns of the notices of outputs.
///
/// # Errors
/// Fails if an input cannot be read, or if a class file is damaged and may not be kept.
pub fn mark_all(
    marking: &Marking,
    world: &World,
    inputs: &[Input],
    targets: &[Target],
    how: &OutputOptions<'_>,
    observer: &dyn Observer,
) -> Result<MarkedInputs, Failure<Error>> {
    let options = RewriteOptions { level: how.level, ..RewriteOptions::default() };
    let tally = Tally::new(&marking.rules);
    let (outputs, stays, dropped) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut done =
        MarkedInputs { outputs, tally, classes: 0, markers: 0, stays, dropped, checks: (0, Vec::new()) };
    for (input, target) in inputs.iter().zip(targets) {
        let marks = Marks {
            rules: &marking.rules,
            world,
            bad: how.bad,
            lines: how.lines.as_deref(),
            library: library(input),
            verify: how.verify,
        };
        let output = Driver::new(marks, how.patches, how.options).write(input, target, &options)?;
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
            observer.warn(&format!("cctrewrite: {notice}"));
        }
        done.outputs.push(output);
    }
    Ok(done)
}

impl MarkedInputs {
    /// Warns of classes that stay unchanged, and of dropped attributes.
    pub fn warn(&self, observer: &dyn Observer) {
        for class in &self.stays {
            observer.warn(&format!("warning: {class}"));
        }
        for name in &self.dropped {
            observer.warn(&format!(
                "cctrewrite: attribute {name} of code may hold bytecode indices and was left out"
            ));
        }
    }

    /// Fails if the check of a class against its original found something.
    ///
    /// # Errors
    /// The first finding. That is a fault of this program.
    pub fn check(&self) -> Result<(), CheckFailed> {
        let (_, findings) = &self.checks;
        CheckFailed::unless_empty("marked", findings)
    }

    /// A line with the number of checked classes; `None` if no class was checked.
    pub fn checked(&self) -> Option<String> {
        let (classes, _) = self.checks;
        let classes = (classes > 0).then(|| counted(classes, "class"))?;
        Some(format!("checked against their originals: {classes}, no findings"))
    }

    /// The numbers of markers and of classes that have them, in words.
    pub fn totals(&self) -> String {
        format!("{} in {}", counted(self.markers, "marker"), counted(self.classes, "class"))
    }
}
