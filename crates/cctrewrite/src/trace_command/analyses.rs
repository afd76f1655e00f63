//! Analyses of traces whose results are no profiles.

use std::io::{self, Write};

use anyhow::Result;
use cct_profile::Pattern;
use cct_trace::executions::Executions;
use cct_trace::replay::Visitor;
use cct_trace::timeline::Timeline;
use cct_trace::{Callee, Program, Trace, TracedMethod, contexts, coverage, metrics, structure, timeline};
use serde_json::json;

use crate::args::{
    CoverageFormat, GraphFormat, StructureFormat, TraceCallgraph, TraceCoverage, TraceMetrics, TraceReplay,
    TraceStructure, TraceTimeline,
};
use crate::exit::{say, text_to_stdout, to_stdout};
use crate::trace_command::remarks::remarks;

/// Tests whether a class is wanted, by its name with slashes.
fn wanted(pattern: Option<&str>) -> impl Fn(&str) -> bool {
    let pattern = pattern.map(Pattern::new);
    move |name| pattern.as_ref().is_none_or(|pattern| pattern.matches(name.replace('/', ".").as_bytes()))
}

/// The executions in a trace. Reports what is odd about the trace.
fn executions(trace: &Trace) -> Result<Executions> {
    let (executions, oddities) = Executions::of(trace)?;
    remarks(trace, &oddities).iter().for_each(|remark| say(&format!("note: {remark}")));
    Ok(executions)
}

/// Prints the stack of a thread as lines.
struct Lines<'t, 'o> {
    names: &'o mut Names<'t>,
    out: &'o mut (dyn Write + Send),
    line: String,
    depth: usize,
    left: u64,
    failed: Option<io::Error>,
}

/// The names of methods, each built once.
struct Names<'t> {
    program: &'t Program,
    of: Vec<Option<Box<str>>>,
}

impl Names<'_> {
    fn of(&mut self, callee: Callee) -> &str {
        let program = self.program;
        self.of[callee.0 as usize].get_or_insert_with(|| {
            let called = &program.callees()[callee.0 as usize];
            format!("{}.{}{}", called.class.replace('/', "."), called.name, called.descriptor).into()
        })
    }
}

impl Visitor for Lines<'_, '_> {
    fn enter(&mut self, _: u32, callee: Callee, _: Option<TracedMethod<'_>>) -> u32 {
        if self.wants_more() {
            self.left -= 1;
            // A write must hold a whole line, since each write is searched for what might harm a
            // terminal.
            self.line.clear();
            self.line.extend(std::iter::repeat_n(' ', 2 * self.depth + 2));
            self.line.push_str(self.names.of(callee));
            self.line.push('\n');
            self.failed = self.out.write_all(self.line.as_bytes()).err();
        }
        self.depth += 1;
        0
    }

    fn leave(&mut self, _: u32, _: bool) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn block(&mut self, _: u32, _: TracedMethod<'_>, _: u32, _: u32) {}

    fn bytecodes(&mut self, _: u32, _: u32) {}

    fn take_back(&mut self, _: u32, _: u32) {}

    fn wants_more(&self) -> bool {
        self.left > 0 && self.failed.is_none()
    }
}

/// Runs `replay`.
pub fn replay(arguments: &TraceReplay) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let mut names = Names { program: &trace.program, of: vec![None; trace.program.callees().len()] };
    text_to_stdout(|out| {
        for thread in &trace.threads {
            let (name, number) = (&thread.thread.name, thread.number.to_string());
            let is_wanted = |wanted: &String| wanted == name || *wanted == number;
            if !arguments.thread.is_empty() && !arguments.thread.iter().any(is_wanted) {
                continue;
            }
            writeln!(out, "thread {number} {name}")?;
            let left = arguments.limit.unwrap_or(u64::MAX);
            let lines = Lines { names: &mut names, out, line: String::new(), depth: 0, left, failed: None };
            let (lines, ..) = contexts::of_thread(&trace, thread, lines)?;
            if let Some(e) = lines.failed {
                return Err(e.into());
            }
        }
        Ok::<(), anyhow::Error>(())
    })
}

