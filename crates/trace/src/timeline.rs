//! A timeline for viewers of Chrome's trace format (Perfetto, chrome://tracing): a bar for each
//! sufficiently long call.
//!
//! Events have no clock: the time of a thread is its number of executed bytecodes, one being a
//! microsecond. So bars of different threads at the same time need not have run concurrently.
//!
//! A long trace has more calls than any viewer shows and memory holds: the longest of the requested
//! ones are kept. A caller takes at least as long as its callees, so the callers of shown calls are
//! shown, too.

use std::cmp::Reverse;
use std::io::{self, Write};

use rayon::prelude::*;
use serde_json::json;

use crate::contexts::of_thread;
use crate::file::{Error, Trace};
use crate::found::TracedMethod;
use crate::program::{Callee, Program};
use crate::replay::{Oddities, Visitor};

/// Options of a timeline.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Hides calls with fewer bytecodes, callees included.
    pub least: u64,
    /// Hides deeper calls.
    pub depth: usize,
    /// Maximum number of shown calls: the longest of the others.
    pub limit: usize,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bar {
    duration: u64,
    since: u64,
    /// The index of its thread.
    thread: u32,
    depth: u32,
    callee: Callee,
}

impl Bar {
    /// Bars of lower rank are kept. Ranks are unique.
    fn rank(&self) -> (Reverse<u64>, u32, u64, u32) {
        (Reverse(self.duration), self.thread, self.since, self.depth)
    }
}

/// The longest bars.
#[derive(Debug)]
struct Longest {
    bars: Vec<Bar>,
    limit: usize,
    /// Shorter bars can no longer be among them.
    least: u64,
    left_out: u64,
}

impl Longest {
    fn new(options: Options) -> Longest {
        Longest { bars: Vec::new(), limit: options.limit, least: options.least, left_out: 0 }
    }

    fn add(&mut self, bar: Bar) {
        if bar.duration < self.least {
            self.left_out += 1;
            return;
        }
        self.bars.push(bar);
        // Trims at twice the limit: so each bar costs little.
        if self.bars.len() >= 2 * self.limit.max(1) {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let Some(more) = self.bars.len().checked_sub(self.limit).filter(|&more| more > 0) else { return };
        self.left_out += more as u64;
        if let Some(last) = self.limit.checked_sub(1) {
            let (_, last, _) = self.bars.select_nth_unstable_by_key(last, Bar::rank);
            self.least = last.duration;
        }
        self.bars.truncate(self.limit);
    }

    /// The longest of both.
    fn join(mut self, other: Longest) -> Longest {
        self.left_out += other.left_out;
        self.least = self.least.max(other.least);
        other.bars.into_iter().for_each(|bar| self.add(bar));
        self.trim();
        self
    }
}

/// Builder of a thread's bars.
struct Bars {
    longest: Longest,
    options: Options,
    thread: u32,
    now: u64,
    open: Vec<(Callee, u64)>,
}

impl Bars {
    fn close(&mut self) -> bool {
        let Some((callee, since)) = self.open.pop() else { return false };
        let (duration, depth) = (self.now - since, self.open.len());
        if duration >= self.options.least && depth < self.options.depth {
            let depth = depth as u32;
            self.longest.add(Bar { duration, since, thread: self.thread, depth, callee });
        }
        true
    }
}

impl Visitor for Bars {
    fn enter(&mut self, _: u32, callee: Callee, _: Option<TracedMethod<'_>>) -> u32 {
        self.open.push((callee, self.now));
        self.open.len() as u32
    }

    fn leave(&mut self, _: u32, _: bool) {
        self.close();
    }

    fn block(&mut self, _: u32, _: TracedMethod<'_>, _: u32, bytecodes: u32) {
        self.now += u64::from(bytecodes);
    }

    fn bytecodes(&mut self, _: u32, bytecodes: u32) {
        self.now += u64::from(bytecodes);
    }

    // Bars that have ended would have to shrink: time advances as if the block had been executed.
    fn take_back(&mut self, _: u32, _: u32) {}
}

/// A timeline.
#[derive(Debug)]
pub struct Timeline {
    /// In the order of threads, then of their time, callers first.
    bars: Vec<Bar>,
    /// Number of calls beyond the limit.
    pub left_out: u64,
    /// Oddities of the trace.
    pub oddities: Oddities,
}

impl Timeline {
    /// Computes the timeline of a trace.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn of(trace: &Trace, options: Options) -> Result<Timeline, Error> {
        let none = || (Longest::new(options), Oddities::default());
        let threads = trace.threads.par_iter().zip(0..trace.threads.len() as u32);
        let all = threads.try_fold(none, |(longest, mut oddities), (thread, place)| {
            let bars = Bars { longest, options, thread: place, now: 0, open: Vec::new() };
            let (mut bars, odd, _) = of_thread(trace, thread, bars)?;
            while bars.close() {}
            oddities.add(odd);
            Ok((bars.longest, oddities))
        });
        let (mut longest, oddities) = all.try_reduce(none, |a, b| {
            let mut oddities = a.1;
            oddities.add(b.1);
            Ok::<_, Error>((a.0.join(b.0), oddities))
        })?;
        longest.trim();
        let Longest { mut bars, left_out, .. } = longest;
        bars.sort_unstable_by_key(|bar| (bar.thread, bar.since, bar.depth));
        Ok(Timeline { bars, left_out, oddities })
    }

