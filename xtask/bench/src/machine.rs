//! The machine of the measurements, and waiting until it is quiet.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use xtask_tools::key_values::entry;
use xtask_tools::process;
use xtask_tools::workspace;

/// Maximum one-minute load average of a quiet machine.
const QUIET: f64 = 1.5;
/// Maximum time to wait for it.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Waits until the load average is low, up to the maximum time. Does not wait if the load cannot be
/// read.
pub fn wait_until_quiet() {
    let started = Instant::now();
    while let Some(load) = load().filter(|&load| load >= QUIET) {
        if started.elapsed() > PATIENCE {
            eprintln!("the load of the machine stays too high");
            return;
        }
        eprintln!("waiting for a load average below {QUIET} (now {load})");
        thread::sleep(Duration::from_secs(10));
    }
}

/// The load average of the last minute.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// A line about the machine: processor, cores, memory, system.
pub fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory, system) = (read("/proc/cpuinfo"), read("/proc/meminfo"), read("/etc/os-release"));
    let model = value(&cpu, "model name").unwrap_or("an unknown processor");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let kib: u64 = value(&memory, "MemTotal")
        .and_then(|text| text.strip_suffix(" kB")?.parse().ok())
        .unwrap_or_default();
    format!(
        "{model}, {cores} cores, {} GB of memory, {}, Linux {}",
        kib.div_ceil(1 << 20),
        entry(&system, "PRETTY_NAME").unwrap_or("an unknown system"),
        // The number without the distribution's suffix.
        read("/proc/sys/kernel/osrelease").split('-').next().unwrap_or_default().trim()
    )
}

/// The value in a line `key : value`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':').map(str::trim))
}

/// The commit of the workspace, with a `+` if files in it differ from the commit.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        process::output(Command::new("git").args(arguments).current_dir(workspace::root()))
    };
    let Ok(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".to_owned() };
    let changed = git(&["status", "--porcelain"]).is_ok_and(|changes| !changes.is_empty());
    format!("{}{}", commit.trim(), if changed { "+" } else { "" })
}

/// Today's date in UTC.
pub fn date() -> String {
    process::output(Command::new("date").args(["-u", "+%F"]))
        .map_or_else(|_| "undated".to_owned(), |d| d.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_keys() {
        let cpu = "vendor_id\t: X\nmodel\t\t: 85\nmodel name\t: A Processor @ 2 GHz\n";
        assert_eq!(value(cpu, "model name"), Some("A Processor @ 2 GHz"));
        assert_eq!(value("MemTotal:       24 kB\n", "MemTotal"), Some("24 kB"));
        assert_eq!(value(cpu, "cores"), None);
    }
}
