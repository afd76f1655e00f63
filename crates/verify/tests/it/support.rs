//! Classes of JDKs, rewritten.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cct_archive::{Input, Limits};
use cct_rewrite::marks::{Marks, MethodName};
use cct_rewrite::{ClassSummary, Rewriter, Role, World};
use cct_settings::Settings;
use cct_verify::linked::{Linked, follow};
use cct_verify::{Expectation, Finding, StaticSide, Tally, check_with_links};
use rayon::prelude::*;

/// The class library of a JDK: `rt.jar`, or `lib/modules`; `None` without such a JDK.
pub fn class_library(feature: u32) -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os(format!("JAVA{feature}_HOME"))?);
    let parts = [home.join("jre/lib/rt.jar"), home.join("lib/modules")];
    parts.into_iter().find(|part| part.is_file())
}

/// A stored class, for machines without a JDK.
pub fn sample() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cctrewrite/tests/data/Sample.class");
    std::fs::read(path).unwrap()
}

/// A stored class whose methods name their parameters in debug tables.
pub fn sample_with_names() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/overflow/classes/Overflow.class");
    std::fs::read(path).unwrap()
}

/// A stored class that enters monitors.
pub fn monitors() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/monitors/classes/Monitors.class");
    std::fs::read(path).unwrap()
}

/// All classes of an input, in order.
pub fn classes(path: &Path) -> Vec<Vec<u8>> {
    let input = Input::open(path, &Limits::default()).unwrap();
    input.survey(|_, bytes| Ok::<_, ()>(bytes.to_vec())).unwrap().classes
}

/// A rewriter for these classes.
pub fn rewriter(classes: &[Vec<u8>], settings: Settings) -> Rewriter {
    filtered(classes, settings, |_| true)
}

/// A rewriter for these classes that records those the function accepts.
pub fn filtered(classes: &[Vec<u8>], settings: Settings, recorded: fn(&[u8]) -> bool) -> Rewriter {
    let summaries: Vec<_> =
        classes.par_iter().map(|bytes| (Role::Input, ClassSummary::parse(bytes).unwrap())).collect();
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    Rewriter::new(World::new(summaries), settings, provenance, recorded).unwrap()
}

/// A rewriter for these classes with one method as an extent, and another as a start.
pub fn marked(classes: &[Vec<u8>], settings: Settings, extent: &str, start: &str) -> Rewriter {
    let [extents, starts] = [extent, start].map(|name| vec![MethodName::parse(name).unwrap()]);
    let summaries: Vec<_> =
        classes.iter().map(|bytes| (Role::Input, ClassSummary::parse(bytes).unwrap())).collect();
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    let marks = Marks { extents, starts };
    Rewriter::marked(World::new(summaries), settings, marks, provenance, |_| true).unwrap()
}

/// The expectation for an output with these settings.
pub fn expectation(settings: &Settings) -> Expectation {
    let provenance = cct_rewrite::provenance(settings, "test", None);
    Expectation::of(provenance.lines()).unwrap()
}

/// Rewrites classes and checks the results. Returns the findings by class, including those of all
/// classes together, and the numbers of the check.
pub fn verify(
    classes: &[Vec<u8>],
    rewriter: &Rewriter,
    expectation: Expectation,
) -> (BTreeMap<String, Vec<String>>, Tally, Linked) {
    let checked: Vec<_> = classes
        .par_iter()
        .map(|original| {
            let rewritten = rewriter.rewrite(original).unwrap();
            let name = rewritten.report.class.clone();
            let bytes = rewritten.bytes.unwrap_or_else(|| original.clone());
            let side = rewritten.structure.map(|packed| {
                let mut side = StaticSide::default();
                side.add(&packed).unwrap();
                side
            });
            (name, check_with_links(original, &bytes, expectation, side.as_ref()))
        })
        .collect();
    let (mut findings, mut tally, mut links) = (BTreeMap::new(), Tally::default(), Vec::new());
    for (name, (found, of_class, of_links)) in checked {
        tally.add(of_class);
        links.extend(of_links);
        if !found.is_empty() {
            findings.insert(name, found.iter().map(Finding::to_string).collect::<Vec<_>>());
        }
    }
    let linked = follow(&links);
    for (name, what) in &linked.missing {
        findings.entry(name.clone()).or_default().push(format!("{what} is not there"));
    }
    for (name, what) in &linked.wrong {
        findings.entry(name.clone()).or_default().push(what.to_string());
    }
    (findings, tally, linked)
}
