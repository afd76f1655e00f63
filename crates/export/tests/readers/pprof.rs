//! Go's pprof.

use std::collections::BTreeMap;
use std::process::Command;

use cct_export::{NameForm, Options, pprof};

use crate::expected::{Counts, ExpectedNumbers};
use crate::programs::{Case, cases, cases_of_methods, output, place, split};

#[test]
fn pprof_finds_all_samples() {
    let Some(program) = place("pprof", "pprof") else { return };
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let expected = ExpectedNumbers::of(&case);
        let file = case.write(folder.path(), "profile.pb.gz", pprof::write);
        let raw = output(Command::new(&program).arg("-raw").arg(&file));
        assert_eq!(stacks(&raw, case.options.per_thread), expected.stacks, "{}", case.name);
    }
}

#[test]
fn pprof_finds_the_numbers_of_all_methods() {
    let Some(program) = place("pprof", "pprof") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (case, expected) in cases_of_methods() {
        let file = case.write(folder.path(), "profile.pb.gz", pprof::write);
        for (metric, number) in
            [("bytecodes", (|c| c.bytecodes) as fn(&Counts) -> u64), ("calls", |c| c.calls)]
        {
            let mut command = Command::new(&program);
            command.args(["-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"]);
            let text = output(command.arg(format!("-sample_index={metric}")).arg(&file));
            let total = format!("100% of {} total", number(&expected.total));
            assert!(text.contains(&total), "{}: {total} is not in {text}", case.name);
            let top = top(&text);
            let wanted: BTreeMap<String, (u64, u64)> = expected
                .methods
                .iter()
                .map(|(method, (own, inclusive))| (method.clone(), (number(own), number(inclusive))))
                .filter(|(_, counts)| *counts != (0, 0))
                .collect();
            assert_eq!(top, wanted, "{metric} of {}", case.name);
        }
    }
}

#[test]
fn pprof_shows_lines_of_call_sites() {
    let Some(program) = place("pprof", "pprof") else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = Options { form: NameForm::Exact, ..Options::default() };
    let case = Case { name: "split", profile: split(), options };
    let file = case.write(folder.path(), "profile.pb.gz", pprof::write);
    let mut command = Command::new(&program);
    command.args(["-top", "-lines", "-cum", "-nodecount=1000000", "-nodefraction=0"]).arg(&file);
    let text = output(&mut command);
    // `main` calls `run`, which has 60 bytecodes, from line 101.
    let line = text.lines().find(|line| line.ends_with("a.Main.main([Ljava/lang/String,)V a/Main.class:101"));
    let columns: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    assert_eq!(columns.get(3), Some(&"60"), "{text}");
}

/// The samples that `-raw` shows: a line `100 1: 3 2 1` (bytecodes, calls, locations, the innermost
/// first), and after some a line of labels; then the locations,
/// `3: 0x0 M=1 name file:0 s=0(other name)`.
fn stacks(raw: &str, per_thread: bool) -> BTreeMap<String, Counts> {
    let (samples, rest) = raw.split_once("\nLocations\n").unwrap();
    let (locations, _) = rest.split_once("\nMappings\n").unwrap();
    let names: BTreeMap<&str, &str> = locations
        .lines()
        .map(|line| {
            let (id, rest) = line.trim().split_once(": 0x0 M=1 ").unwrap();
            // The name is followed by the file, `:0 s=0`, and the JVM's name.
            let name = rest.rsplit_once(" s=0").unwrap().0.rsplit_once(' ').unwrap().0;
            (id, name)
        })
        .collect();
    let (_, samples) = samples.split_once("\nbytecodes/count").unwrap();
    let mut stacks = BTreeMap::new();
    let mut lines = samples.lines().skip(1).peekable();
    while let Some(line) = lines.next() {
        let (counts, locations) = line.split_once(": ").unwrap();
        let mut counts = counts.split_whitespace().map(|count| count.parse().unwrap());
        let counts = Counts { bytecodes: counts.next().unwrap(), calls: counts.next().unwrap() };
        let mut frames: Vec<String> = locations.split_whitespace().map(|id| names[id].to_owned()).collect();
        if per_thread {
            let label = lines.next().unwrap().trim();
            let thread = label.strip_prefix("thread:[").unwrap().strip_suffix(']').unwrap();
            frames.push(format!("[{thread}]"));
        }
        frames.reverse();
        assert_eq!(stacks.insert(frames.join(";"), counts), None);
    }
    stacks
}

/// The lines of `-top`, one for each function: `flat flat% sum% cum cum% name`.
fn top(text: &str) -> BTreeMap<String, (u64, u64)> {
    let (_, table) = text.split_once("cum%\n").unwrap();
    let rows = table.lines().map(|line| {
        let mut rest = line.trim_start();
        let mut columns = Vec::new();
        for _ in 0..5 {
            let (column, tail) = rest.split_once(' ').unwrap();
            columns.push(column);
            rest = tail.trim_start();
        }
        (rest.to_owned(), (columns[0].parse().unwrap(), columns[3].parse().unwrap()))
    });
    rows.collect()
}
