//! `cctrewrite trace dump`.

use std::io::Write;

use anyhow::{Result, bail};
use cct_events::{Decoder, Event, Words};
use cct_trace::{Merged, Program, ThreadChunks, Trace, Whole};

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
    // One after the other, as they are read: a trace has no place in memory.
    text_to_stdout(|out| {
        for thread in trace.threads.iter().filter(is_wanted) {
            dump(&trace, thread, arguments, out)?;
        }
        Ok::<(), anyhow::Error>(())
    })
}

/// All threads' events, one behind the other.
fn in_order(trace: &Trace, threads: &[&ThreadChunks], arguments: &TraceDump) -> Result<()> {
    if !trace.is_ordered {
        bail!(
            "{}: this trace does not tell the order between threads; make one with --trace-mode shared",
            arguments.file.display()
        );
    }
    let limit = arguments.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    text_to_stdout(|out| {
        for event in Merged::of(trace, threads.iter().copied())?.take(limit) {
            let (thread, event) = event?;
            write!(out, "{:>6}", threads[thread].number)?;
            write(trace, arguments, event, out)?;
        }
        Ok::<(), anyhow::Error>(())
    })
}

fn dump(trace: &Trace, thread: &ThreadChunks, arguments: &TraceDump, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "thread {} {}", thread.number, thread.thread.name)?;
    let (mut decoder, mut whole) = (Decoder::default(), Whole::new(&trace.program));
    let mut lines = Lines { trace, arguments, left: arguments.limit.unwrap_or(u64::MAX), depth: 0 };
    let mut events = Vec::new();
    for chunk in trace.chunks(thread)? {
        let chunk = chunk?;
        if chunk.is_behind_gap {
            whole.gap();
            writeln!(out, "  (chunks are missing)")?;
        }
        for &word in chunk.words.as_chunks::<4>().0 {
            let Some(event) = decoder.word(u32::from_le_bytes(word))? else { continue };
            whole.event(event, &mut |event| events.push(event));
            for event in events.drain(..) {
                if !lines.event(event, out)? {
                    return Ok(());
                }
            }
        }
    }
    whole.finish(&mut |event| events.push(event));
    for event in events {
        if !lines.event(event, out)? {
            break;
        }
    }
    Ok(())
}

/// One thread's events that are wanted.
struct Lines<'t> {
    trace: &'t Trace,
    arguments: &'t TraceDump,
    /// How many may come.
    left: u64,
    /// How deep below the method that is looked for.
    depth: u64,
}

impl Lines<'_> {
    /// Writes an event, if it is wanted; whether more may come.
    fn event(&mut self, event: Event, out: &mut dyn Write) -> Result<bool> {
        let Lines { trace, arguments, .. } = *self;
        if let Some(below) = &arguments.below {
            match event {
                Event::Start { method, ends_at_once: false, .. }
                    if self.depth > 0 || name(&trace.program, method, false) == *below =>
                {
                    self.depth += 1;
                }
                Event::End { .. } if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        write(trace, arguments, event, out)?;
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
        write(trace, arguments, event, out)?;
        Ok(true)
    }
}

fn write(trace: &Trace, arguments: &TraceDump, event: Event, out: &mut dyn Write) -> Result<()> {
    let implied = match event {
        Event::Start { method, ends_at_once: false, .. } => trace.program.method(method).and_then(|found| {
            let has_blocks = matches!(
                found.method.recording,
                cct_events::structure::Recording::Full | cct_events::structure::Recording::Blocks
            );
            (has_blocks && !found.method.entry_is_target).then_some(Event::Block { method, block: 0 })
        }),
        _ => None,
    };
    for event in [Some(event), implied].into_iter().flatten() {
        match arguments.numbers {
            true => {
                let words: Words = event.words();
                let words: Vec<String> = words.iter().map(|&word| (word as i32).to_string()).collect();
                writeln!(out, "  {}", words.join(" "))?;
            }
            false => writeln!(out, "  {}", described(trace, event))?,
        }
    }
    Ok(())
}

/// A method's name; with its descriptor, if that is wanted.
fn name(program: &Program, number: u32, whole: bool) -> String {
    let Some(found) = program.method(number) else { return format!("method {number}") };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let class = text(&found.class.name).replace('/', ".");
    let descriptor = if whole { text(&found.method.descriptor) } else { String::new() };
    format!("{class}.{}{descriptor}", text(&found.method.name))
}

fn described(trace: &Trace, event: Event) -> String {
    let program = &trace.program;
    let class = |number: u32| match trace.class_names.get(&number) {
        Some(name) => name.replace('/', "."),
        None => format!("class {number}"),
    };
    let name = |number| name(program, number, true);
    match event {
        Event::Padding => "padding".to_owned(),
        Event::Start { method, ends_at_once, .. } => {
            format!("{} {}", if ends_at_once { "leaf " } else { "start" }, name(method))
        }
        Event::End { method, by_exception } => {
            format!("end   {}{}", name(method), if by_exception { " by an exception" } else { "" })
        }
        Event::Block { method, block } => {
            let bytecodes = program
                .method(method)
                .and_then(|found| found.method.blocks.get(block as usize))
                .map_or(0, |block| block.bytecodes());
            format!("block {} {block} ({bytecodes} bytecodes)", name(method))
        }
        Event::ClassLoaded(number) => format!("loaded {}", class(number)),
        Event::Receiver(number) => format!("of    {}", class(number)),
        Event::Partial(executed) => format!("left by an exception after {executed} bytecodes"),
        Event::Leaf(bci) => format!("leaf at bytecode index {bci}"),
        Event::Call(bci) => format!("call at bytecode index {bci}"),
        Event::Returned(bci) => format!("return to bytecode index {bci}"),
        Event::ById { id, ends_at_once } => {
            let callee =
                program.callee_with_id(id).and_then(|callee| program.callees().get(callee.0 as usize));
            let name = callee.map_or(format!("{id:#018x}"), |c| {
                format!("{}.{}{}", c.class.replace('/', "."), c.name, c.descriptor)
            });
            format!("{} {name}", if ends_at_once { "leaf " } else { "start" })
        }
        Event::Paused => "recording pauses".to_owned(),
        Event::Resumed(0) => "recording goes on".to_owned(),
        Event::Resumed(name) => format!("recording goes on: {}", class(name - 1)),
        Event::Order(turn) => format!("turn  {turn}"),
        Event::Made(bci) => format!("made  an object at bytecode index {bci}"),
        Event::Array { bci, length } => format!("made  an array of {length} at bytecode index {bci}"),
        Event::Arrays { bci, level, count, length } => {
            format!("made  {count} arrays of {length}, {level} inside, at bytecode index {bci}")
        }
        Event::MadeByNative { class: number, length } => format!("made  {} of {length}", class(number)),
        Event::Lock { bci, object } => format!("wants the monitor of {object:08x} at bytecode index {bci}"),
        Event::Locked(object) => format!("has the monitor of {object:08x}"),
        Event::Unlock { bci, object } => {
            format!("gives back the monitor of {object:08x} at bytecode index {bci}")
        }
        Event::Gap(_) => "events are missing here".to_owned(),
    }
}
