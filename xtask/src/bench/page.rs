//! docs/benchmarks.md: one section for each benchmark, between two comment lines. What stands outside of them is left alone.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::machine;
use super::measure::Spread;
use crate::workspace;

/// What `bench rewrite` measured.
pub struct Page {
    /// The table.
    pub rows: Vec<Row>,
    /// Measurements behind each median.
    pub rounds: u32,
    /// Load averages of the machine.
    pub load_before: f64,
    /// The same at the end; the benchmark itself is in it.
    pub load_after: f64,
    /// The JDK's full version.
    pub jdk: String,
    /// ASM's version.
    pub asm: String,
    /// The size of `rt.jar`.
    pub input_bytes: u64,
}

/// One subject.
pub struct Row {
    /// What was run.
    pub name: String,
    /// Whether the others' times are given as multiples of this one.
    pub is_reference: bool,
    /// Wall-clock times.
    pub seconds: Spread,
    /// Processor times; none of what is no process of its own.
    pub cpu_seconds: Option<Spread>,
    /// The largest peak of all rounds; none of what is no process of its own.
    pub peak_kib: Option<u64>,
    /// The size of the output.
    pub output_bytes: u64,
}

/// Writes the section; returns the file.
///
/// # Errors
/// If the file cannot be written.
pub fn write(page: &Page) -> Result<PathBuf> {
    write_section("rewrite", &section(page))
}

/// Writes the section of this name; returns the file.
///
/// # Errors
/// If the file cannot be written.
pub fn write_section(name: &str, section: &str) -> Result<PathBuf> {
    let file = workspace::root().join("docs/benchmarks.md");
    let old = fs::read_to_string(&file).unwrap_or_else(|_| HEAD.to_owned());
    fs::write(&file, with_section(&old, name, section))
        .with_context(|| format!("write {}", file.display()))?;
    Ok(file)
}

const HEAD: &str =
    "# Benchmarks\n\nEach section is written by the command that it names. No test depends on a time.\n";

/// `text` with the section `name` replaced, or added at the end.
fn with_section(text: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let new = format!("{begin}{section}{end}");
    match (text.find(&begin), text.find(&end)) {
        (Some(from), Some(to)) if from < to => format!("{}{new}{}", &text[..from], &text[to + end.len()..]),
        _ => format!("{}\n\n{new}", text.trim_end()),
    }
}

fn section(page: &Page) -> String {
    let mut text = String::from("## Instrumenting rt.jar: `cargo xtask bench rewrite`\n\n");
    text += "| | time | least to most | of `cctrewrite` | processor time | peak memory | output |\n\
                  |---|---|---|---|---|---|---|\n";
    let reference = page.rows.iter().find(|row| row.is_reference).map(|row| row.seconds.median);
    for Row { name, seconds, cpu_seconds, peak_kib, output_bytes, .. } in &page.rows {
        let ratio =
            reference.map_or_else(String::new, |reference| format!("x {:.2}", seconds.median / reference));
        let peak = peak_kib.map_or_else(|| "-".to_owned(), |kib| format!("{} MB", megabytes(kib * 1024)));
        let cpu = cpu_seconds.map_or_else(|| "-".to_owned(), |cpu| format!("{:.2} s", cpu.median));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {:.2} s | {:.2} to {:.2} s | {ratio} | {cpu} | {peak} | {} MB |",
            seconds.median,
            seconds.least,
            seconds.most,
            megabytes(*output_bytes)
        );
    }
    let Page { rounds, load_before, load_after, jdk, asm, input_bytes, .. } = page;
    let (machine, commit, date) = (machine::describe(), machine::commit(), machine::date());
    let input = megabytes(*input_bytes);
    let _ = write!(
        text,
        "
Rounds: {rounds}, interleaved, after one that does not count; medians. Time is wall-clock time of the whole process, JVM start included;
outputs go to the page cache of a local disk. Load average {load_before:.2} before, {load_after:.2} after. {date}, commit {commit} (`+`: with changes).

- **Machine**: {machine}.
- **Input**: rt.jar ({input} MB, entries not compressed) of JDK {jdk}, which also runs ASM {asm} with its default options.
- **`cctrewrite instrument`**: the default treatment of every method. It also reads the other jars of the JDK's class library and plans
  over all of them, which the others do not.
- **ASM, copy** (`xtask/bench/AsmRewrite.java`): one thread of the program; every class is read, every instruction visited, and
  everything written again (no copying of methods as bytes).
- **ASM, transform** (`xtask/bench/AsmContexts.java`): the same with about the work that the default treatment does on the bytes: an
  extended copy of each body with entry, counts at basic blocks and contexts at calls, and a wrapper that restores the context. Nothing
  is planned, so the output does not run. ASM patches frames and computes the sizes of stacks.
- **Later passes in one JVM**: the time of one later pass alone, without the start of the JVM, when the JVM has compiled ASM.
- **Processor time**: of all threads, those of the JVM's compilers and garbage collector included; another load on the machine changes
  it less than it changes the time.
- **Peak memory**: largest resident set, the largest of all rounds. The JVM's depends on the memory of the machine, since it collects
  garbage late when there is much.
"
    );
    text
}

/// Rounded.
pub fn megabytes(bytes: u64) -> u64 {
    (bytes + 500_000) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_added_and_then_replaced() {
        let one = with_section(HEAD, "a", "first\n");
        assert_eq!(one, format!("{HEAD}\n<!-- begin a -->\nfirst\n<!-- end a -->\n"));
        let two = with_section(&one, "b", "other\n");
        let three = with_section(&two, "a", "second\n");
        assert_eq!(
            three,
            format!(
                "{HEAD}\n<!-- begin a -->\nsecond\n<!-- end a -->\n\n<!-- begin b -->\nother\n<!-- end b -->\n"
            )
        );
    }

    #[test]
    fn times_are_multiples_of_ours() {
        let row = |name: &str, is_reference, median| Row {
            name: name.to_owned(),
            is_reference,
            seconds: Spread { median, least: median - 0.5, most: median + 0.5 },
            cpu_seconds: is_reference.then_some(Spread { median: 2.5, least: 2.4, most: 2.6 }),
            peak_kib: is_reference.then_some(250_000),
            output_bytes: 114_200_000,
        };
        let page = Page {
            rows: vec![row("ours", true, 2.0), row("theirs", false, 3.0)],
            rounds: 5,
            load_before: 0.1,
            load_after: 1.0,
            jdk: "1.8.0".into(),
            asm: "9.8".into(),
            input_bytes: 65_000_000,
        };
        let text = section(&page);
        assert!(
            text.contains("| ours | 2.00 s | 1.50 to 2.50 s | x 1.00 | 2.50 s | 256 MB | 114 MB |"),
            "{text}"
        );
        assert!(text.contains("| theirs | 3.00 s | 2.50 to 3.50 s | x 1.50 | - | - | 114 MB |"), "{text}");
    }
}
