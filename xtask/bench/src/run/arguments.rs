//! The command line of `cargo xtask bench run`.

use clap::ValueEnum;
use xtask_tools::jdks;

use super::super::ways::Way;
use super::columns::{COMPILERS, Column, Tuning, USUAL};
use super::foreign;
use super::warm;
use super::works::Work;

/// Options of `cargo xtask bench run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [8, 17, 25], value_parser = jdks::supported)]
    pub jdks: Vec<u32>,
    /// How many JVMs run each kernel in each way, and each real program plain and exact; in the
    /// other columns it is one.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Run real programs this often in all columns, except those of foreign profilers.
    #[arg(long)]
    pub all_rounds: bool,
    /// Only these kernels and programs (repeatable). Prints the section and leaves
    /// docs/benchmarks.md unchanged.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Only these parts (repeatable). Prints the section and leaves docs/benchmarks.md unchanged.
    #[arg(long, value_enum)]
    pub part: Vec<Part>,
    /// For real programs, only these columns and their bases (repeatable), for instance `exact`,
    /// `exact-offline`, `jacoco`. Prints the section and leaves docs/benchmarks.md unchanged.
    #[arg(long, value_name = "NAME")]
    pub column: Vec<String>,
    /// Also measure real programs, exact, with these options for the JVM (repeatable), for instance
    /// `early=-XX:Tier4InvocationThreshold=5000`. Prints the section and leaves docs/benchmarks.md
    /// unchanged.
    #[arg(long = "try", value_name = "NAME=OPTIONS", value_parser = Tuning::parse, allow_hyphen_values = true)]
    pub tunings: Vec<&'static Tuning>,
    /// How long each JVM repeats a real program for the table of warm programs.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub warm_for: u64,
    /// Measure all programs with each of HotSpot's compilers, not only a few.
    #[arg(long)]
    pub all_compilers: bool,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    pub now: bool,
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Small programs, warm.
    Kernels,
    /// Real programs in the usual ways.
    Programs,
    /// A few real programs with one of HotSpot's compilers.
    Compilers,
    /// Other profilers, on real programs.
    Foreign,
    /// Real programs that are repeated in one JVM.
    Warm,
}

impl Arguments {
    /// Whether a part is measured.
    pub fn has(&self, part: Part) -> bool {
        self.part.is_empty() || self.part.contains(&part)
    }

    /// Whether everything is measured, so that the page can be written.
    pub fn is_whole(&self) -> bool {
        self.part.is_empty() && self.only.is_empty() && self.column.is_empty() && self.tunings.is_empty()
    }

    /// Whether a kernel or program of this name is measured.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// The columns of a program on a JDK of `version`.
    pub fn columns(&self, work: &Work, version: u32) -> Vec<Column> {
        let mut columns = vec![Column::Of(Way::Plain)];
        if self.has(Part::Programs) {
            columns.extend(&USUAL[1..]);
        }
        if self.has(Part::Compilers) && (work.is_sample || self.all_compilers) {
            columns.extend(COMPILERS);
        }
        if self.has(Part::Foreign) {
            columns.extend(foreign::columns(version));
        }
        let tried = self.tunings.iter().map(|&tuning| Column::Tuned(tuning));
        self.chosen(&columns).into_iter().chain(tried).collect()
    }

    /// The columns of warm programs.
    pub fn warm_columns(&self) -> Vec<Column> {
        let tried = self.tunings.iter().map(|&tuning| Column::Tuned(tuning));
        self.chosen(&warm::COLUMNS).into_iter().chain(tried).collect()
    }

    /// Those of `columns` that `--column` names, and their bases.
    pub fn chosen(&self, columns: &[Column]) -> Vec<Column> {
        let is_named = |column: &Column| self.column.iter().any(|name| *name == column.word());
        let is_base = |base: &Column| columns.iter().any(|column| is_named(column) && column.base() == *base);
        let plain = Column::Of(Way::Plain);
        let is_chosen = |column: &&Column| {
            self.column.is_empty() || **column == plain || is_named(column) || is_base(column)
        };
        columns.iter().filter(is_chosen).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::works::works;
    use super::*;

    fn arguments(options: &[&str]) -> Arguments {
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            arguments: Arguments,
        }
        <Command as clap::Parser>::parse_from([&["run"], options].concat()).arguments
    }

    #[test]
    fn what_is_chosen_is_measured_with_what_it_is_compared_with() {
        let work = works().unwrap().into_iter().find(|work| work.is_sample).unwrap();
        let words = |options: &[&str], version| -> Vec<String> {
            arguments(options).columns(&work, version).into_iter().map(Column::word).collect()
        };
        assert_eq!(words(&["--column", "exact"], 17), ["plain", "exact"]);
        assert_eq!(words(&["--column", "exact-c2"], 17), ["plain", "plain-c2", "exact-c2"]);
        assert_eq!(words(&["--part", "foreign"], 17), ["plain", "jacoco"]);
        assert_eq!(words(&["--part", "foreign"], 8), ["plain", "hprof", "jacoco"]);
        assert_eq!(words(&[], 25).len(), USUAL.len() + COMPILERS.len());
        assert!(arguments(&["--rounds", "1"]).is_whole());
        assert!(!arguments(&["--column", "exact"]).is_whole());
    }
}
