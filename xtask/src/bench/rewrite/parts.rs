//! How time grows with the number of classes: parts of `rt.jar`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::inputs::Input;
use super::peers::Peer;
use super::section::Row;
use super::subject::{Bench, Subject};
use crate::bench::chart::{Across, Chart, Curve};
use crate::jdks::Jdk;

/// Of each so many classes a part has the first ones, so that all parts have classes of all
/// packages.
const OF: u32 = 8;
const PARTS: [u32; 4] = [1, 2, 4, 8];

/// What is measured on the parts.
const SUBJECTS: [Subject; 4] =
    [Subject::OwnCopy, Subject::OneThread, Subject::AllThreads, Subject::Peer(Peer::AsmTransform)];

/// A part, and what was measured on it.
pub struct Part {
    /// Eighths of the whole.
    pub eighths: u32,
    /// Its classes.
    pub classes: u64,
    /// Their bytes.
    pub class_bytes: u64,
    /// Measurements.
    pub rows: Vec<Row>,
}

/// The parts, the smallest first.
pub struct Parts {
    /// Measurements behind each median.
    pub rounds: u32,
    /// At least one.
    pub parts: Vec<Part>,
}

impl Parts {
    /// Time over the number of classes: a curve for each subject, in the order of the first part.
    pub fn chart(&self) -> Chart {
        let curve = |subject: Subject| {
            let point = |part: &Part| {
                let row = part.rows.iter().find(|row| row.subject == subject)?;
                Some((part.classes as f64, row.seconds.median))
            };
            Curve {
                name: subject.name().replace('`', ""),
                points: self.parts.iter().filter_map(point).collect(),
            }
        };
        Chart {
            title: "Time over the number of classes",
            below: "classes",
            across: Across::Linear,
            unit: "s",
            curves: SUBJECTS.into_iter().map(curve).filter(|curve| !curve.points.is_empty()).collect(),
        }
    }
}

/// Makes the parts in `work` and measures them. `missing` receives what could not be measured.
///
/// # Errors
/// If one cannot be made, or a run fails.
pub fn measure(
    bench: &Bench,
    whole: &Input,
    jdk: &Jdk,
    rounds: u32,
    work: &Path,
    missing: &mut Vec<String>,
) -> Result<Parts> {
    let folder = work.join("parts");
    fs::create_dir(&folder)?;
    let jar = whole.files.first().context("no jar")?;
    let mut parts = Vec::new();
    for eighths in PARTS {
        let file = folder.join(format!("part-{eighths}.jar"));
        let counted = bench.copier.part(jar, &file, eighths, OF)?;
        let input = Input {
            name: whole.name,
            files: vec![file],
            as_jar: None,
            library: None,
            classes: counted.classes,
            class_bytes: counted.bytes,
            about: String::new(),
        };
        let rows = super::measure(bench, &input, jdk, &SUBJECTS, rounds, false, missing)?;
        parts.push(Part { eighths, classes: counted.classes, class_bytes: counted.bytes, rows });
    }
    Ok(Parts { rounds, parts })
}
