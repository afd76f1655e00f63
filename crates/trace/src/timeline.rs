//! A timeline for viewers of Chrome's trace format (Perfetto, chrome://tracing): a bar for each call that takes long enough.
//!
//! Events have no clock: the time of a thread is the number of bytecodes that it has executed, one being a microsecond. What threads do at once is not
//! told by that.

use std::io::{self, Write};

use serde_json::json;

use crate::contexts::of_thread;
use crate::file::{Error, Trace};
use crate::program::{Callee, Found};
use crate::replay::Visitor;

/// What is shown.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Calls with fewer bytecodes, callees included, are left out.
    pub least: u64,
    /// Calls deeper than this are left out.
    pub depth: usize,
}

/// Bars of a thread, in the making.
struct Bars<'t, W> {
    trace: &'t Trace,
    out: W,
    options: Options,
    thread: u32,
    now: u64,
    open: Vec<(Callee, u64)>,
    failed: Option<io::Error>,
    is_first: bool,
}

impl<W: Write> Bars<'_, W> {
    fn bar(&mut self, callee: Callee, since: u64) {
        let duration = self.now - since;
        if duration < self.options.least || self.open.len() >= self.options.depth || self.failed.is_some() {
            return;
        }
        let called = &self.trace.program.callees()[callee.0 as usize];
        let name = format!("{}.{}", called.class.replace('/', "."), called.name);
        let bar =
            json!({"name": name, "ph": "X", "pid": 1, "tid": self.thread, "ts": since, "dur": duration});
        let comma = if std::mem::take(&mut self.is_first) { "" } else { ",\n" };
        self.failed = write!(self.out, "{comma}{bar}").err();
    }
}

impl<W: Write> Visitor for Bars<'_, W> {
    fn enter(&mut self, _: u32, callee: Callee, _: Option<Found<'_>>) -> u32 {
        self.open.push((callee, self.now));
        self.open.len() as u32
    }

    fn leave(&mut self, _: u32, _: bool) {
        if let Some((callee, since)) = self.open.pop() {
            self.bar(callee, since);
        }
    }

    fn block(&mut self, _: u32, _: Found<'_>, _: u32, bytecodes: u32) {
        self.now += u64::from(bytecodes);
    }

    fn bytecodes(&mut self, _: u32, bytecodes: u32) {
        self.now += u64::from(bytecodes);
    }

    // Bars that have ended would have to become shorter: time goes on as if the block had been executed.
    fn take_back(&mut self, _: u32, _: u32) {}
}

/// Writes the timeline. Nothing of it is kept in memory but the calls that are open.
///
/// # Errors
/// When the trace cannot be read. What goes wrong with the output is the inner result.
pub fn write(trace: &Trace, options: Options, mut out: &mut dyn Write) -> Result<io::Result<()>, Error> {
    let begin = writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    if begin.is_err() {
        return Ok(begin);
    }
    let mut is_first = true;
    for thread in &trace.threads {
        let name = json!({
            "name": "thread_name", "ph": "M", "pid": 1, "tid": thread.number,
            "args": {"name": thread.thread.name},
        });
        let comma = if std::mem::take(&mut is_first) { "" } else { ",\n" };
        if let Err(e) = write!(out, "{comma}{name}") {
            return Ok(Err(e));
        }
        let bars = Bars {
            trace,
            out: &mut out,
            options,
            thread: thread.number,
            now: 0,
            open: Vec::new(),
            failed: None,
            is_first: false,
        };
        let (mut bars, ..) = of_thread(trace, thread, bars)?;
        while let Some((callee, since)) = bars.open.pop() {
            bars.bar(callee, since);
        }
        if let Some(e) = bars.failed {
            return Ok(Err(e));
        }
    }
    Ok(writeln!(out, "\n]}}"))
}
