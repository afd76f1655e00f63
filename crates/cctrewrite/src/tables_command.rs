//! `cctrewrite report --table`: tables as in the literature, with a row for each profile. Only one
//! profile is in memory at a time, and two for overlaps.

use std::io::Write;

use anyhow::{Context, Result};
use cct_build::classes;
use cct_profile::compare::{CompareOptions, Overlap, compare};
use cct_profile::csv::{Field, Reader, Writer};
use cct_profile::origin::{Origins, is_jdk_by_name};
use cct_profile::pair::Remark;
use cct_profile::report::{grouped, percent};
use cct_profile::tables::{LibraryCalls, NativeShare, Owner, Shape};
use cct_profile::{Method, Metric, Profile, ReportError};
use serde_json::{Value, json};

use crate::args::{Report, ReportFormat, TableArgument};
use crate::exit::{self, Outcome};
use crate::json;
use crate::profile_file::{ReadOptions, View, read, read_input, shown};
use crate::remedies;
use crate::report_command::report_contents::{names, select};

/// The name of a column for programs, and its title for people.
type Column = (&'static str, &'static str);

/// A field of a row.
enum Cell {
    Text(String),
    Count(u128),
    /// A part and its whole.
    Share(u128, u128),
    Overlap(Option<Overlap>),
    Number(f64),
}

impl Cell {
    fn for_people(&self) -> String {
        match self {
            Cell::Text(text) => cct_build::text::readable(text.as_bytes()),
            Cell::Count(count) => grouped(*count),
            Cell::Share(part, whole) => format!("{:.2} %", percent(*part, *whole)),
            Cell::Overlap(None) => "-".to_owned(),
            Cell::Overlap(Some(overlap)) => overlap.to_string(),
            Cell::Number(number) => format!("{number:.2}"),
        }
    }

    fn for_programs(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Overlap(None) => String::new(),
            other => other.number().map_or(String::new(), |number| format!("{number:.6}")),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Cell::Share(part, whole) => Some(percent(*part, *whole)),
            Cell::Overlap(overlap) => overlap.map(Overlap::percent),
            Cell::Number(number) => Some(*number),
            Cell::Text(_) | Cell::Count(_) => None,
        }
    }

    fn as_json(&self) -> Value {
        match self {
            Cell::Text(text) => json!(text),
            Cell::Count(count) => json!(count),
            other => json!(other.number()),
        }
    }
}

const NATIVES: &[Column] = &[
    ("file", "profile"),
    ("native_contexts", "native contexts"),
    ("native_contexts_percent", "of all"),
    ("native_calls", "native calls"),
    ("native_calls_percent", "of all"),
    ("contexts", "contexts"),
    ("calls", "calls"),
];

const LIBRARY: &[Column] = &[
    ("file", "profile"),
    ("app_to_app_percent", "app -> app"),
    ("jdk_to_app_percent", "JDK -> app"),
    ("app_to_jdk_percent", "app -> JDK"),
    ("jdk_to_jdk_percent", "JDK -> JDK"),
    ("calls", "calls"),
    ("entries", "entries"),
    ("unknown", "unknown"),
];

const SHAPE: &[Column] = &[
    ("file", "profile"),
    ("methods", "methods"),
    ("contexts", "contexts"),
    ("leaves", "leaves"),
    ("depth", "depth"),
    ("average_depth", "average"),
    ("calls", "calls"),
    ("bytecodes", "bytecodes"),
];

const OVERLAP: &[Column] =
    &[("a", "A"), ("b", "B"), ("calls_percent", "calls"), ("bytecodes_percent", "bytecodes")];

struct Table {
    name: &'static str,
    columns: &'static [Column],
    rows: Vec<Vec<Cell>>,
    /// Remarks on the numbers.
    remarks: Vec<&'static str>,
    /// The metric in columns titled `bytecodes`, which all profiles must share.
    executed: Option<&'static str>,
}

