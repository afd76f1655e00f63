//! `cctrewrite typestate report`.

use std::io::BufReader;

use anyhow::{Context, Result};
use cct_build::pending_file::PendingFile;
use cct_typestate::report::{Report, sarif, text};
use std::path::Path;

use crate::args::{LevelArgument, TypestateFormat, TypestateReport};
use crate::exit::{Outcome, say, to_stdout};
use crate::json;
use crate::profile_file::{open, shown};

/// Runs the command.
pub fn run(arguments: &TypestateReport) -> Result<Outcome> {
    let mut all = Report { is_whole: true, ..Report::default() };
    for path in &arguments.files {
        let report = Report::read(BufReader::new(open(path)?)).with_context(|| shown(path))?;
        if !report.is_whole {
            say(&format!(
                "cctrewrite: {}: the report is truncated: the JVM was killed, so violations may be missing",
                shown(path)
            ));
        }
        all.add(report);
    }
    to_stdout(|out| match arguments.format {
        TypestateFormat::Text => text::write(&all, out).map_err(anyhow::Error::from),
        TypestateFormat::Sarif => Ok(sarif::write(&all, env!("CARGO_PKG_VERSION"), out)?),
        TypestateFormat::Json => {
            let mut object = json::Object::new(out, "cctrewrite typestate", 1)?;
            object.member("whole", &all.is_whole)?;
            object.member("properties", &all.properties)?;
            object.member("violations", &all.violations)?;
            object.member("notes", &all.notes)?;
            object.end()?;
            Ok(writeln!(out)?)
        }
    })?;
    let counts = |level: &str| match arguments.fail_on {
        LevelArgument::Note => true,
        LevelArgument::Warning => level != "note",
        LevelArgument::Error => level == "error",
        LevelArgument::Never => false,
    };
    if all.violations.iter().any(|violation| counts(all.level(&violation.property))) {
        return Ok(Outcome::Different);
    }
    Ok(if all.is_whole { Outcome::Complete } else { Outcome::Damaged })
}

pub(crate) fn write(output: Option<&Path>, text: &str) -> Result<()> {
    match output {
        None => to_stdout(|out| out.write_all(text.as_bytes())),
        Some(path) => Ok(PendingFile::write(path, |out| out.write_all(text.as_bytes()))?.commit()?),
    }
}
