//! `cctrewrite trace info`.

use anyhow::Result;
use cct_build::text::counted;
use cct_events::Event;
use cct_events::file::Cut;
use cct_trace::{ThreadChunks, Trace};
use rayon::prelude::*;

use crate::args::TraceInfo;
use crate::exit::text_to_stdout;

/// How many events of each kind there are.
#[derive(Debug, Clone, Copy, Default)]
struct Kinds {
    starts: u64,
    receivers: u64,
    ends: u64,
    blocks: u64,
    partials: u64,
    calls: u64,
    classes: u64,
    others: u64,
    wide: u64,
    unknown: u64,
}

impl Kinds {
    fn of(trace: &Trace, thread: &ThreadChunks) -> Result<Kinds> {
        // A chunk has whole events, so it can be counted without the chunks before it. All cores
        // share even the chunks of a single thread.
        let chunks = (0..thread.count()).into_par_iter();
        let kinds = chunks.map(|place| Ok(Kinds::of_chunk(&trace.chunk(thread, place)?.words)));
        kinds.try_reduce(Kinds::default, |a, b| Ok(Kinds::sum(&[a, b])))
    }

    fn of_chunk(words: &[u8]) -> Kinds {
        let mut kinds = Kinds::default();
        let mut decoder = cct_events::Decoder::default();
        for &word in words.as_chunks::<4>().0 {
            match decoder.word(u32::from_le_bytes(word)) {
                Ok(None) => {}
                Ok(Some(event)) => kinds.add(event),
                Err(_) => kinds.unknown += 1,
            }
        }
        kinds.wide = decoder.wides();
        kinds
    }

    fn add(&mut self, event: Event) {
        *match event {
            Event::Start { .. } => &mut self.starts,
            Event::Receiver(_) => &mut self.receivers,
            Event::End { .. } => &mut self.ends,
            Event::Block { .. } => &mut self.blocks,
            Event::Partial(_) => &mut self.partials,
            Event::Leaf(_) | Event::Call(_) | Event::ById { .. } | Event::Returned(_) => &mut self.calls,
            Event::ClassLoaded(_) => &mut self.classes,
            _ => &mut self.others,
        } += 1;
    }

    fn rows(&self) -> [(&'static str, u64); 8] {
        [
            ("method starts", self.starts),
            ("receivers", self.receivers),
            ("method ends", self.ends),
            ("basic blocks", self.blocks),
            ("blocks left by exceptions", self.partials),
            ("calls of methods without events", self.calls),
            ("classes loaded", self.classes),
            ("others", self.others),
        ]
    }

    fn sum(all: &[Kinds]) -> Kinds {
        let mut sum = Kinds::default();
        for kinds in all {
            sum.starts += kinds.starts;
            sum.receivers += kinds.receivers;
            sum.ends += kinds.ends;
            sum.blocks += kinds.blocks;
            sum.partials += kinds.partials;
            sum.calls += kinds.calls;
            sum.classes += kinds.classes;
            sum.others += kinds.others;
            sum.wide += kinds.wide;
            sum.unknown += kinds.unknown;
        }
        sum
    }

    fn events(&self) -> u64 {
        self.rows().iter().map(|(_, count)| count).sum()
    }
}

/// Runs the command.
pub fn run(arguments: &TraceInfo) -> Result<()> {
    let trace = Trace::open(&arguments.file)?;
    let kinds: Vec<Kinds> =
        trace.threads.par_iter().map(|thread| Kinds::of(&trace, thread)).collect::<Result<_>>()?;
    let sum = Kinds::sum(&kinds);
    let methods: usize = trace.program.classes().iter().map(|class| class.methods.len()).sum();
    text_to_stdout(|out| {
        writeln!(out, "{}", arguments.file.display())?;
        for key in ["main", "jvm", "tool"] {
            if let Some(value) = trace.meta.get(key) {
                writeln!(out, "  {key}: {value}")?;
            }
        }
        let end = match (trace.cut, trace.is_complete) {
            (Some(Cut::Corrupt(at)), _) => format!("damaged at byte {at}"),
            (Some(Cut::Truncated(at)), _) => format!("cut off at byte {at}"),
            (None, false) => {
                "truncated: the JVM was killed or crashed; complete up to the last chunk".to_owned()
            }
            (None, true) => "complete".to_owned(),
        };
        writeln!(out, "  {end}")?;
        if let Some(last) = trace.last {
            writeln!(out, "  only the last events: at least {last} of each thread that has so many")?;
        }
        if trace.is_ordered {
            writeln!(out, "  in the global order of all threads")?;
        }
        let sizes = trace.sizes;
        let events = sum.events();
        let each = |bytes: u64| if events == 0 { 0.0 } else { bytes as f64 / events as f64 };
        writeln!(
            out,
            "  {} bytes: {} of events ({:.2} each, {:.2} before they were compressed), {} of classes",
            sizes.file,
            sizes.stored,
            each(sizes.stored),
            each(sizes.events),
            sizes.structure
        )?;
        writeln!(
            out,
            "  {} with {}",
            counted(trace.program.classes().len() as u64, "class"),
            counted(methods as u64, "method")
        )?;
        writeln!(out, "events: {events}")?;
        for (name, count) in sum.rows().iter().filter(|(_, count)| *count > 0) {
            writeln!(out, "  {count:>14}  {name}")?;
        }
        writeln!(out, "  {:>14}  of two words, since one is too short", sum.wide)?;
        if sum.unknown > 0 {
            writeln!(out, "  {:>14}  words that are not events of this version", sum.unknown)?;
        }
        writeln!(out, "threads:")?;
        for (thread, kinds) in trace.threads.iter().zip(&kinds) {
            let missing = match thread.missing {
                0 => String::new(),
                missing => format!(", {missing} chunks missing"),
            };
            writeln!(out, "  {:>14}  {} {}{missing}", kinds.events(), thread.number, thread.thread.name)?;
        }
        for note in &trace.notes {
            writeln!(out, "note: {note}")?;
        }
        Ok::<(), anyhow::Error>(())
    })
}
