//! callgrind's format, for `callgrind_annotate` and KCachegrind: functions with their own costs,
//! and calls from function to function with their number and inclusive cost. The events are
//! `Bytecodes` and `Calls` (entries).
//!
//! The format knows a function's direct callers and callees, but no stacks. Contexts are added up
//! for each function, and for each pair of caller and callee. Where call sites are distinguished,
//! each line of the caller has its own sum. A function belongs to its class file; its own costs
//! have no lines. A function without a caller is called by `(all threads)`, or by its thread.
//!
//! With recursion the inclusive costs of nested calls must not be added up, or they would count
//! several times. Here the cost of a call goes to its pair only if the callee is not already active
//! further out in the stack. So the inclusive costs of the calls of a function add up to its exact
//! inclusive cost, which `callgrind_annotate --inclusive=yes` shows. Between functions that do not
//! call each other in a circle all costs are exact. KCachegrind makes a cycle of functions that do,
//! and ignores costs inside it.

use crate::name::Functions;
use crate::walk::{Step, Walk};
use crate::{CREATOR, ExportError, Format, Metric, Name, Source, Stacks};
use cct_profile::merge::ALL_THREADS;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};

/// The format's row in the table.
pub const FORMAT: Format = Format::text(
    "callgrind",
    "Functions and calls, for callgrind_annotate and KCachegrind",
    |source, out| write(source, out),
);

/// Writes the file.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut graph = Graph::new(source);
    for (root, stacks) in (graph.functions.first.len() as u32..).zip(&source.stacks) {
        graph.add(root, stacks, &source.names);
    }
    Writer::new(source, &graph).write(graph, &mut BufWriter::with_capacity(1 << 18, out))
}

/// Costs, in the order of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    bytecodes: u64,
    calls: u64,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.bytecodes += other.bytecodes;
        self.calls += other.calls;
    }

    fn minus(self, other: Cost) -> Cost {
        Cost { bytecodes: self.bytecodes - other.bytecodes, calls: self.calls - other.calls }
    }
}

/// All calls of one function by another.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: u64,
    inclusive: Cost,
}

/// Caller, callee, and the caller's line (0: unknown).
type Pair = (u32, u32, u32);

/// The call graph to which contexts are added up. Functions are methods; the threads follow them.
struct Graph {
    functions: Functions,
    /// Each function's own cost.
    own: Vec<Cost>,
    /// The calls of each pair of caller and callee, numbered in the order in which the walk meets
    /// them.
    pairs: FxHashMap<Pair, u32>,
    calls: Vec<Calls>,
    /// Number of occurrences of each function on the stack.
    active: Vec<u32>,
}

/// A context on the stack.
struct Open {
    function: u32,
    pair: u32,
    /// The cost of all contexts before it.
    before: Cost,
}

impl Graph {
    fn new(source: &Source) -> Graph {
        let functions = Functions::of(&source.names);
        let all = functions.first.len() + source.stacks.len();
        let (own, active) = (vec![Cost::default(); all], vec![0; all]);
        Graph { functions, own, pairs: FxHashMap::default(), calls: Vec::new(), active }
    }

    /// Adds the contexts of a tree; `root` calls the outermost ones.
    fn add(&mut self, root: u32, stacks: &Stacks, names: &[Name]) {
        let mut open: Vec<Open> = Vec::new();
        let mut sum = Cost::default();
        for step in Walk::new(&stacks.tree) {
            match step {
                Step::Enter(context) => {
                    let node = &stacks.tree.nodes()[context as usize];
                    let caller = open.last().map_or(root, |caller| caller.function);
                    let function = self.functions.of_name[node.method as usize];
                    let line = names[node.method as usize].line.unwrap_or(0);
                    let pair = self.pair((caller, function, line));
                    self.calls[pair as usize].count += node.calls;
                    self.active[function as usize] += 1;
                    open.push(Open { function, pair, before: sum });
                    let own = Cost { bytecodes: node.bytecodes, calls: node.calls };
                    self.own[function as usize].add(own);
                    sum.add(own);
                }
                Step::Leave(_) => {
                    let Some(Open { function, pair, before }) = open.pop() else { continue };
                    let active = &mut self.active[function as usize];
                    *active -= 1;
                    if *active == 0 {
                        self.calls[pair as usize].inclusive.add(sum.minus(before));
                    }
                }
            }
        }
    }

    fn pair(&mut self, pair: Pair) -> u32 {
        let next = self.calls.len() as u32;
        let pair = *self.pairs.entry(pair).or_insert(next);
        if pair == next {
            self.calls.push(Calls::default());
        }
        pair
    }
}

