//! `cargo xtask bench memory`: memory per context, in the JVM and in the profile.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use cct_profile::Profile;
use xtask_tools::jdks::{self, tool};

use super::ground::Ground;
use super::machine;
use super::measure::{self, Spread};
use super::page::{megabytes, write_section};
use super::sources::Sources;
use super::trees::Shape;
use super::ways;

/// Options of `cargo xtask bench memory`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [8, 17, 25], value_parser = jdks::supported)]
    jdks: Vec<u32>,
    /// How many JVMs run each program, plain and profiled.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// The programs, and what they do.
const PROGRAMS: [(&str, &str); 3] = [
    ("javac", "compiles the library"),
    ("javadoc", "describes it"),
    (
        "collections",
        "the kernel of that name of `xtask/bench/Kernels.java`, 55 times: few contexts, entered often",
    ),
];

/// Arguments of the last of [`PROGRAMS`]: the kernel, warm-up runs, and further runs.
const KERNEL: [&str; 3] = ["collections", "40", "15"];

/// The results of a program on a JDK.
struct Row {
    name: &'static str,
    shape: Shape,
    plain_kib: u64,
    profiled_kib: u64,
    file: u64,
    /// Time for writing the profile, in seconds; `None` if the file system has no creation times.
    writing: Option<Spread>,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a JDK or the sources are missing, or a run fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let ground = Ground::new(&arguments.jdks)?;
    let kernels = ground.kernels()?;
    let bench = Bench { work: ground.work(), kernels, sources: Sources::fetch()?, rounds: arguments.rounds };
    let mut parts = Vec::new();
    for jdk in &ground.jdks {
        eprintln!("JDK {}: {}", jdk.full_version, jdk.home.display());
        let image = ways::image(jdk, &ground.cctrewrite, &[])?;
        let rows = PROGRAMS.map(|(name, _)| bench.row(name, &jdk.home, &image));
        parts.push((jdk.full_version.clone(), rows.into_iter().collect::<Result<Vec<Row>>>()?));
    }
    let file = write_section("memory", &section(&parts, arguments.rounds, &bench.sources.version))?;
    eprintln!("written: {}", file.display());
    Ok(())
}

/// The common part of all measurements.
struct Bench<'w> {
    work: &'w Path,
    /// The classes of `Kernels`.
    kernels: PathBuf,
    sources: Sources,
    rounds: u32,
}

impl Bench<'_> {
    /// A program of a JDK; `option` is for its JVM.
    fn command(&self, name: &str, home: &Path, option: Option<String>) -> Result<Command> {
        let into = self.work.join("into");
        if into.exists() {
            fs::remove_dir_all(&into)?;
        }
        fs::create_dir(&into)?;
        let is_kernel = name == KERNEL[0];
        let mut command = tool(home, if is_kernel { "java" } else { name });
        if let Some(option) = option {
            command.arg(if is_kernel { option } else { format!("-J{option}") });
        }
        match name {
            "javac" => self.sources.compile(&mut command, &into),
            "javadoc" => self.sources.describe(&mut command, &into),
            _ => {
                command.arg("-cp").arg(&self.kernels).arg("Kernels").args(KERNEL);
            }
        }
        Ok(command)
    }

    fn row(&self, name: &'static str, plain: &Path, image: &Path) -> Result<Row> {
        let profile = self.work.join("profile.cct");
        let mut peaks = [0, 0];
        let mut writing = Vec::new();
        for _ in 0..self.rounds {
            let run = measure::run(&mut self.command(name, plain, None)?).context(name)?;
            peaks[0] = run.peak_kib.max(peaks[0]);
            if profile.exists() {
                fs::remove_file(&profile)?;
            }
            let option = format!("-Dcctrewrite.out={}", profile.display());
            let run = measure::run(&mut self.command(name, image, Some(option))?).context(name)?;
            peaks[1] = run.peak_kib.max(peaks[1]);
            writing.extend(seconds_of_writing(&profile));
        }
        let file = fs::metadata(&profile).context("there is no profile")?.len();
        let read = Profile::read(&fs::read(&profile)?)?;
        let shape = Shape::of(&read);
        eprintln!(
            "  {name:<12} {} contexts, {:.1} bytes each in nodes, {:.1} in chunks",
            shape.contexts,
            each(shape.nodes(), &shape),
            each(shape.bytes(), &shape)
        );
        let [plain_kib, profiled_kib] = peaks;
        Ok(Row { name, shape, plain_kib, profiled_kib, file, writing: Spread::of(&writing) })
    }
}

