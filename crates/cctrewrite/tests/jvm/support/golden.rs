//! Expected calling-context trees, and their comparison with profiles (`fixtures/README.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cct_profile::names::{Frame, NameStyle};

use super::Run;

/// Counts by path.
pub type Contexts = BTreeMap<String, (u64, u64)>;

/// An expected tree.
#[derive(Debug)]
pub struct GoldenTree {
    /// Classes that are compared, with their nested classes; paths omit frames of others.
    classes: Vec<String>,
    /// The value of `-Dcctrewrite.threads` if paths begin with the thread's name.
    pub threads: Option<String>,
    /// Whether paths also omit classes that the JVM generates (`Lambdas$$Lambda`,
    /// `Switches$$TypeSwitch`, since 26 `Records$Holder$$HasherSpecializer`).
    without_generated: bool,
    contexts: Contexts,
}

impl GoldenTree {
    /// Reads an `expected.*.txt`.
    pub fn read(path: &Path) -> GoldenTree {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let header = |key: &str| {
            let mut lines = text
                .lines()
                .filter_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "));
            lines.next()
        };
        let classes = header("frames").unwrap().split_whitespace().map(str::to_owned).collect();
        let threads = header("threads").map(str::to_owned);
        let mut contexts = Contexts::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (counts, path) = parse(line);
            assert!(contexts.insert(path.to_owned(), counts).is_none(), "{path} stands there twice");
        }
        GoldenTree { classes, threads, without_generated: false, contexts }
    }

    /// The sum of the trees of all threads.
    pub fn without_threads(self) -> GoldenTree {
        let mut contexts = Contexts::new();
        for (path, (calls, bytecodes)) in &self.contexts {
            let path = if path.starts_with('[') { path.split_once(';').unwrap().1 } else { path };
            let sum = contexts.entry(path.to_owned()).or_default();
            *sum = (sum.0 + calls, sum.1 + bytecodes);
        }
        GoldenTree { threads: None, contexts, ..self }
    }

    /// The tree without the classes that the JVM generates, which differ between releases.
    pub fn without_generated(self) -> GoldenTree {
        GoldenTree { without_generated: true, ..self }
    }

    /// The tree with this many more bytecodes for each call.
    pub fn with_each_call(mut self, more: u64) -> GoldenTree {
        self.contexts.values_mut().for_each(|(calls, bytecodes)| *bytecodes += *calls * more);
        self
    }

    /// Compares a run with the tree, context by context.
    pub fn assert_equal(&self, run: &Run, what: &str) {
        let differences = self.differences(run);
        assert!(differences.is_empty(), "{what}, (calls, bytecodes):{differences}");
    }

    /// Compares a list of contexts with the tree.
    pub fn assert_lines(&self, text: &str) {
        let lines: Vec<String> = text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect();
        let differences = self.differences_of(&lines);
        assert!(differences.is_empty(), "(calls, bytecodes):{differences}");
    }

    /// A line for each context in which a run differs from the tree.
    pub fn differences(&self, run: &Run) -> String {
        self.differences_of(&run.contexts(self.threads.is_some()))
    }

    fn differences_of(&self, lines: &[String]) -> String {
        let found = shown(lines, &self.classes, self.without_generated);
        let mut differences = String::new();
        let paths: BTreeSet<&String> = self.contexts.keys().chain(found.keys()).collect();
        for path in paths {
            let (expected, found) = (self.contexts.get(path), found.get(path));
            if expected != found {
                differences += &format!("\n  {path}: expected {expected:?}, found {found:?}");
            }
        }
        differences
    }
}

/// The contexts of some classes.
fn shown(lines: &[String], classes: &[String], without_generated: bool) -> Contexts {
    let is_shown = |frame: &str| {
        let mut tails = classes.iter().filter_map(|class| frame.strip_prefix(class.as_str()));
        let is_generated = |tail: &str| tail.split('.').next().is_some_and(|class| class.contains("$$"));
        tails.any(|tail| tail.starts_with(['.', '$']) && !(without_generated && is_generated(tail)))
    };
    let mut contexts = Contexts::new();
    for line in lines {
        let ((calls, bytecodes), path) = parse(line);
        let frames: Vec<&str> = path.split(';').collect();
        if !is_shown(frames[frames.len() - 1]) {
            continue;
        }
        let thread = frames[0].starts_with('[');
        let frames: Vec<&str> =
            frames.into_iter().filter(|f| is_shown(f) || thread && f.starts_with('[')).collect();
        let sum = contexts.entry(frames.join(";")).or_default();
        *sum = (sum.0 + calls, sum.1 + bytecodes);
    }
    contexts
}

/// The contexts of these classes alone, as [`GoldenTree`] compares them, as lines.
pub fn of_classes(lines: &[String], classes: &[&str]) -> Vec<String> {
    let classes: Vec<String> = classes.iter().map(|class| (*class).to_owned()).collect();
    let contexts = shown(lines, &classes, false);
    contexts.into_iter().map(|(path, (calls, bytecodes))| format!("{calls} {bytecodes} {path}")).collect()
}

/// Calls and bytecodes of each method, over all contexts, from the nodes themselves: the paths of a
/// stack of 20,000 frames take gigabytes.
pub fn flat(run: &Run) -> Contexts {
    let profile = run.profile();
    let mut methods = Contexts::new();
    for node in profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]) {
        let frame = Frame::method(&profile.methods[node.method as usize], NameStyle::default());
        let sum = methods.entry(frame.exact()).or_default();
        *sum = (sum.0 + node.calls, sum.1 + node.bytecodes);
    }
    methods
}

/// Parses `calls bytecodes path`; the counts may be sums of products.
pub fn parse(line: &str) -> ((u64, u64), &str) {
    let mut parts = line.splitn(3, ' ');
    let mut next = || parts.next().unwrap_or_else(|| panic!("no context: {line}"));
    let (calls, bytecodes, path) = (next(), next(), next());
    ((sum(calls), sum(bytecodes)), path)
}

fn sum(text: &str) -> u64 {
    let number = |n: &str| n.parse::<u64>().unwrap_or_else(|_| panic!("no count: {text}"));
    text.split('+').map(|product| product.split('*').map(number).product::<u64>()).sum()
}
