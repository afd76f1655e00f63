//! What all parts of the benchmark work with.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xtask_tools::process;

use super::super::chart::Chart;
use super::super::ground::Ground;
use super::super::measure::Spread;
use super::super::sources::Sources;
use super::super::ways::{Homes, Way};

/// The results of a part.
pub struct PartResult {
    /// Markdown.
    pub text: String,
    /// The name of a picture in `docs/`, and the picture.
    pub picture: Option<(&'static str, Chart)>,
}

/// The common basis of all parts.
pub struct Bench {
    pub ground: Ground,
    /// The plain and the profiled homes, for [`Arguments::jdk`].
    pub homes: Homes,
    /// The classes of `Scale` and `Kernels`.
    pub programs: PathBuf,
    pub sources: Sources,
    pub rounds: u32,
}

/// The output of a mode of `Scale`: numbers, and text that is the same in all runs.
pub struct ModeOutput {
    pub numbers: Vec<f64>,
    pub same: String,
}

impl ModeOutput {
    pub fn parse(output: &str) -> Result<ModeOutput> {
        let (numbers, same) = output.trim_end().split_once("= ").context("the program said nothing")?;
        let numbers = numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        Ok(ModeOutput { numbers, same: same.to_owned() })
    }
}

impl Bench {
    /// Runs `Scale` in a way.
    pub fn scale(&self, way: Way, arguments: &[String]) -> Result<ModeOutput> {
        let mut java = self.homes.java(way)?;
        java.arg("-cp").arg(&self.programs).arg("Scale").args(arguments);
        ModeOutput::parse(&process::output(&mut java)?)
    }
}

/// The spread of some measurements.
pub fn spread(values: &[f64]) -> Result<Spread> {
    Spread::of(values).context("no round")
}

/// Median, and in parentheses minimum and maximum, with this many digits.
pub fn shown(spread: &Spread, digits: usize) -> String {
    let Spread { median, least, most } = spread;
    format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_what_is_the_same() {
        let said = ModeOutput::parse("12 34 = 5\n").unwrap();
        assert_eq!((said.numbers, said.same.as_str()), (vec![12.0, 34.0], "5"));
        assert!(ModeOutput::parse("12 34\n").is_err());
        assert!(ModeOutput::parse("12 x = 5\n").is_err());
    }

    #[test]
    fn spreads_are_shown_with_their_ends() {
        assert_eq!(shown(&spread(&[3.0, 1.0, 2.0]).unwrap(), 1), "2.0 (1.0 to 3.0)");
        assert!(spread(&[]).is_err());
    }
}
