//! Classes of JDKs, rewritten.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cct_archive::{Input, Limits};
use cct_rewrite::marks::{Marks, MethodName};
use cct_rewrite::{ClassSummary, Rewriter, Role, World};
use cct_settings::Settings;
use cct_verify::link_results::{LinkResults, follow};
use cct_verify::{Expectation, Finding, StaticSide, Tally, check_with_links};
use rayon::prelude::*;

/// Classes with their summaries. Class libraries are read once for all tests: that takes longer
/// than most of them.
pub struct ClassLibrary {
    /// All classes, in order.
    pub classes: Vec<Vec<u8>>,
    summaries: Vec<(Role, ClassSummary)>,
}

impl ClassLibrary {
    /// These classes.
    pub fn new(classes: Vec<Vec<u8>>) -> ClassLibrary {
        let summaries = summaries(&classes);
        ClassLibrary { classes, summaries }
    }

    /// The class library of JDK 8 or 17; `None`, with a message, without such a JDK.
    ///
    /// # Panics
    /// For other versions: all together would fill the memory.
    pub fn of(feature: u32) -> Option<&'static ClassLibrary> {
        static LIBRARIES: [OnceLock<Option<ClassLibrary>>; 2] = [const { OnceLock::new() }; 2];
        let at = [8, 17].iter().position(|&kept| kept == feature).unwrap();
        let library = LIBRARIES[at].get_or_init(|| classes_of(feature).map(ClassLibrary::new));
        if library.is_none() {
            println!("skipped: no JDK {feature} was found");
        }
        library.as_ref()
    }

    /// A rewriter for it.
    pub fn rewriter(&self, settings: Settings) -> Rewriter {
        self.filtered(settings, |_| true)
    }

    /// A rewriter for it that records the classes that the function accepts.
    pub fn filtered(&self, settings: Settings, recorded: fn(&[u8]) -> bool) -> Rewriter {
        with(self.summaries.clone(), settings, recorded)
    }
}

/// The step with which a test goes through its subjects: `usual`, or each one with `THOROUGH=1`,
/// which takes three times as long.
pub fn step(usual: usize) -> usize {
    if std::env::var_os("THOROUGH").is_some() { 1 } else { usual }
}

/// What is altered in tests: every `step`-th class of JDK 8, and a stored class. Each with its
/// library and the number of classes to skip.
pub fn sets(step: usize) -> Vec<(&'static ClassLibrary, usize)> {
    static LONE: OnceLock<ClassLibrary> = OnceLock::new();
    let lone = LONE.get_or_init(|| ClassLibrary::new(vec![sample()]));
    ClassLibrary::of(8).map(|library| (library, step)).into_iter().chain([(lone, 1)]).collect()
}

/// The classes of a JDK's `rt.jar` or `lib/modules`; `None` without such a JDK.
pub fn classes_of(feature: u32) -> Option<Vec<Vec<u8>>> {
    let home = PathBuf::from(std::env::var_os(format!("JAVA{feature}_HOME"))?);
    let parts = [home.join("jre/lib/rt.jar"), home.join("lib/modules")];
    Some(classes(&parts.into_iter().find(|part| part.is_file())?))
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
fn classes(path: &Path) -> Vec<Vec<u8>> {
    let input = Input::open(path, &Limits::default()).unwrap();
    input.survey(|_, bytes| Ok::<_, ()>(bytes.to_vec())).unwrap().classes
}

/// A rewriter for these classes.
pub fn rewriter(classes: &[Vec<u8>], settings: Settings) -> Rewriter {
    with(summaries(classes), settings, |_| true)
}

fn summaries(classes: &[Vec<u8>]) -> Vec<(Role, ClassSummary)> {
    classes.par_iter().map(|bytes| (Role::Input, ClassSummary::parse(bytes).unwrap())).collect()
}

fn with(summaries: Vec<(Role, ClassSummary)>, settings: Settings, recorded: fn(&[u8]) -> bool) -> Rewriter {
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    Rewriter::new(World::new(summaries), settings, provenance, recorded).unwrap()
}

/// A rewriter for these classes with one method as an extent, and another as a start.
pub fn marked(classes: &[Vec<u8>], settings: Settings, extent: &str, start: &str) -> Rewriter {
    let [extents, starts] = [extent, start].map(|name| vec![MethodName::parse(name).unwrap()]);
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    let marks = Marks { extents, starts };
    Rewriter::marked(World::new(summaries(classes)), settings, marks, provenance, |_| true).unwrap()
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
) -> (BTreeMap<String, Vec<String>>, Tally, LinkResults) {
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