struct Writer<'s> {
    source: &'s Source,
    /// For each function its text and the text of its file.
    functions: Vec<(String, u32)>,
    files: Vec<String>,
    /// Files and functions that have been written with their texts.
    seen_files: BTreeSet<u32>,
    seen_functions: BTreeSet<u32>,
}

/// callgrind's name for an unknown file.
const UNKNOWN_FILE: &str = "???";

impl<'s> Writer<'s> {
    fn new(source: &'s Source, graph: &Graph) -> Writer<'s> {
        let mut files = vec![UNKNOWN_FILE.to_owned()];
        let mut indices: BTreeMap<String, u32> = BTreeMap::new();
        let mut functions = Vec::with_capacity(source.names.len() + source.stacks.len());
        for name in graph.functions.names(&source.names) {
            let file = name.file().map_or(0, |file| {
                *indices.entry(file).or_insert_with_key(|file| {
                    files.push(file.clone());
                    files.len() as u32 - 1
                })
            });
            functions.push((name.method_text().to_owned(), file));
        }
        let root = |stacks: &Stacks| stacks.frame().unwrap_or_else(|| ALL_THREADS.to_owned());
        functions.extend(source.stacks.iter().map(|stacks| (root(stacks), 0)));
        let (seen_files, seen_functions) = (BTreeSet::new(), BTreeSet::new());
        Writer { source, functions, files, seen_files, seen_functions }
    }

    fn write(mut self, graph: Graph, out: &mut dyn Write) -> Result<(), ExportError> {
        self.head(out)?;
        let mut pairs: Vec<(Pair, u32)> = Vec::with_capacity(graph.pairs.len());
        pairs.extend(graph.pairs.iter().map(|(&pair, &calls)| (pair, calls)));
        pairs.sort_unstable();
        let mut pairs = pairs.chunk_by(|a, b| a.0.0 == b.0.0).peekable();
        for (function, &own) in (0u32..).zip(&graph.own) {
            let callees = pairs.next_if(|callees| callees[0].0.0 == function).unwrap_or_default();
            if own == Cost::default() && callees.is_empty() {
                continue;
            }
            let (file, text) = (self.file_of(function), self.function(function));
            writeln!(out, "\nfl={file}\nfn={text}\n{}", self.costs(0, own))?;
            for &((_, callee, line), pair) in callees {
                let Calls { count, inclusive } = graph.calls[pair as usize];
                let (file, text) = (self.file_of(callee), self.function(callee));
                writeln!(out, "cfi={file}\ncfn={text}\ncalls={count} 0\n{}", self.costs(line, inclusive))?;
            }
        }
        let total = Cost { bytecodes: self.source.bytecodes.unwrap_or(0), calls: self.source.calls };
        writeln!(out, "\ntotals:{}", &self.costs(0, total)[1..])?;
        Ok(out.flush()?)
    }

    fn head(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        writeln!(out, "# callgrind format\nversion: 1\ncreator: {CREATOR}")?;
        writeln!(out, "cmd: {}\npart: 1", on_a_line(self.source.program()))?;
        for remark in self.source.remarks() {
            writeln!(out, "desc: Note: {}", on_a_line(&remark))?;
        }
        let events: Vec<String> = self.source.metrics().iter().map(|metric| metric.capitalised()).collect();
        let events = match self.source.metric {
            Metric::Allocations => "Objects".to_owned(),
            _ => events.join(" "),
        };
        writeln!(out, "positions: line\nevents: {events}")?;
        let total = Cost { bytecodes: self.source.bytecodes.unwrap_or(0), calls: self.source.calls };
        Ok(writeln!(out, "summary:{}", &self.costs(0, total)[1..])?)
    }

    /// The costs of a line of the program; line 0 where it is unknown.
    fn costs(&self, line: u32, cost: Cost) -> String {
        match self.source.bytecodes {
            Some(_) => format!("{line} {} {}", cost.bytecodes, cost.calls),
            None => format!("{line} {}", cost.calls),
        }
    }

    /// The function's file, with its text at the first mention.
    fn file_of(&mut self, function: u32) -> String {
        let (_, file) = self.functions[function as usize];
        compressed(file, &self.files[file as usize], &mut self.seen_files)
    }

    fn function(&mut self, function: u32) -> String {
        compressed(function, &self.functions[function as usize].0, &mut self.seen_functions)
    }
}

/// The number of a text, with the text at the first mention.
fn compressed(index: u32, text: &str, seen: &mut BTreeSet<u32>) -> String {
    let number = u64::from(index) + 1;
    if seen.insert(index) { format!("({number}) {text}") } else { format!("({number})") }
}

fn on_a_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
