//! Results added up for each target.

use std::fmt::Write as _;
use std::path::PathBuf;

use cct_profile::report::grouped;

use super::piece::Piece;

/// All turns of one target.
#[derive(Debug, Default)]
pub struct Sums {
    /// The target's name.
    pub name: String,
    /// Number of turns that have begun.
    pub turns: u32,
    /// Executions and processor time are added up, coverage and corpus are those of the last turn,
    /// memory is the maximum.
    piece: Piece,
    found: Vec<PathBuf>,
}

impl Sums {
    /// Creates the sums of a target that has not had a turn.
    pub fn of(name: String) -> Sums {
        Sums { name, ..Sums::default() }
    }

    /// The paths of inputs that violated a property.
    pub fn found(&self) -> impl Iterator<Item = String> {
        self.found.iter().map(|path| format!("{}: {}", self.name, path.display()))
    }

    /// Adds the result of a turn.
    pub fn add(&mut self, piece: Piece) {
        self.found.extend(piece.found);
        self.piece = Piece {
            executions: self.piece.executions + piece.executions,
            cpu_seconds: self.piece.cpu_seconds + piece.cpu_seconds,
            coverage: piece.coverage,
            corpus: piece.corpus,
            peak_mb: self.piece.peak_mb.max(piece.peak_mb),
            found: None,
        };
    }
}

/// The table in the form of docs/internals/fuzzing.md.
pub fn markdown(all: &[Sums]) -> String {
    let mut out = "\n| target | turns | executions | processor time | in a second of it | coverage \
                   | corpus | maximum memory | found \
                   |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n"
        .to_owned();
    let (mut executions, mut seconds) = (0, 0.0);
    for Sums { name, turns, piece, found } in all {
        let found = if found.is_empty() { "nothing".to_owned() } else { found.len().to_string() };
        let _ = writeln!(
            out,
            "| `{name}` | {turns} | {} | {:.1} s | {} | {} | {} | {} MB | {found} |",
            grouped(piece.executions.into()),
            piece.cpu_seconds,
            grouped(rate(piece.executions, piece.cpu_seconds).into()),
            grouped(piece.coverage.into()),
            grouped(piece.corpus.into()),
            piece.peak_mb
        );
        executions += piece.executions;
        seconds += piece.cpu_seconds;
    }
    let rate = grouped(rate(executions, seconds).into());
    let _ = writeln!(out, "| all | | {} | {seconds:.1} s | {rate} | | | | |", grouped(executions.into()));
    out
}

fn rate(executions: u64, seconds: f64) -> u64 {
    if seconds > 0.0 { (executions as f64 / seconds) as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_added_up() {
        let mut sums = [Sums::of("class".to_owned()), Sums::of("jar".to_owned())];
        let piece = |executions, coverage, peak_mb| Piece {
            executions,
            cpu_seconds: 0.5,
            coverage,
            corpus: 7,
            peak_mb,
            found: None,
        };
        sums[0].add(piece(1_000_000, 30, 60));
        sums[0].add(piece(500, 31, 50));
        sums[1].add(Piece { found: Some("a/crash-1".into()), ..piece(999, 5, 40) });
        assert_eq!(sums[1].found().collect::<Vec<_>>(), ["jar: a/crash-1"]);
        let table = markdown(&sums);
        assert!(
            table.contains("| `class` | 0 | 1,000,500 | 1.0 s | 1,000,500 | 31 | 7 | 60 MB | nothing |"),
            "{table}"
        );
        assert!(table.contains("| `jar` | 0 | 999 | 0.5 s | 1,998 | 5 | 7 | 40 MB | 1 |"), "{table}");
        assert!(table.contains("| all | | 1,001,499 | 1.5 s | 667,666 |"), "{table}");
    }
}
