//! Growth of time with the number of classes: parts of `rt.jar`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use xtask_tools::jdks::Jdk;

use super::inputs::Input;
use super::peers::Peer;
use super::rounds;
use super::row::Row;
use super::subject::{Bench, Subject};
use crate::chart::{Across, Chart, Curve};

/// A part has the first few of each group of this many classes, so that all parts have classes of
/// all packages.
const OF: u32 = 8;
const PARTS: [u32; 4] = [1, 2, 4, 8];

/// The subjects measured on the parts.
const SUBJECTS: [Subject; 4] =
    [Subject::OwnCopy, Subject::OneThread, Subject::AllThreads, Subject::Peer(Peer::AsmTransform)];

/// A part, with its measurements.
pub struct Part {
    /// Size in eighths of the whole.
    pub eighths: u32,
    /// Number of classes.
    pub classes: u64,
    /// The classes' size, in bytes.
    pub class_bytes: u64,
    /// The measurements.
    pub rows: Vec<Row>,
}

/// The parts, the smallest first.
pub struct Parts {
    /// Number of measurements for each median.
    pub rounds: u32,
    /// The parts, at least one.
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

/// Creates the parts in `work` and measures them. Collects failures in `missing`.
///
/// # Errors
/// Fails if one cannot be created, or a run fails.
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
        let rows = rounds::measure(bench, &input, jdk, &SUBJECTS, rounds, false, missing)?;
        parts.push(Part { eighths, classes: counted.classes, class_bytes: counted.bytes, rows });
    }
    Ok(Parts { rounds, parts })
}
