//! What `cctrewrite doctor` prints: headings, and lines with a verdict.

use anyhow::Result;
use cct_build::text::counted;

use crate::exit::text_to_stdout;

/// What a line says of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it should be.
    Good,
    /// It works, and the user should know.
    Note,
    /// It keeps cctrewrite from working; the line names the remedy.
    Fault,
}

/// The output, and the number of faults in it.
#[derive(Debug, Default)]
pub struct Page {
    faults: u64,
}

impl Page {
    /// Begins a section.
    pub fn heading(&self, text: &str) -> Result<()> {
        text_to_stdout(|out| writeln!(out, "\n{text}"))
    }

    /// A line of a section.
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

    /// Prints the number of faults and returns it.
    pub fn end(self) -> Result<u64> {
        let text = if self.faults == 0 { "no fault".to_owned() } else { counted(self.faults, "fault") };
        text_to_stdout(|out| writeln!(out, "\n{text}"))?;
        Ok(self.faults)
    }
}