/// From the creation of the file to its last write: the runtime opens it (under another name)
/// before it reads the first tree.
fn seconds_of_writing(profile: &Path) -> Option<f64> {
    let file = fs::metadata(profile).ok()?;
    Some(file.modified().ok()?.duration_since(file.created().ok()?).ok()?.as_secs_f64())
}

/// Bytes per context.
fn each(bytes: u64, shape: &Shape) -> f64 {
    bytes as f64 / shape.contexts.max(1) as f64
}

fn section(parts: &[(String, Vec<Row>)], rounds: u32, sources: &str) -> String {
    let mut text = String::from("## Memory of contexts: `cargo xtask bench memory`\n\n");
    // Writing to a String cannot fail.
    for (jdk, rows) in parts {
        let _ = writeln!(text, "JDK {jdk}:\n");
        let _ = writeln!(
            text,
            "| | contexts | trees | call nothing | their slots | slots each | nodes | each | chunks | each | peak plain | peak profiled | profile | each | written in |\n|{}",
            "---|".repeat(15)
        );
        for row in rows {
            let _ = writeln!(text, "{}", line(row));
        }
        text.push('\n');
    }
    let programs: Vec<String> = PROGRAMS.iter().map(|(name, does)| format!("*{name}* {does}")).collect();
    let (machine, commit, date) = (machine::describe(), machine::commit(), machine::date());
    let _ = write!(
        text,
        "*Each*: bytes for each context. {date}, commit {commit} (`+`: with changes). Images with default options. Runs of each program, plain and profiled: {rounds}.

- **Machine**: {machine}.
- **Programs**: {programs}. The library is {sources}.
- **Call nothing**: contexts without a callee. **Their slots**: the share of their slots, which lead nowhere, in the bytes of all nodes. **Slots each**: call-site slots of a node on average, 8 bytes each beside the node's 40.
- **Chunks**: what trees take from the operating system, in chunks of 4096 bytes: the nodes, what each tree has from the start, and unused ends. Computed
  by the rules of [runtime.md](internals/runtime.md), the nodes in the profile's order.
- **Peak**: largest resident set of all runs, with the JVM's default heap. Rewritten classes and their compiled code are larger, too.
- **Written in**: from the making of the profile's file to its last write; median and, in parentheses, least and most of all runs.
",
        programs = programs.join("; "),
    );
    text
}

/// A program's line of the table.
fn line(row: &Row) -> String {
    let Row { name, shape, plain_kib, profiled_kib, file, writing } = row;
    let writing = writing.map_or_else(
        || "-".to_owned(),
        |Spread { median, least, most }| {
            if least < most {
                format!("{median:.2} s ({least:.2} to {most:.2})")
            } else {
                format!("{median:.2} s")
            }
        },
    );
    let contexts = shape.contexts.max(1) as f64;
    format!(
        "| {name} | {} | {} | {:.1} % | {:.1} % | {:.2} | {} MB | {:.1} | {} MB | {:.1} | {} MB | {} MB | {:.1} MB | {:.2} | {writing} |",
        shape.contexts,
        shape.trees,
        100.0 * shape.leaves as f64 / contexts,
        100.0 * shape.bytes_of_idle_slots() as f64 / shape.nodes().max(1) as f64,
        shape.slots as f64 / contexts,
        megabytes(shape.nodes()),
        each(shape.nodes(), shape),
        megabytes(shape.bytes()),
        each(shape.bytes(), shape),
        megabytes(plain_kib * 1024),
        megabytes(profiled_kib * 1024),
        *file as f64 / 1e6,
        each(*file, shape),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_each_context_takes() {
        let shape = Shape {
            trees: 2,
            contexts: 1_000_000,
            leaves: 400_000,
            slots: 2_500_000,
            slots_of_leaves: 850_000,
            chunks: 17_000,
        };
        let writing = Spread::of(&[0.25, 0.5, 0.75]);
        let row =
            Row { name: "it", shape, plain_kib: 100_000, profiled_kib: 200_000, file: 7_000_000, writing };
        assert_eq!(
            line(&row),
            "| it | 1000000 | 2 | 40.0 % | 11.3 % | 2.50 | 60 MB | 60.0 | 70 MB | 69.6 | 102 MB | 205 MB | 7.0 MB | 7.00 | 0.50 s (0.25 to 0.75) |"
        );
    }
}
