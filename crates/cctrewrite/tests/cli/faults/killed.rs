//! Killed commands: the output's place has the old output, or the new one, complete.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::support::run;
use super::{Contents, Dice, WORKS, Work, can, contents, is_temporary, names, number, stored};

/// Counts over many killed commands.
#[derive(Debug, Default)]
struct Tally {
    killed: usize,
    old: usize,
    new: usize,
    temporary: usize,
}

/// Checks the files after a killed command, and cleans up for the next one.
fn inspect(work: &Work, home: &Path, before: &[String], [old, new]: &[Contents; 2], tally: &mut Tally) {
    let found = contents(&home.join(work.output));
    assert!(found == *old || found == *new, "{}: neither the old one nor the new one", work.output);
    tally.killed += 1;
    tally.old += usize::from(found == *old);
    tally.new += usize::from(found == *new);
    let left: Vec<String> = names(home).into_iter().filter(|name| !before.contains(name)).collect();
    assert!(left.iter().all(|name| is_temporary(name)), "{}: {left:?}", work.output);
    let earlier = tally.temporary;
    tally.temporary = left.len();
    // One for each output; the second work has a report next to its jar.
    assert!(left.len() <= earlier + 2, "{}: {left:?}", work.output);
    work.restore(home, old);
}

/// Leftovers do no harm, and stay: they could belong to another, running command.
fn finish(work: &Work, home: &Path, [_, new]: &[Contents; 2], tally: &Tally) {
    let left = names(home);
    run(home, work.arguments).succeeds();
    assert!(contents(&home.join(work.output)) == *new, "{}", work.output);
    assert_eq!(names(home), left, "{}", work.output);
    eprintln!("{}: {tally:?}", work.output);
}

/// `KILLS=1000` for that many moments of each command.
#[test]
fn at_random_moments_the_old_output_or_the_new_one_is_there() {
    for (seed, work) in WORKS.iter().enumerate() {
        let folder = stored();
        let home = folder.path();
        let outputs = work.outputs(home);
        let before = names(home);
        let mut longest = Duration::ZERO;
        for _ in 0..5 {
            let started = Instant::now();
            assert!(work.command(home).output().unwrap().status.success());
            longest = longest.max(started.elapsed());
        }
        work.restore(home, &outputs[0]);
        let (mut dice, mut tally) = (Dice(seed as u64), Tally::default());
        for _ in 0..number("KILLS", 20) {
            let moment = Duration::from_nanos(dice.below(longest.as_nanos() as u64));
            let mut child = work.command(home).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(moment);
            child.kill().unwrap();
            child.wait().unwrap();
            inspect(work, home, &before, &outputs, &mut tally);
        }
        finish(work, home, &outputs, &tally);
    }
}

/// System calls that change something that others can see, or that open files.
const CHANGES: &str = "write,pwrite64,writev,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,linkat,ftruncate,\
                       chmod,fchmod,fchmodat,copy_file_range,sendfile,openat";

/// Random moments are rarely between two calls in direct succession. Here the process is killed
/// before each call.
#[test]
fn at_every_system_call_the_old_output_or_the_new_one_is_there() {
    if !can_trace() {
        return;
    }
    let mut killed = 0;
    for work in &WORKS {
        let folder = stored();
        let home = folder.path();
        let outputs = work.outputs(home);
        let before = names(home);
        let mut tally = Tally::default();
        for (call, number) in calls(work, home) {
            for number in spread(number) {
                work.restore(home, &outputs[0]);
                let output = traced(work, home, &format!("{call}:signal=KILL:when={number}"));
                assert!(!output.status.success(), "{call} {number}");
                inspect(work, home, &before, &outputs, &mut tally);
            }
        }
        assert!(tally.killed > 5, "{tally:?}");
        killed += tally.killed;
        finish(work, home, &outputs, &tally);
    }
    eprintln!("{killed} system calls");
}

/// All numbers up to one, or about ten of them, including the last: the files of a folder are all
/// written in the same way. `CALLS=all` for all.
pub fn spread(number: usize) -> impl Iterator<Item = usize> {
    let step = if std::env::var_os("CALLS").is_some() { 1 } else { number.div_ceil(10) };
    (1..=number).rev().step_by(step)
}

/// Whether system calls can be traced and changed here.
pub fn can_trace() -> bool {
    can("strace", &["-f", "-e", "inject=write:signal=CONT:when=1", "true"])
}

fn strace(work: &Work, home: &Path, options: &[&str]) -> std::process::Output {
    let command = work.command(home);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq"]).args(options).arg(command.get_program());
    // Calls are counted for each thread separately, so there are as few threads as possible.
    traced.args(work.arguments.iter().map(|a| a.replace("--threads=2", "--threads=1")));
    traced.current_dir(home).env_remove("COLUMNS").stdin(Stdio::null()).output().unwrap()
}

/// The calls of [`CHANGES`] that a command makes, each with the maximum number per thread. The
/// earlier output is there.
pub fn calls(work: &Work, home: &Path) -> Vec<(String, usize)> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = strace(work, home, &["-e", &format!("trace={CHANGES}"), "-o", log.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut of_threads: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        // `1234 openat(AT_FDCWD, ...`; a call that another thread interrupted continues in a line
        // without a call.
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
        if CHANGES.split(',').any(|known| known == call) {
            *of_threads.entry((call.to_owned(), thread.to_owned())).or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((call, _), number) in of_threads {
        let known = most.entry(call).or_default();
        *known = number.max(*known);
    }
    most.into_iter().collect()
}

/// Runs the command with faults injected into its calls.
pub fn traced(work: &Work, home: &Path, injected: &str) -> std::process::Output {
    let call = injected.split(':').next().unwrap_or_default();
    strace(
        work,
        home,
        &["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &format!("inject={injected}")],
    )
}
