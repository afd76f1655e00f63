//! The disk is full, a file may not grow, a system call fails: a message, the exit code, the old
//! output, no leftovers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::killed::{calls, can_trace, spread, traced};
use super::{Contents, WORKS, Work, can, contents, ended, is_temporary, names, on_tmpfs, stored};

/// Checks that a disturbed command has succeeded with its whole output, or failed and left
/// everything unchanged. Returns whether it failed.
fn judge(
    work: &Work,
    home: &Path,
    before: &[String],
    outputs: &[Contents; 2],
    output: Output,
    why: &str,
) -> bool {
    let [old, new] = outputs;
    let run = ended(output);
    let found = contents(&home.join(work.output));
    if run.code == Some(0) {
        // The new output is in its place; the old one could not be removed completely.
        for name in names(home).iter().filter(|name| is_temporary(name)) {
            fs::remove_dir_all(home.join(name)).unwrap();
        }
    }
    assert_eq!(names(home), before, "{}: something was left over: {}", work.output, run.stderr);
    if run.code == Some(0) {
        assert!(found == *new, "{}: {}", work.output, run.stderr);
        work.restore(home, old);
        return false;
    }
    assert_eq!(run.code, Some(1), "{} {why}: {}", work.output, run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(
        run.stderr.starts_with("cctrewrite: ") && run.stderr.contains(why),
        "{}: {}",
        work.output,
        run.stderr
    );
    // Several outputs are moved to their places one after the other.
    assert!(
        found == *old || work.output == "report.json" && found == *new,
        "{}: {}",
        work.output,
        run.stderr
    );
    work.restore(home, old);
    true
}

/// `ulimit -f`, in blocks of 512 bytes. The system sends SIGXFSZ, which by default would end the
/// command.
#[test]
fn files_that_may_not_grow() {
    let mut cases = 0;
    for work in &WORKS {
        let folder = stored();
        let home = folder.path();
        let outputs = work.outputs(home);
        let before = names(home);
        for blocks in 0.. {
            let command = work.command(home);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("ulimit -f {blocks} && exec \"$0\" \"$@\"")]);
            shell.arg(command.get_program()).args(command.get_args()).current_dir(home);
            cases += 1;
            if !judge(work, home, &before, &outputs, shell.output().unwrap(), "File too large") {
                break;
            }
        }
    }
    eprintln!("{cases} limits");
    assert!(cases > 50, "{cases}");
}

/// A file system of every size from one page up to a sufficient one.
#[test]
fn disks_that_are_full() {
    if !can("unshare", &["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]) {
        return;
    }
    let mut cases = 0;
    for work in &WORKS {
        let folder = stored();
        let home = folder.path();
        let [_, new] = work.outputs(home);
        let expected = total(&new);
        let mount = home.join("full");
        fs::create_dir(&mount).unwrap();
        let arguments: Vec<String> = work.arguments.iter().map(|a| into(a, work, &mount)).collect();
        for pages in 1.. {
            let mut command = super::command();
            command.current_dir(home).args(&arguments);
            // The files are listed before the file system is gone.
            let script = "code=0; \"$@\" || code=$?; cd \"$0\" && find . -type f -exec cat {} + | wc -c && ls -A; exit $code";
            let mut inner = Command::new("sh");
            inner.current_dir(home).args(["-c", script]).arg(&mount).arg(command.get_program());
            inner.args(command.get_args());
            let run = ended(on_tmpfs(&format!("size={}k", 4 * pages), &mount, &inner).output().unwrap());
            cases += 1;
            let mut said = run.stdout.lines();
            let bytes: usize = said.next().unwrap_or_default().trim().parse().unwrap();
            if run.code == Some(0) {
                assert!(bytes >= expected, "{}: {bytes} of {expected} bytes", work.output);
                break;
            }
            assert_eq!((run.code, bytes, said.next()), (Some(1), 0, None), "{}: {}", work.output, run.stderr);
            assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        }
        assert_eq!(names(&mount), [""; 0]);
    }
    eprintln!("{cases} sizes");
    assert!(cases > 20, "{cases}");
}

/// The argument, with its output paths below another folder.
fn into(argument: &str, work: &Work, mount: &Path) -> String {
    if argument == work.output || argument == "beside.jar" {
        return mount.join(argument).display().to_string();
    }
    argument.to_owned()
}

fn total(contents: &Contents) -> usize {
    let files = contents.iter().flatten();
    files.map(|(_, bytes)| bytes.as_ref().map_or(0, Vec::len)).sum()
}

/// Each system call that creates something fails once, for lack of space and by a broken disk.
#[test]
fn system_calls_that_fail() {
    if !can_trace() {
        return;
    }
    for (error, why) in [("ENOSPC", "No space left on device"), ("EIO", "Input/output error")] {
        let (mut cases, mut failed) = (0, 0);
        for work in &WORKS {
            let folder = stored();
            let home = folder.path();
            let outputs = work.outputs(home);
            let before = names(home);
            for (call, number) in calls(work, home) {
                // Temporary files cannot be removed if the system does not allow it.
                if call.starts_with("unlink") || call == "rmdir" {
                    continue;
                }
                for number in spread(number) {
                    work.restore(home, &outputs[0]);
                    let mut output = traced(work, home, &format!("{call}:error={error}:when={number}"));
                    if call == "write" && output.stderr.is_empty() && !output.status.success() {
                        // Calls are counted for each thread separately: after one thread's first
                        // write, the message's write is the first one of another thread.
                        output.stderr = format!("cctrewrite: {why}\n").into_bytes();
                    }
                    // A program that cannot open its libraries has not reached cctrewrite's code.
                    if output.status.code() != Some(127) {
                        cases += 1;
                        failed += usize::from(judge(work, home, &before, &outputs, output, why));
                    }
                }
            }
        }
        eprintln!("{error}: {cases} calls failed, of which the command could not do without {failed}");
        assert!(failed > 20, "{failed}");
    }
}

/// Commands that print report the error, and fail.
#[test]
fn a_standard_output_that_is_full() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let folder = stored();
    let home = folder.path();
    let mut tried = 0;
    for (arguments, code) in [
        (&["report", "a.cct"][..], 1),
        (&["report", "a.cct", "--format", "json"], 1),
        (&["report", "a.cct", "--html", "-"], 1),
        (&["info", "a.cct"], 1),
        (&["merge", "a.cct", "b.cct", "-o", "-"], 1),
        (&["export", "a.cct", "--format", "collapsed", "-o", "-"], 1),
        (&["export", "a.cct", "--format", "collapsed", "-o", "/dev/full"], 1),
        (&["report", "a.cct", "--html", "/dev/full"], 1),
        (&["compare", "a.cct", "b.cct"], 2),
        (&["diff", "a.cct", "b.cct"], 2),
        (&["explain", "app.jar", "Sample"], 1),
        (&["completions", "bash"], 1),
    ] {
        let mut command = super::command();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.current_dir(home).args(arguments).stdout(full).output().unwrap();
        let run = ended(output);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("No space left on device"), "{arguments:?}: {}", run.stderr);
        tried += 1;
    }
    assert_eq!(tried, 12);
}
