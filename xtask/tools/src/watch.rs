//! Watching a process to its end: exit status, elapsed time, processor time and memory.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Interval of queries of a process.
const POLL: Duration = Duration::from_millis(2);
/// Interval of searches for the processes that a process has started.
const LOOK_AT_ALL: Duration = Duration::from_millis(50);

/// The limits of a process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Elapsed time from start to end.
    pub wall: Duration,
    /// Processor time in seconds.
    pub cpu_seconds: f64,
}

impl Limits {
    /// Limits only the time.
    pub fn of(wall: Duration) -> Limits {
        Limits { wall, cpu_seconds: f64::INFINITY }
    }
}

/// The result of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessEnd {
    /// The exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
    /// Whether it was killed because it exceeded a limit.
    pub is_cut_off: bool,
    /// Elapsed time from start to end.
    pub wall: Duration,
    /// Processor time of all its threads, in user and kernel mode. Processes that it starts count
    /// with [`tree_to_its_end`] alone.
    pub cpu_seconds: f64,
    /// The largest resident set of a process, in KiB.
    pub peak_kib: u64,
}

/// The processes that the times and the memory of [`ProcessEnd`] cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The process alone.
    Process,
    /// The process and those that it starts.
    Tree,
}

/// Runs a command to its end or to a limit.
///
/// # Errors
/// Fails if it cannot be started or waited for.
pub fn to_its_end(command: &mut Command, limits: Limits) -> Result<ProcessEnd> {
    watch(command, limits, Scope::Process)
}

/// Runs a command to its end or to a limit, including the processes that it starts. Their processor
/// time is added if a parent waited for them, and the memory is that of the largest process.
///
/// # Errors
/// Fails if it cannot be started or waited for.
pub fn tree_to_its_end(command: &mut Command, limits: Limits) -> Result<ProcessEnd> {
    watch(command, limits, Scope::Tree)
}

fn watch(command: &mut Command, limits: Limits, scope: Scope) -> Result<ProcessEnd> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{shown} cannot be started"))?;
    let mut is_cut_off = false;
    let (mut cpu_seconds, mut peak_kib) = (0.0, 0);
    let mut looked_at_all = started;
    let status = loop {
        match times_of(child.id(), scope) {
            // An ended process keeps its times until its parent waits for it.
            Some((cpu, true)) => {
                cpu_seconds = cpu;
                break child.wait()?;
            }
            Some((cpu, false)) => {
                cpu_seconds = cpu;
                peak_kib = peak_kib.max(peak_of(child.id()).unwrap_or(0));
                if scope == Scope::Tree && looked_at_all.elapsed() > LOOK_AT_ALL {
                    looked_at_all = Instant::now();
                    let peaks = descendants(child.id()).into_iter().filter_map(peak_of);
                    peak_kib = peaks.max().unwrap_or(0).max(peak_kib);
                }
            }
            // The system has no proc(5).
            None => {
                if let Some(status) = child.try_wait()? {
                    break status;
                }
            }
        }
        if !is_cut_off && (started.elapsed() > limits.wall || cpu_seconds > limits.cpu_seconds) {
            is_cut_off = true;
            child.kill().context("cannot end a process that exceeded its limit")?;
        }
        thread::sleep(POLL);
    };
    Ok(ProcessEnd { exit: status.code(), is_cut_off, wall: started.elapsed(), cpu_seconds, peak_kib })
}

/// The largest resident set of a process so far, in KiB: `VmHWM` of proc(5).
pub fn peak_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The processor time of a process so far, and whether it has ended. These are `utime`, `stime` and
/// the state of proc(5), the fields 14, 15 and 3.
pub fn usage_of(process: u32) -> Option<(f64, bool)> {
    times_of(process, Scope::Process)
}

/// The processor time of all processes that a process has waited for, and of theirs: `cutime` and
/// `cstime` of proc(5).
pub fn children_of(process: u32) -> Option<f64> {
    Some(times_of(process, Scope::Tree)?.0 - usage_of(process)?.0)
}

/// The processor time and end of a process, as [`usage_of`]. A tree also has `cutime` and `cstime`,
/// the fields 16 and 17: the times of children that were waited for, and of theirs.
fn times_of(process: u32, scope: Scope) -> Option<(f64, bool)> {
    /// Linux gives these times in hundredths of a second on all its machines (`USER_HZ`).
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields = after_name(&stat)?;
    let count = if scope == Scope::Tree { 4 } else { 2 };
    let times = fields.split(' ').skip(14 - 3).take(count).map(|field| field.parse::<f64>().ok());
    Some((times.sum::<Option<f64>>()? / TICKS_PER_SECOND, fields.starts_with('Z')))
}

/// The fields of `/proc/PID/stat` from the third on: field 2 is the name in parentheses, which may
/// contain anything.
fn after_name(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ").map(|(_, fields)| fields)
}

/// The processes that a process has started, directly or indirectly.
fn descendants(process: u32) -> Vec<u32> {
    let parent = |of: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{of}/stat")).ok()?;
        after_name(&stat)?.split(' ').nth(1)?.parse().ok()
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = all.filter_map(|of| Some((of, parent(of)?))).collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&of) = found.get(next) {
        found.extend(
            parents
                .iter()
                .filter(|(child, parent)| *parent == of && child != parent)
                .map(|(child, _)| *child),
        );
        next += 1;
    }
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> ProcessEnd {
        to_its_end(Command::new("sh").args(["-c", script]), limits).unwrap()
    }

    #[test]
    fn a_run_has_an_end_and_times() {
        let ended = shell(
            "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.2; exit 7",
            Limits::of(Duration::from_mins(1)),
        );
        assert_eq!((ended.exit, ended.is_cut_off), (Some(7), false));
        assert!(ended.wall >= Duration::from_millis(200), "{ended:?}");
        assert!(ended.cpu_seconds > 0.0 && ended.cpu_seconds < ended.wall.as_secs_f64(), "{ended:?}");
        assert!(ended.peak_kib > 0);
        assert_eq!(shell("kill -9 $$", Limits::of(Duration::from_mins(1))).exit, None);
    }

    #[test]
    fn processes_that_it_starts_count_where_they_are_asked_for() {
        // The second shell works; the first one only waits for it.
        let script = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.3'; true";
        let limits = Limits::of(Duration::from_mins(1));
        let tree = tree_to_its_end(Command::new("sh").args(["-c", script]), limits).unwrap();
        let alone = shell(script, limits);
        assert!(tree.cpu_seconds > alone.cpu_seconds + 0.02, "{tree:?} {alone:?}");
        let grows = "awk 'BEGIN { while (length(s) < 40000000) s = s \"0123456789012345678901234567890123456789\" s \"0\"; system(\"sleep 0.3\") }'; true";
        let [tree, alone] = [tree_to_its_end, to_its_end]
            .map(|run| run(Command::new("sh").args(["-c", grows]), limits).unwrap().peak_kib);
        assert!(tree > alone + 20_000, "{tree} KiB, {alone} KiB");
    }

    #[test]
    fn what_exceeds_a_limit_is_ended() {
        let ended = shell("exec sleep 60", Limits::of(Duration::from_millis(50)));
        assert_eq!((ended.exit, ended.is_cut_off), (None, true));
        let limits = Limits { wall: Duration::from_mins(1), cpu_seconds: 0.1 };
        let ended = shell("while :; do :; done", limits);
        assert!(ended.is_cut_off && ended.cpu_seconds > 0.1 && ended.cpu_seconds < 10.0, "{ended:?}");
    }
}