/// Runs the command.
pub fn run(arguments: &Report, which: TableArgument) -> Result<Outcome> {
    if arguments.format == ReportFormat::Contexts {
        anyhow::bail!("tables are written as text, json or csv");
    }
    let mut table = match which {
        TableArgument::Natives => Table::new("natives", NATIVES),
        TableArgument::Library => Table::new("library", LIBRARY),
        TableArgument::Shape => Table::new("shape", SHAPE),
        TableArgument::Overlap => Table::new("overlap", OVERLAP),
    };
    let damaged = if which == TableArgument::Overlap {
        overlaps(arguments, &mut table)?
    } else {
        let origins = classes::origins(&arguments.classes)?;
        if which == TableArgument::Library && !origins.have_jdk() {
            table.remarks.push(BY_NAME);
        }
        let reading = ReadOptions::new(&arguments.parts, View::Contexts)?;
        let mut damaged = false;
        for path in &arguments.profiles {
            let profile = reading.of(read(path)?)?;
            damaged |= !profile.damage.is_empty();
            table.counts(Metric::of_profile(&profile))?;
            let (profile, _) = select(arguments, profile).with_context(|| shown(path))?;
            let row = row(which, &profile, arguments, &origins).with_context(|| shown(path))?;
            table.rows.push(std::iter::once(Cell::Text(shown(path))).chain(row).collect());
        }
        damaged
    };
    exit::to_stdout(|out| table.write(arguments, out))?;
    Ok(if damaged { Outcome::Damaged } else { Outcome::Complete })
}

const BY_NAME: &str = "classes are assigned to the JDK by package name; name the home of the JDK with --classes to look them up";

fn row(which: TableArgument, profile: &Profile, arguments: &Report, origins: &Origins) -> Result<Vec<Cell>> {
    let names = names(arguments);
    Ok(match which {
        TableArgument::Natives => {
            let NativeShare { native_contexts, contexts, native_calls, calls } =
                NativeShare::of(profile, names)?;
            let (native_contexts, contexts) = (u128::from(native_contexts), u128::from(contexts));
            vec![
                Cell::Count(native_contexts),
                Cell::Share(native_contexts, contexts),
                Cell::Count(native_calls),
                Cell::Share(native_calls, calls),
                Cell::Count(contexts),
                Cell::Count(calls),
            ]
        }
        TableArgument::Library => {
            let calls = LibraryCalls::of(profile, |method| owner(method, origins))?;
            let total = calls.total();
            let parts = [calls.app_to_app, calls.jdk_to_app, calls.app_to_jdk, calls.jdk_to_jdk];
            let shares = parts.map(|part| Cell::Share(part, total));
            shares.into_iter().chain([total, calls.entries, calls.unknown].map(Cell::Count)).collect()
        }
        TableArgument::Shape | TableArgument::Overlap => {
            let Shape { methods, extent } = Shape::of(profile, names)?;
            vec![
                Cell::Count(methods.into()),
                Cell::Count(extent.contexts),
                Cell::Count(extent.leaves),
                Cell::Count(extent.depth.into()),
                Cell::Number(extent.average_depth()),
                Cell::Count(extent.calls),
                Cell::Count(extent.bytecodes),
            ]
        }
    })
}

/// The owner of a method. If the given places include a JDK, a class in none of them belongs to the
/// application.
fn owner(method: &Method, origins: &Origins) -> Owner {
    if method.flags & (Method::UNKNOWN | Method::MARKER) != 0 {
        return Owner::Unknown;
    }
    let is_jdk = match origins.of(&method.class) {
        Some(origin) if origins.have_jdk() => origin.is_jdk,
        None if origins.have_jdk() => false,
        _ => is_jdk_by_name(&method.class),
    };
    if is_jdk { Owner::Jdk } else { Owner::Application }
}

