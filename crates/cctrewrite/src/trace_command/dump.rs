//! `cctrewrite trace dump`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Result, bail};
use cct_events::structure::Recording;
use cct_events::{Decoder, Event};
use cct_trace::{MergedEvents, Program, ThreadChunks, ThreadEvents, Trace};

use crate::args::TraceDump;
use crate::exit::text_to_stdout;

/// Runs the command.
pub fn run(arguments: &TraceDump) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let is_wanted = |thread: &&ThreadChunks| {
        let (name, number) = (&thread.thread.name, thread.number.to_string());
        arguments.thread.is_empty()
            || arguments.thread.iter().any(|wanted| wanted == name || *wanted == number)
    };
    if arguments.in_order {
        let threads: Vec<&ThreadChunks> = trace.threads.iter().filter(is_wanted).collect();
        return in_order(&trace, &threads, arguments);
    }
    // Events are read and written one after the other: a trace may not fit into memory.
    let mut lines = Lines::new(&trace, arguments.numbers);
    let below = arguments.below.as_deref();
    text_to_stdout(|out| {
        for thread in trace.threads.iter().filter(is_wanted) {
            let wanted = DumpFilter { below, left: arguments.limit.unwrap_or(u64::MAX), depth: 0 };
            dump(&trace, thread, wanted, &mut lines, out)?;
        }
        Ok::<(), anyhow::Error>(())
    })
}

/// Dumps the events of all threads in their global order.
fn in_order(trace: &Trace, threads: &[&ThreadChunks], arguments: &TraceDump) -> Result<()> {
    if !trace.is_ordered {
        bail!(
            "{}: this trace has no order between threads; record one with --trace-mode shared",
            arguments.file.display()
        );
    }
    let limit = arguments.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut lines = Lines::new(trace, arguments.numbers);
    text_to_stdout(|out| {
        for event in MergedEvents::of(trace, threads.iter().copied()).take(limit) {
            let (thread, event) = event?;
            write!(lines.text, "{:>6}", threads[thread].number)?;
            lines.write(event, out)?;
        }
        Ok::<(), anyhow::Error>(())
    })
}

fn dump(
    trace: &Trace,
    thread: &ThreadChunks,
    mut wanted: DumpFilter<'_>,
    lines: &mut Lines<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    writeln!(out, "thread {} {}", thread.number, thread.thread.name)?;
    let (mut decoder, mut whole) = (Decoder::default(), ThreadEvents::new(&trace.program));
    let mut events = Vec::new();
    for chunk in trace.chunks(thread) {
        let chunk = chunk?;
        if chunk.is_behind_gap {
            whole.gap();
            writeln!(out, "  (chunks are missing)")?;
        }
        for &word in chunk.words.as_chunks::<4>().0 {
            let Some(event) = decoder.word(u32::from_le_bytes(word))? else { continue };
            whole.event(event, &mut |event| events.push(event));
            for event in events.drain(..) {
                if !wanted.event(event, lines, out)? {
                    return Ok(());
                }
            }
        }
    }
    whole.finish(&mut |event| events.push(event));
    for event in events {
        if !wanted.event(event, lines, out)? {
            break;
        }
    }
    Ok(())
}

/// Which events of a thread are wanted.
struct DumpFilter<'t> {
    /// Only events of this method and of its callees.
    below: Option<&'t str>,
    /// Maximum number of events still to write.
    left: u64,
    /// The current depth below that method.
    depth: u64,
}

impl DumpFilter<'_> {
    /// Writes an event if it is wanted. Returns whether further events may be wanted.
    fn event(&mut self, event: Event, lines: &mut Lines<'_>, out: &mut dyn Write) -> Result<bool> {
        if let Some(below) = self.below {
            match event {
                Event::Start { method, ends_at_once: false, .. }
                    if self.depth > 0 || lines.names.of(method).is(below) =>
                {
                    self.depth += 1;
                }
                Event::End { .. } if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        lines.write(event, out)?;
                    }
                }
                _ => {}
            }
            if self.depth == 0 {
                return Ok(true);
            }
        }
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        lines.write(event, out)?;
        Ok(true)
    }
}

/// A method's class and name, followed by its descriptor.
struct Name {
    whole: Box<str>,
    descriptor: usize,
}

impl Name {
    fn is(&self, name: &str) -> bool {
        &self.whole[..self.descriptor] == name
    }
}

/// The names of methods, each built once.
struct Names<'t> {
    program: &'t Program,
    of: HashMap<u32, Name>,
    /// The name of a method that the trace does not describe.
    unknown: Name,
}

impl Names<'_> {
    fn of(&mut self, number: u32) -> &Name {
        let Some(found) = self.program.method(number) else {
            // This name is not cached: a damaged trace may have many of them.
            let whole: Box<str> = format!("method {number}").into();
            self.unknown = Name { descriptor: whole.len(), whole };
            return &self.unknown;
        };
        self.of.entry(number).or_insert_with(|| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let class = text(&found.class.name).replace('/', ".");
            let mut whole = format!("{class}.{}", text(&found.method.name));
            let descriptor = whole.len();
            whole += &text(&found.method.descriptor);
            Name { whole: whole.into(), descriptor }
        })
    }
}

