//! The section of docs/benchmarks.md.

use std::fmt::Write as _;

use anyhow::Result;

use super::inputs::{Input, bytes};
use super::parts::Parts;
use super::row::Row;
use super::subject::Subject;
use crate::machine;
use crate::page::megabytes;

/// The picture's file, next to the page.
pub const PICTURE: &str = "benchmarks-rewrite.svg";

/// All measurements.
pub struct Page {
    /// One table for each input, in their order.
    pub tables: Vec<Table>,
    /// Parts of `rt.jar`, if measured.
    pub parts: Option<Parts>,
    /// Missing inputs and libraries, with the reasons.
    pub missing: Vec<String>,
    /// The foreign libraries, with their versions.
    pub peers: Vec<String>,
    /// Load average of the machine before the benchmark.
    pub load_before: f64,
    /// Load average at the end, which includes the benchmark itself.
    pub load_after: f64,
}

/// An input, with its measurements.
pub struct Table {
    title: &'static str,
    about: String,
    classes: u64,
    class_bytes: u64,
    files: usize,
    file_bytes: u64,
    rounds: u32,
    rows: Vec<Row>,
}

impl Table {
    /// Creates the table of an input.
    ///
    /// # Errors
    /// Fails if its files are gone.
    pub fn new(input: &Input, rounds: u32, rows: Vec<Row>) -> Result<Table> {
        Ok(Table {
            title: input.name.title(),
            about: input.about.clone(),
            classes: input.classes,
            class_bytes: input.class_bytes,
            files: input.files.len(),
            file_bytes: bytes(&input.files)?,
            rounds,
            rows,
        })
    }
}

/// The section as text.
pub fn section(page: &Page) -> String {
    let mut text = String::from("## Rewriting classes: `cargo xtask bench rewrite`\n\n");
    for table in &page.tables {
        add_table(&mut text, table);
    }
    if let Some(parts) = &page.parts {
        add_parts(&mut text, parts);
    }
    add_notes(&mut text, page);
    text
}

// Writing to a String cannot fail.

fn add_table(text: &mut String, table: &Table) {
    let Table { title, about, classes, class_bytes, files, file_bytes, rounds, rows } = table;
    let files = if *files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let _ = writeln!(
        text,
        "### {title}\n\n{classes} classes of {} MB, in {files} of {} MB: {about}. Rounds: {rounds}.\n",
        megabytes(*class_bytes),
        megabytes(*file_bytes)
    );
    *text += "| | time | least to most | of one thread | of all threads | processor time | peak memory | output |\n\
              |---|---|---|---|---|---|---|---|\n";
    let median = |subject| rows.iter().find(|row| row.subject == subject).map(|row| row.seconds.median);
    let (one, all) = (median(Subject::OneThread), median(Subject::AllThreads));
    for Row { subject, seconds, cpu_seconds, peak_kib, growth } in rows {
        let dash = || "-".to_owned();
        let ratio = |of: Option<f64>| of.map_or_else(dash, |of| times(seconds.median / of));
        let peak = peak_kib.map_or_else(dash, |kib| format!("{} MB", megabytes(kib * 1024)));
        let cpu = cpu_seconds.map_or_else(dash, |cpu| format!("{:.2} s", cpu.median));
        let _ = writeln!(
            text,
            "| {} | {:.2} s | {:.2} to {:.2} s | {} | {} | {cpu} | {peak} | x {growth:.2} |",
            subject.name(),
            seconds.median,
            seconds.least,
            seconds.most,
            ratio(one),
            ratio(all),
        );
    }
    text.push('\n');
}

/// A ratio; small ones with one more digit.
fn times(multiple: f64) -> String {
    let digits = if multiple < 0.095 { 3 } else { 2 };
    format!("x {multiple:.digits$}")
}

fn add_parts(text: &mut String, Parts { rounds, parts }: &Parts) {
    let _ = writeln!(
        text,
        "### Time and the number of classes\n\n\
         Parts of rt.jar: of each eight classes the first, the first two, the first four, and all. Rounds: {rounds}. *Each*: time for each class.\n\n\
         ![Time over the number of classes]({PICTURE})\n"
    );
    let Some(last) = parts.last() else { return };
    let names: Vec<String> =
        last.rows.iter().flat_map(|row| [row.subject.name(), "each".to_owned()]).collect();
    let _ = writeln!(
        text,
        "| part | classes | bytes | {} |\n|{}",
        names.join(" | "),
        "---|".repeat(3 + names.len())
    );
    for part in parts {
        let _ =
            write!(text, "| {}/8 | {} | {} MB |", part.eighths, part.classes, megabytes(part.class_bytes));
        for of_last in &last.rows {
            match part.rows.iter().find(|row| row.subject == of_last.subject) {
                Some(row) => {
                    let each = 1e6 * row.seconds.median / part.classes.max(1) as f64;
                    let _ = write!(text, " {:.2} s | {each:.0} µs |", row.seconds.median);
                }
                None => *text += " - | - |",
            }
        }
        text.push('\n');
    }
    text.push('\n');
}