/// Runs `callgraph`.
pub fn callgraph(arguments: &TraceCallgraph) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let executions = executions(&trace)?;
    let wanted = wanted(arguments.classes.as_deref());
    let all = trace.program.callees();
    let is_wanted = |callee: Callee| wanted(&all[callee.0 as usize].class);
    let calls: Vec<_> = executions
        .calls()
        .into_iter()
        .filter(|(caller, callee, _)| is_wanted(*callee) || caller.is_some_and(is_wanted))
        .collect();
    let mut methods: Vec<Callee> = calls.iter().flat_map(|(a, b, _)| a.iter().chain([b]).copied()).collect();
    methods.sort_unstable();
    methods.dedup();
    let name = |callee: Callee| {
        let called = &all[callee.0 as usize];
        format!("{}.{}{}", called.class.replace('/', "."), called.name, called.descriptor)
    };
    to_stdout(|out| {
        match arguments.format {
            GraphFormat::Dot => {
                writeln!(out, "digraph calls {{")?;
                for &method in &methods {
                    writeln!(out, "  m{} [label={}];", method.0, json!(name(method)))?;
                }
                for (caller, callee, calls) in &calls {
                    if let Some(caller) = caller {
                        writeln!(out, "  m{} -> m{} [label=\"{calls}\"];", caller.0, callee.0)?;
                    }
                }
                writeln!(out, "}}")?;
            }
            GraphFormat::Json => {
                let nodes: Vec<_> = methods.iter().map(|&m| json!({"id": m.0, "method": name(m)})).collect();
                let edges: Vec<_> = calls
                    .iter()
                    .map(|(caller, callee, calls)| {
                        json!({"caller": caller.map(|c| c.0), "callee": callee.0, "calls": calls})
                    })
                    .collect();
                writeln!(out, "{}", json!({"methods": nodes, "edges": edges}))?;
            }
        }
        Ok::<(), anyhow::Error>(())
    })
}

/// Runs `metrics`.
pub fn metrics(arguments: &TraceMetrics) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let (values, oddities) = metrics::of(&trace)?;
    remarks(&trace, &oddities).iter().for_each(|remark| say(&format!("note: {remark}")));
    to_stdout(|out| {
        if arguments.json {
            let object: serde_json::Map<String, serde_json::Value> =
                values.iter().map(|value| (value.name.to_owned(), json!(value.value))).collect();
            return writeln!(out, "{}", serde_json::Value::Object(object));
        }
        for value in &values {
            let number = match value.value {
                None => "-".to_owned(),
                Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
                Some(value) if value < 0.01 => format!("{value:.2e}"),
                Some(value) => format!("{value:.3}"),
            };
            writeln!(out, "{number:>16}  {:36} {}", value.name, value.meaning)?;
        }
        Ok(())
    })
}

/// Runs `coverage`.
pub fn coverage(arguments: &TraceCoverage) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let (ways, oddities) = coverage::ways(&trace)?;
    remarks(&trace, &oddities).iter().for_each(|remark| say(&format!("note: {remark}")));
    let wanted = wanted(arguments.classes.as_deref());
    to_stdout(|out| match arguments.format {
        CoverageFormat::Lcov => coverage::lcov(&trace, &ways, &wanted, out),
        CoverageFormat::Jacoco => coverage::jacoco(&trace, &ways, &wanted, out),
        CoverageFormat::Blocks => coverage::counts(&trace, &ways.executions, &wanted, out),
    })
}

/// Runs `timeline`.
pub fn timeline(arguments: &TraceTimeline) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let options =
        timeline::Options { least: arguments.least, depth: arguments.depth, limit: arguments.limit };
    let timeline = Timeline::of(&trace, options)?;
    remarks(&trace, &timeline.oddities).iter().for_each(|remark| say(&format!("note: {remark}")));
    if timeline.left_out > 0 {
        say(&format!(
            "note: shows the {} longest calls, the shortest with {} bytecodes; {} more are omitted (--limit)",
            timeline.shown(),
            timeline.shortest(),
            timeline.left_out
        ));
    }
    to_stdout(|out| timeline.write(&trace, out))
}

/// Runs `structure`.
pub fn structure(arguments: &TraceStructure) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let wanted = wanted(arguments.classes.as_deref());
    let wanted = |class: &cct_events::Class| wanted(&String::from_utf8_lossy(&class.name));
    to_stdout(|out| {
        match arguments.format {
            StructureFormat::Xml => structure::xml(&trace, &wanted, out)?,
            StructureFormat::Csv => structure::csv(&trace, &wanted, arguments.csv.reader(), out)?,
            StructureFormat::Json => structure::json(&trace, &wanted, out)?,
            StructureFormat::Parquet => structure::parquet(&trace, &wanted, out)?,
        }
        Ok::<(), anyhow::Error>(())
    })
}
