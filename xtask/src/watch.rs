//! A process that is watched to its end: how it ends, how long it takes, how much processor time and memory.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// How often a process is asked.
const POLL: Duration = Duration::from_millis(2);

/// What a process must not exceed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From start to end.
    pub wall: Duration,
    /// Processor time in seconds.
    pub cpu_seconds: f64,
}

impl Limits {
    /// On the time alone.
    pub fn of(wall: Duration) -> Limits {
        Limits { wall, cpu_seconds: f64::INFINITY }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// The exit code; none if a signal ended it.
    pub exit: Option<i32>,
    /// Whether it was ended because it exceeded a limit.
    pub is_cut_off: bool,
    /// From start to end.
    pub wall: Duration,
    /// Processor time of all its threads, in the program and in the kernel; not that of processes that it starts.
    pub cpu_seconds: f64,
    /// The largest resident set, in KiB.
    pub peak_kib: u64,
}

/// Runs a command to its end or to a limit.
///
/// # Errors
/// If it cannot be started, or not be waited for.
pub fn to_its_end(command: &mut Command, limits: Limits) -> Result<Ended> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{shown} cannot be started"))?;
    let mut is_cut_off = false;
    let (mut cpu_seconds, mut peak_kib) = (0.0, 0);
    let status = loop {
        match usage_of(child.id()) {
            // What has ended keeps its times until somebody waits for it.
            Some((cpu, true)) => {
                cpu_seconds = cpu;
                break child.wait()?;
            }
            Some((cpu, false)) => {
                cpu_seconds = cpu;
                peak_kib = peak_of(child.id()).unwrap_or(peak_kib);
            }
            // There is no proc(5).
            None => {
                if let Some(status) = child.try_wait()? {
                    break status;
                }
            }
        }
        if !is_cut_off && (started.elapsed() > limits.wall || cpu_seconds > limits.cpu_seconds) {
            is_cut_off = true;
            child.kill().context("a process that has exceeded its limit cannot be ended")?;
        }
        thread::sleep(POLL);
    };
    Ok(Ended { exit: status.code(), is_cut_off, wall: started.elapsed(), cpu_seconds, peak_kib })
}

/// The largest resident set of a process so far, in KiB: `VmHWM` of proc(5).
pub fn peak_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The processor time of a process so far, and whether it has ended: `utime`, `stime` and the state of proc(5), the fields 14, 15 and 3.
pub fn usage_of(process: u32) -> Option<(f64, bool)> {
    /// Linux gives these times in hundredths of a second on all its machines (`USER_HZ`).
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Field 2 is the name in parentheses, which may hold anything; the fields behind it are numbered from 3.
    let (_, behind) = stat.rsplit_once(") ")?;
    let mut times = behind.split(' ').skip(14 - 3).map_while(|field| field.parse::<f64>().ok());
    Some(((times.next()? + times.next()?) / TICKS_PER_SECOND, behind.starts_with('Z')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> Ended {
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
    fn what_exceeds_a_limit_is_ended() {
        let ended = shell("exec sleep 60", Limits::of(Duration::from_millis(50)));
        assert_eq!((ended.exit, ended.is_cut_off), (None, true));
        let limits = Limits { wall: Duration::from_mins(1), cpu_seconds: 0.1 };
        let ended = shell("while :; do :; done", limits);
        assert!(ended.is_cut_off && ended.cpu_seconds > 0.1 && ended.cpu_seconds < 10.0, "{ended:?}");
    }
}
