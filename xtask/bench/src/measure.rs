//! Measured runs of a program; medians and spread.

use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use xtask_tools::watch::{peak_of, usage_of};

/// Interval of queries of a running program's memory and processor time. Its usage after the last
/// query is missed.
const POLL: Duration = Duration::from_millis(2);

/// One measured run.
pub struct Run {
    /// From the start of the process to its end.
    pub seconds: f64,
    /// Processor time of all its threads, in user and kernel mode.
    pub cpu_seconds: f64,
    /// The largest observed resident set, in KiB.
    pub peak_kib: u64,
    /// The program's standard output.
    pub output: String,
}

/// Runs a program to its end and measures it.
///
/// # Errors
/// Fails if it cannot be started, or fails.
pub fn run(command: &mut Command) -> Result<Run> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.with_context(|| format!("{shown} cannot be started"))?;
    let id = child.id();
    let (ended, is_ended) = mpsc::channel::<()>();
    let (output, seconds, (cpu_seconds, peak_kib)) = thread::scope(|scope| {
        let poller = scope.spawn(move || {
            let (mut cpu, mut peak) = (0.0, 0);
            while is_ended.recv_timeout(POLL) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Both only grow; nothing can be read for a process that has just ended.
                cpu = usage_of(id).map_or(cpu, |(cpu, _)| cpu);
                peak = peak_of(id).unwrap_or(peak);
            }
            (cpu, peak)
        });
        let output = child.wait_with_output();
        let seconds = started.elapsed().as_secs_f64();
        drop(ended);
        (output, seconds, poller.join().unwrap_or_default())
    });
    let output = output.with_context(|| shown.clone())?;
    if !output.status.success() {
        bail!("{shown} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(Run { seconds, cpu_seconds, peak_kib, output: String::from_utf8_lossy(&output.stdout).into_owned() })
}

/// Median and spread of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median; for an even number, the mean of the two in the middle.
    pub median: f64,
    /// The minimum.
    pub least: f64,
    /// The maximum.
    pub most: f64,
}

impl Spread {
    /// The spread of at least one measurement; `None` without any.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Spread { median, least, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        let spread = Spread::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { median: 2.0, least: 1.0, most: 3.0 });
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn a_process_is_timed_and_its_memory_seen() {
        let run = run(Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.2; echo done"]))
        .unwrap();
        assert!(run.seconds >= 0.2, "{}", run.seconds);
        assert!(run.cpu_seconds > 0.0 && run.cpu_seconds < run.seconds, "{}", run.cpu_seconds);
        assert!(run.peak_kib > 0);
        assert_eq!(run.output, "done\n");
    }

    #[test]
    fn a_failing_program_is_no_measurement() {
        assert!(run(Command::new("sh").args(["-c", "echo trouble >&2; exit 1"])).is_err());
    }
}