/// Compares each profile with each later one. Two are in memory at a time.
fn overlaps(arguments: &Report, table: &mut Table) -> Result<bool> {
    let paths = &arguments.profiles;
    if paths.len() < 2 {
        anyhow::bail!("--table overlap compares profiles: name at least two");
    }
    if paths.iter().any(|path| crate::profile_file::is_stdin(path)) {
        anyhow::bail!(
            "--table overlap reads profiles several times, so standard input cannot be \
                       one; name a file"
        );
    }
    let options = CompareOptions {
        selection: arguments.selection.selection(),
        names: names(arguments),
        limit: 0,
        ..CompareOptions::default()
    };
    let reading = ReadOptions::new(&arguments.parts, View::Contexts)?;
    let mut damaged = false;
    for (at, a) in paths.iter().enumerate() {
        for b in &paths[at + 1..] {
            let found = compare(read_input(a, &reading)?, read_input(b, &reading)?, &options)
                .map_err(|error| remedies::OVERLAP.explained(error))
                .with_context(|| format!("cannot compare A ({}) and B ({})", shown(a), shown(b)))?;
            damaged |= found.is_incomplete();
            let is_said =
                |remark: &&Remark| matches!(remark, Remark::Marker { .. } | Remark::CallSitesMerged(_));
            for remark in found.remarks.iter().filter(is_said) {
                exit::say(&format!("cctrewrite: {}: {}", shown(a), remark.worded([&shown(a), &shown(b)])));
            }
            if let Some(executed) = &found.bytecodes {
                table.counts(executed.metric)?;
            }
            table.rows.push(vec![
                Cell::Text(shown(a)),
                Cell::Text(shown(b)),
                Cell::Overlap(Some(found.calls.overlap)),
                Cell::Overlap(found.bytecodes.map(|bytecodes| bytecodes.overlap)),
            ]);
        }
    }
    Ok(damaged)
}

impl Table {
    fn new(name: &'static str, columns: &'static [Column]) -> Table {
        Table { name, columns, rows: Vec::new(), remarks: Vec::new(), executed: None }
    }

    /// Notes the metric that a profile counts in addition to calls. Fails if an earlier profile
    /// counts another metric, since a column must not mix them.
    fn counts(&mut self, metric: Metric) -> Result<()> {
        let of_bytecodes = self.columns.iter().any(|(_, title)| *title == "bytecodes");
        if metric == Metric::Calls || !of_bytecodes {
            return Ok(());
        }
        let first = *self.executed.get_or_insert(metric.name());
        anyhow::ensure!(
            first == metric.name(),
            "some profiles count {first}, others {}: make a table for each metric",
            metric.name()
        );
        Ok(())
    }

    fn write(&self, arguments: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        match arguments.format {
            ReportFormat::Json => self.json(out),
            ReportFormat::Csv => self.csv(arguments.csv.reader(), out),
            ReportFormat::Text | ReportFormat::Contexts => self.text(arguments.layout.width, out),
        }
    }

    /// Writes texts left-aligned and numbers right-aligned.
    fn text(&self, width: Option<usize>, out: &mut dyn Write) -> Result<(), ReportError> {
        let title =
            |title: &'static str| if title == "bytecodes" { self.executed.unwrap_or(title) } else { title };
        let title = self.columns.iter().map(|(_, t)| title(t).to_owned()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(title)
            .chain(self.rows.iter().map(|row| row.iter().map(Cell::for_people).collect()))
            .collect();
        let is_text = |column: usize| matches!(self.columns[column].0, "file" | "a" | "b");
        let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        for row in &rows {
            let fields = row.iter().enumerate().map(|(column, field)| match widths[column] {
                width if is_text(column) => format!("{field:<width$}"),
                width => format!("{field:>width$}"),
            });
            let line = fields.collect::<Vec<String>>().join("  ");
            let line = line.trim_end();
            writeln!(out, "{}", cct_profile::report::cut(line, width.unwrap_or(usize::MAX)))?;
        }
        for remark in &self.remarks {
            writeln!(out, "({remark})")?;
        }
        Ok(())
    }

    fn csv(&self, reader: Reader, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut out = Writer::new(out, reader);
        out.header(self.columns.iter().map(|(key, _)| *key))?;
        for row in &self.rows {
            let texts: Vec<String> = row.iter().map(Cell::for_programs).collect();
            out.record(row.iter().zip(&texts).map(|(cell, text)| match cell {
                Cell::Text(_) => Field::Text(text),
                _ => Field::Number(text),
            }))?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut object = json::Object::new(out, "cctrewrite table", 1)?;
        object.member("table", self.name)?;
        object.member("remarks", &self.remarks)?;
        object.list("rows", |list| -> Result<(), ReportError> {
            for row in &self.rows {
                let mut object = list.object()?;
                for ((key, _), cell) in self.columns.iter().zip(row) {
                    object.member(key, &cell.as_json())?;
                }
                object.end()?;
            }
            Ok(())
        })?;
        object.end()?;
        Ok(writeln!(out)?)
    }
}
