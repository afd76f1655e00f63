//! The output of `cctrewrite doctor`: headings, and lines with a verdict.

use anyhow::Result;
use cct_build::text::counted;

use crate::exit::text_to_stdout;

/// The verdict of a line on its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong.
    Good,
    /// The user should know about it, but it is no fault.
    Note,
    /// It keeps cctrewrite from working. The line names the remedy.
    Fault,
}

/// Prints the output, and counts the faults in it.
#[derive(Debug, Default)]
pub struct Page {
    faults: u64,
}

impl Page {
    /// Prints the heading of a section.
    pub fn heading(&self, text: &str) -> Result<()> {
        text_to_stdout(|out| writeln!(out, "\n{text}"))
    }

    /// Prints a line of a section.
    pub fn line(&mut self, verdict: Verdict, text: &str) -> Result<()> {
        let word = match verdict {
            Verdict::Good => "ok",
            Verdict::Note => "note",
            Verdict::Fault => {
                self.faults += 1;
                "FAULT"
            }
        };
        text_to_stdout(|out| writeln!(out, "  {word:<5}  {text}"))
    }

    /// Prints the number of faults and returns it. `has_tried` says that a program was profiled.
    pub fn end(self, has_tried: bool) -> Result<u64> {
        let text = match (self.faults, has_tried) {
            (0, true) => "no fault: `cctrewrite run -- java ...` works here".to_owned(),
            (0, false) => "no fault".to_owned(),
            (faults, _) => counted(faults, "fault"),
        };
        text_to_stdout(|out| writeln!(out, "\n{text}"))?;
        Ok(self.faults)
    }
}