fn add_notes(text: &mut String, page: &Page) {
    let Page { missing, peers, load_before, load_after, .. } = page;
    let missing = match missing.as_slice() {
        [] => String::new(),
        missing => format!("\n- **Not measured in this run**: {}.", missing.join("; ")),
    };
    let (machine, commit, date) = (machine::describe(), machine::commit(), machine::date());
    let _ = write!(
        text,
        "### How it was measured

Rounds are interleaved; times are medians, of the whole process by the clock, JVM start included. The first input has one more round, which does not count; the files of the others are read once before. Outputs go to the page cache.
*Of one thread*, *of all threads*: as a multiple of the times of `cctrewrite`. *Output*: bytes written for each byte read.
Load average {load_before:.2} before, {load_after:.2} after. {date}, commit {commit} (`+`: with changes).

- **Machine**: {machine}.{missing}
- **Libraries of others**: {peers}, from Debian's packages; each on the JVM of the JDK whose classes it rewrites (jars of applications: JDK 8), with the JVM's default options.
  One thread takes jars and classes one after the other (`xtask/bench/Rewriting.java`); the JVM's compilers and garbage collector run on the other processors.
- **`cctrewrite instrument`**: the default treatment of every method. It alone plans over all classes, and also reads the other jars of a JDK's class library.
- **Plain copy of the bytes**: files read into memory and written, without another process.
- **`zip`, copy of the entries**: Info-ZIP's `zip --copy-entries`: the compressed bytes of each entry as they are.
- **Our read and write, no change** (`xtask/copier`): the least that a rewriter made of our parts takes. One thread parses every class with its instructions and frames, writes it again, and compresses the output.
  Finished parts are written to the file meanwhile, as by `cctrewrite`.
- **ASM, copy** (`xtask/bench/AsmCopy.java`): every instruction is visited and written again (methods are not copied as bytes).
- **ASM, transform** (`xtask/bench/AsmContexts.java`): also inserts about what the default treatment does: an extended copy of each body with entry, counts at basic blocks and contexts at calls, and a wrapper
  that restores the context. Nothing is planned, so the output does not run. ASM patches frames and computes the sizes of stacks. A class whose method would get too large,
  or takes ASM too many steps, stays as it is; how many did stands above.
- **BCEL, copy** (`xtask/bench/BcelCopy.java`): the code of each method becomes a list of instructions and is written from it. Sizes of stacks and frames stay as they are.
- **JaCoCo, offline instrumentation** (`xtask/bench/JacocoInstrument.java`): a probe for each branch, a flag in an array. JaCoCo uses ASM, too.
- **Passes in one JVM**: one later pass alone, when the JVM has compiled the library.
- **Processor time**: of all threads, the JVM's compilers and garbage collector included; other load changes it less than the time.
- **Peak memory**: largest resident set of all rounds. The JVM collects garbage late on a machine with much memory.
",
        peers = peers.join("; "),
    );
}

#[cfg(test)]
mod tests {
    use super::super::parts::Part;
    use super::super::peers::Peer;
    use super::*;
    use crate::measure::Spread;

    fn row(subject: Subject, median: f64, is_process: bool) -> Row {
        Row {
            subject,
            seconds: Spread { median, least: median - 0.5, most: median + 0.5 },
            cpu_seconds: is_process.then_some(Spread { median: 2.5, least: 2.4, most: 2.6 }),
            peak_kib: is_process.then_some(250_000),
            growth: 1.738,
        }
    }

    fn page() -> Page {
        let rows = vec![
            row(Subject::OneThread, 4.0, true),
            row(Subject::AllThreads, 2.0, true),
            row(Subject::LaterPasses(Peer::BcelCopy), 3.0, false),
        ];
        Page {
            tables: vec![Table {
                title: "rt.jar of JDK 8",
                about: "it".to_owned(),
                classes: 20_000,
                class_bytes: 62_000_000,
                files: 1,
                file_bytes: 66_000_000,
                rounds: 5,
                rows,
            }],
            parts: None,
            missing: Vec::new(),
            peers: vec!["libasm-java 9".to_owned(), "libbcel-java 6".to_owned()],
            load_before: 0.1,
            load_after: 1.0,
        }
    }

    #[test]
    fn times_are_multiples_of_both_of_ours() {
        let text = section(&page());
        for line in [
            "| `cctrewrite instrument` | 2.00 s | 1.50 to 2.50 s | x 0.50 | x 1.00 | 2.50 s | 256 MB | x 1.74 |",
            "| BCEL, copy, passes 3 to 5 in one JVM | 3.00 s | 2.50 to 3.50 s | x 0.75 | x 1.50 | - | - | x 1.74 |",
            "20000 classes of 62 MB, in 1 file of 66 MB: it. Rounds: 5.",
            "libasm-java 9; libbcel-java 6",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("Not measured"), "{text}");
    }

    #[test]
    fn small_multiples_have_a_digit_more() {
        assert_eq!([2.0, 0.1, 0.094, 0.0049].map(times), ["x 2.00", "x 0.10", "x 0.094", "x 0.005"]);
    }

    #[test]
    fn missing_parts_are_reported() {
        let text = section(&Page { missing: vec!["that: failed (so)".to_owned()], ..page() });
        assert!(text.contains("- **Not measured in this run**: that: failed (so).\n"), "{text}");
    }

    #[test]
    fn parts_have_the_time_of_each_class() {
        let part = |eighths, classes, rows| Part { eighths, classes, class_bytes: 8_000_000, rows };
        let parts = Parts {
            rounds: 3,
            parts: vec![
                part(1, 10_000, vec![row(Subject::OneThread, 1.0, true)]),
                part(
                    8,
                    20_000,
                    vec![row(Subject::OneThread, 2.0, true), row(Subject::AllThreads, 1.0, true)],
                ),
            ],
        };
        let text = section(&Page { parts: Some(parts), ..page() });
        assert!(text.contains("| 1/8 | 10000 | 8 MB | 1.00 s | 100 µs | - | - |\n"), "{text}");
        assert!(text.contains("| 8/8 | 20000 | 8 MB | 2.00 s | 100 µs | 1.00 s | 50 µs |\n"), "{text}");
        assert!(text.contains("(benchmarks-rewrite.svg)"), "{text}");
    }
}