    /// The bytecodes of the shortest shown call.
    pub fn shortest(&self) -> u64 {
        self.bars.iter().map(|bar| bar.duration).min().unwrap_or_default()
    }

    /// Number of shown calls.
    pub fn shown(&self) -> usize {
        self.bars.len()
    }

    /// Writes the timeline.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn write(&self, trace: &Trace, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut bars = self.bars.iter().peekable();
        for (thread, place) in trace.threads.iter().zip(0..) {
            let name = json!({
                "name": "thread_name", "ph": "M", "pid": 1, "tid": thread.number,
                "args": {"name": thread.thread.name},
            });
            let comma = if place == 0 { "" } else { ",\n" };
            write!(out, "{comma}{name}")?;
            while let Some(bar) = bars.next_if(|bar| bar.thread == place) {
                let name = name_of(&trace.program, bar.callee);
                let (since, duration) = (bar.since, bar.duration);
                let bar = json!({
                    "name": name, "ph": "X", "pid": 1, "tid": thread.number, "ts": since, "dur": duration,
                });
                write!(out, ",\n{bar}")?;
            }
        }
        writeln!(out, "\n]}}")
    }
}

fn name_of(program: &Program, callee: Callee) -> String {
    let called = &program.callees()[callee.0 as usize];
    format!("{}.{}", called.class.replace('/', "."), called.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chunk, class, end, start, trace};

    /// Two threads: `m0` calls `m1` twice, and `m2` in between, which takes longer.
    #[test]
    fn callers_are_shown_before_callees_and_what_is_left_out_is_counted() {
        let calls =
            [start(0), start(1), end(1), start(2), start(1), end(1), end(2), start(1), end(1), end(0)];
        let (_folder, trace) = trace("", [class(3), chunk(1, 0, &calls), chunk(2, 0, &calls)]);
        let of = |least, depth, limit| {
            let timeline = Timeline::of(&trace, Options { least, depth, limit }).unwrap();
            let mut out = Vec::new();
            timeline.write(&trace, &mut out).unwrap();
            let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
            let events = json["traceEvents"].as_array().unwrap().clone();
            let bars = events.into_iter().filter(|event| event["ph"] == "X").map(|bar| {
                (
                    bar["tid"].as_u64().unwrap(),
                    bar["name"].to_string(),
                    bar["ts"].as_u64().unwrap(),
                    bar["dur"].as_u64().unwrap(),
                )
            });
            (bars.collect::<Vec<_>>(), timeline.left_out, timeline.shortest())
        };
        let bar = |thread, name: &str, since, duration| (thread, format!("\"A.{name}\""), since, duration);
        let whole = |thread| {
            [
                bar(thread, "m0", 0, 50),
                bar(thread, "m1", 10, 10),
                bar(thread, "m2", 20, 20),
                bar(thread, "m1", 30, 10),
                bar(thread, "m1", 40, 10),
            ]
        };
        assert_eq!(of(0, 100, 100), ([whole(1), whole(2)].concat(), 0, 10));
        assert_eq!(
            of(11, 100, 100).0,
            [1, 2].map(|of| [bar(of, "m0", 0, 50), bar(of, "m2", 20, 20)]).concat()
        );
        assert_eq!(of(0, 1, 100).0, [1, 2].map(|of| bar(of, "m0", 0, 50)));
        assert_eq!(
            of(0, 100, 3),
            (vec![bar(1, "m0", 0, 50), bar(1, "m2", 20, 20), bar(2, "m0", 0, 50)], 7, 20)
        );
        assert_eq!(of(0, 100, 0), (vec![], 10, 0));
    }

    fn bar(duration: u64, thread: u32, since: u64, depth: u32) -> Bar {
        Bar { duration, since, thread, depth, callee: Callee(0) }
    }

    /// The same bars are kept for any order of threads and any distribution of the work.
    #[test]
    fn the_longest_are_kept() {
        arbtest::arbtest(|u| {
            let limit = u.int_in_range(0..=20)?;
            let options = Options { least: u.int_in_range(0..=10)?, depth: 100, limit };
            let mut all = Vec::new();
            for since in 0..u.int_in_range(0..=200)? {
                all.push(bar(
                    u.int_in_range(options.least..=30)?,
                    u.int_in_range(0..=2)?,
                    since / 2,
                    since as u32 % 2,
                ));
            }
            let mut expected = all.clone();
            expected.sort_by_key(Bar::rank);
            let left_out = expected.len().saturating_sub(limit);
            expected.truncate(limit);
            let (some, others) = all.split_at(u.int_in_range(0..=all.len())?);
            let [some, others] = [some, others].map(|bars| {
                let mut longest = Longest::new(options);
                for &bar in bars {
                    longest.add(bar);
                    assert!(longest.bars.len() <= 2 * limit.max(1));
                }
                longest
            });
            let mut found = some.join(others);
            found.bars.sort_by_key(Bar::rank);
            assert_eq!(found.bars, expected);
            assert_eq!(found.left_out, left_out as u64);
            Ok(())
        });
    }
}