/// Events as lines.
struct Lines<'t> {
    trace: &'t Trace,
    as_numbers: bool,
    names: Names<'t>,
    /// The current line. A write must hold a whole line, since each write is searched for what
    /// might harm a terminal.
    text: String,
}

impl<'t> Lines<'t> {
    fn new(trace: &'t Trace, as_numbers: bool) -> Lines<'t> {
        let unknown = Name { whole: "".into(), descriptor: 0 };
        let names = Names { program: &trace.program, of: HashMap::new(), unknown };
        Lines { trace, as_numbers, names, text: String::new() }
    }

    /// Appends an event to the current line and writes the line. Then writes the block that the
    /// event implies.
    fn write(&mut self, event: Event, out: &mut dyn Write) -> Result<()> {
        let implied = match event {
            Event::Start { method, ends_at_once: false, .. } => {
                self.trace.program.method(method).and_then(|found| {
                    let has_blocks = matches!(found.method.recording, Recording::Full | Recording::Blocks);
                    (has_blocks && !found.method.entry_is_target).then_some(Event::Block { method, block: 0 })
                })
            }
            _ => None,
        };
        for event in [Some(event), implied].into_iter().flatten() {
            self.text.push_str("  ");
            if self.as_numbers {
                for (place, &word) in event.words().iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    write!(self.text, "{space}{}", word as i32)?;
                }
            } else {
                self.describe(event)?
            }
            self.text.push('\n');
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn describe(&mut self, event: Event) -> std::fmt::Result {
        let Lines { trace, names, text, .. } = self;
        let class = |number: u32| match trace.class_names.get(&number) {
            Some(name) => name.replace('/', "."),
            None => format!("class {number}"),
        };
        let how = |ends_at_once: bool| if ends_at_once { "leaf " } else { "start" };
        match event {
            Event::Padding => write!(text, "padding"),
            Event::Start { method, ends_at_once, .. } => {
                write!(text, "{} {}", how(ends_at_once), names.of(method).whole)
            }
            Event::End { method, by_exception } => {
                let by = if by_exception { " by an exception" } else { "" };
                write!(text, "end   {}{by}", names.of(method).whole)
            }
            Event::Block { method, block } => {
                let found = trace.program.method(method);
                let found = found.and_then(|found| found.method.blocks.get(block as usize));
                let bytecodes = found.map_or(0, |block| block.bytecodes());
                write!(text, "block {} {block} ({bytecodes} bytecodes)", names.of(method).whole)
            }
            Event::ClassLoaded(number) => write!(text, "loaded {}", class(number)),
            Event::Receiver(number) => write!(text, "of    {}", class(number)),
            Event::Partial(executed) => write!(text, "left by an exception after {executed} bytecodes"),
            Event::Leaf(bci) => write!(text, "leaf at bytecode index {bci}"),
            Event::Call(bci) => write!(text, "call at bytecode index {bci}"),
            Event::Returned(bci) => write!(text, "return to bytecode index {bci}"),
            Event::ById { id, ends_at_once } => {
                let program = &trace.program;
                let callee = program.callee_with_id(id);
                let callee = callee.and_then(|callee| program.callees().get(callee.0 as usize));
                let name = callee.map_or(format!("{id:#018x}"), |c| {
                    format!("{}.{}{}", c.class.replace('/', "."), c.name, c.descriptor)
                });
                write!(text, "{} {name}", how(ends_at_once))
            }
            Event::Paused => write!(text, "recording pauses"),
            Event::Resumed(0) => write!(text, "recording resumes"),
            Event::Resumed(name) => write!(text, "recording resumes: {}", class(name - 1)),
            Event::Order(turn) => write!(text, "turn  {turn}"),
            Event::Made(bci) => write!(text, "alloc an object at bytecode index {bci}"),
            Event::Array { bci, length } => {
                write!(text, "alloc an array of {length} at bytecode index {bci}")
            }
            Event::Arrays { bci, level, count, length } => {
                write!(text, "alloc {count} arrays of {length}, nested {level} deep, at bytecode index {bci}")
            }
            Event::MadeByNative { class: number, length } => {
                write!(text, "alloc {} of {length}", class(number))
            }
            Event::Lock { bci, object } => {
                write!(text, "wants the monitor of {object:08x} at bytecode index {bci}")
            }
            Event::Locked(object) => write!(text, "has the monitor of {object:08x}"),
            Event::Unlock { bci, object } => {
                write!(text, "gives back the monitor of {object:08x} at bytecode index {bci}")
            }
            Event::Gap(_) => write!(text, "events are missing here"),
        }
    }
}
