//! Figures of a trace.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_tools::process;

/// Number of events, and their size in the file in bytes.
pub fn sizes(cctrewrite: &Path, trace: &Path) -> Result<(u64, u64)> {
    let mut info = Command::new(cctrewrite);
    let info = process::output(info.args(["trace", "info"]).arg(trace))?;
    let number = |what: &str, before: bool| -> Option<u64> {
        let line = info.lines().find(|line| line.contains(what))?;
        let (left, right) = line.split_once(what)?;
        let text =
            if before { left.split_whitespace().next_back()? } else { right.split_whitespace().next()? };
        text.parse().ok()
    };
    let events = number("events: ", false).context("trace info does not say how many events there are")?;
    let stored = number(" of events (", true).context("trace info does not say how large they are")?;
    Ok((events, stored))
}

/// A number with three significant digits.
pub fn spelled(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
