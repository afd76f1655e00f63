//! Reports for people.

use std::io::{self, Write};

use super::{Object, Report, Violation};

/// Writes a report as text.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for violation in &report.violations {
        write_violation(report, violation, out)?;
    }
    for checked in &report.properties {
        let of = |v: &&Violation| v.property == checked.name;
        let objects: u64 = report.violations.iter().filter(of).map(|v| v.count).sum();
        write!(
            out,
            "{}: {} objects, {} events, {objects} violations",
            checked.name, checked.objects, checked.events
        )?;
        if checked.passed > 0 {
            write!(out, "; {} events were let go, since they change nothing", checked.passed)?;
        }
        if checked.unsampled > 0 {
            write!(out, "; {} objects were not followed, to keep within the budget", checked.unsampled)?;
        }
        writeln!(out)?;
    }
    for note in &report.notes {
        writeln!(out, "note: {note}")?;
    }
    if !report.is_whole {
        writeln!(out, "note: the report has no end: the JVM was killed, and there may have been more")?;
    }
    Ok(())
}

fn write_violation(report: &Report, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}: {}", report.level(&violation.property), violation.property, violation.says())?;
    if let Some(checked) = report.checked(&violation.property) {
        writeln!(out, "  {}: {}", checked.message, checked.expression)?;
    }
    let more = match violation.count {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    writeln!(out, "  object   {}{more}", shown(&violation.object))?;
    if let Some(parent) = &violation.parent {
        writeln!(out, "  of       {}", shown(parent))?;
    }
    if let Some(first) = &violation.first {
        writeln!(out, "  before   {first}")?;
    }
    if let Some(site) = &violation.site {
        writeln!(out, "  here     {site}")?;
    }
    if let Some(thread) = &violation.thread {
        writeln!(out, "  thread   {thread}")?;
    }
    for (at, frame) in violation.context.iter().enumerate() {
        writeln!(out, "  {} {frame}", if at == 0 { "context " } else { "        " })?;
    }
    writeln!(out)
}

fn shown(object: &Object) -> String {
    format!("{}@{} (number {})", object.class, object.hash, object.id)
}
