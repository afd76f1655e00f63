//! Results to try output formats on.

use cct_profile::Metric;
use cct_profile::diff::Change;
use clap::Parser;
use pulldown_cmark::{Event, Options, Tag, TagEnd};

use super::baseline::Conditions;
use super::causes::{Cause, Source};
use super::counts::{Count, Counts};
use super::history::{HistoryLine, RunLabels};
use super::output::Results;
use super::sources::Sources;
use super::variation::Variation;
use super::verdict::{Judgement, Scope, Verdict};
use crate::args::{Arguments, Bench, Command};

fn count(calls: u128, bytecodes: u128) -> Count {
    Count { calls, bytecodes }
}

fn judgement(entry: &str, all: Count, verdict: Verdict, variation: Option<Variation>) -> Judgement {
    let counts = Counts { all, program: all, methods: Default::default() };
    Judgement { entry: entry.parse().unwrap(), counts, elsewhere: 0, verdict, variation }
}

/// An entry that was compared.
pub fn compared(entry: &str, change: Change, methods: &[(&str, Change)]) -> Judgement {
    let methods = methods.iter().map(|(name, change)| ((*name).to_owned(), *change)).collect();
    let calls = Change { base: 3, new: 3 };
    let verdict = Verdict::Compared { change, calls, methods, exceeds: change.new > change.base };
    judgement(entry, count(3, change.new), verdict, None)
}

/// An entry that grew, one that is the same, one that is flaky and one without stored counts; two
/// have characters that Markdown has a meaning for.
pub fn four_entries() -> Vec<Judgement> {
    let cause = Cause {
        source: Source::Clock,
        caller: "app.A.drifts".to_owned(),
        reader: "java.lang.System.nanoTime".to_owned(),
    };
    let variation = Variation {
        jvms: 2,
        least: count(2, 1000),
        most: count(2, 1010),
        methods: Vec::new(),
        first: None,
        causes: vec![(cause, 2)],
    };
    let grown = [
        ("app.A.grows()V", Change { base: 3_000, new: 3_500 }),
        ("app.A.shrinks()V", Change { base: 100, new: 0 }),
    ];
    vec![
        compared("app.A.grows", Change { base: 1_203_000, new: 1_203_400 }, &grown),
        compared("app.A.same", Change { base: 10, new: 10 }, &[]),
        judgement("app.A.drifts(\"a|b\")", count(2, 1010), Verdict::Flaky { base: 1005 }, Some(variation)),
        judgement("app.A.`odd`(\"\\\\|*_x_*\")", count(1, 5), Verdict::Unknown, None),
    ]
}

/// The conditions of the runs.
pub fn conditions() -> Conditions {
    Conditions {
        java: "17.0.1".to_owned(),
        jdk: "00ff".to_owned(),
        settings: "blocks=exact".to_owned(),
        warm_up: 1,
    }
}

/// A history of two entries: one with six runs, the first on another JDK and two that exceed the
/// limit, and one with a single run.
pub fn history() -> Vec<HistoryLine> {
    let line = |entry: &str, revision: &str, base: u128, new: u128, conditions: &Conditions| {
        let judged = compared(entry, Change { base, new }, &[]);
        let labels = RunLabels { revision: Some(revision), time: None };
        HistoryLine::of(&judged, Metric::Bytecodes, conditions, labels)
    };
    let other_jdk = Conditions { jdk: "11ee".to_owned(), ..conditions() };
    let mut lines = vec![line(ODD, "r0", 900, 900, &other_jdk)];
    let runs = [("r1", 1000), ("r2", 1100), ("r3", 1200), ("r4", 2000), ("r5", 1850)];
    lines.extend(runs.map(|(revision, count)| line(ODD, revision, count.min(1200), count, &conditions())));
    lines.push(line("app.A.c", "r5", 10, 10, &conditions()));
    lines
}

/// An entry with characters that HTML has a meaning for.
const ODD: &str = "app.A.<b>(\"|\")";

/// Calls `use_them` with the results of a gate without a class path.
pub fn results(
    judged: Vec<Judgement>,
    history: Option<Vec<HistoryLine>>,
    use_them: impl FnOnce(&Results<'_>),
) {
    let Command::Bench(arguments) = Arguments::parse_from(["cctrewrite", "bench", "-c", "none"]).command
    else {
        panic!("another command")
    };
    let Bench { class_path, .. } = &arguments;
    use_them(&Results {
        arguments: &arguments,
        conditions: conditions(),
        base: None,
        scope: Scope::All,
        exactness: None,
        metric: Metric::Bytecodes,
        sources: Sources::of(class_path),
        judged,
        history,
    });
}

/// The texts of a table's cells, row by row.
pub type Cells = Vec<Vec<String>>;

/// The tables of a text in Markdown, as another reader sees them.
pub fn tables(text: &str) -> Vec<Cells> {
    let mut tables: Vec<Cells> = Vec::new();
    let mut is_cell = false;
    for event in pulldown_cmark::Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => tables.last_mut().unwrap().push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                is_cell = true;
                tables.last_mut().unwrap().last_mut().unwrap().push(String::new());
            }
            Event::End(TagEnd::TableCell) => is_cell = false,
            Event::Text(text) | Event::Code(text) if is_cell => {
                tables.last_mut().unwrap().last_mut().unwrap().last_mut().unwrap().push_str(&text);
            }
            Event::Start(Tag::Emphasis | Tag::Link { .. } | Tag::Image { .. }) => panic!("markup: {text}"),
            _ => {}
        }
    }
    tables
}
