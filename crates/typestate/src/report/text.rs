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
        let objects: u128 = report.violations.iter().filter(of).map(|v| u128::from(v.count)).sum();
        let mut text = format!(
            "{}: {} objects, {} events, {objects} violations",
            checked.name, checked.objects, checked.events
        );
        if checked.passed > 0 {
            text += &format!("; {} events were ignored, since they change nothing", checked.passed);
        }
        if checked.unsampled > 0 {
            text += &format!("; {} objects were not followed, to keep within the budget", checked.unsampled);
        }
        if checked.unknown > 0 {
            text += &format!("; {} objects are not known: they exceed the levels of nested", checked.unknown);
        }
        line(out, &text)?;
    }
    for note in &report.notes {
        line(out, &format!("note: {note}"))?;
    }
    if !report.is_whole {
        line(out, "note: the report is truncated: the JVM was killed, so violations may be missing")?;
    }
    Ok(())
}

/// Writes a line without control characters, which terminals obey: names of threads and classes
/// come from the program.
fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut readable = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { readable.extend(c.escape_default()) } else { readable.push(c) }
    }
    writeln!(out, "{readable}")
}

fn write_violation(report: &Report, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
    let head = format!("{}: {}: {}", report.level(&violation.property), violation.property, violation.says());
    line(out, &head)?;
    if let Some(checked) = report.checked(&violation.property) {
        line(out, &format!("  {}: {}", checked.message, checked.expression))?;
    }
    let more = match violation.count {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    line(out, &format!("  object   {}{more}", shown(&violation.object)))?;
    if let Some(parent) = &violation.parent {
        line(out, &format!("  of       {}", shown(parent)))?;
    }
    if let Some(first) = &violation.first {
        line(out, &format!("  before   {first}"))?;
    }
    if let Some(site) = &violation.site {
        line(out, &format!("  here     {site}"))?;
    }
    if let Some(thread) = &violation.thread {
        line(out, &format!("  thread   {thread}"))?;
    }
    for (at, frame) in violation.context.iter().enumerate() {
        line(out, &format!("  {} {frame}", if at == 0 { "context " } else { "        " }))?;
    }
    if let Some(node) = &violation.node {
        line(out, &format!("  node     {node} of the calling-context tree"))?;
    }
    for (at, method) in violation.path.iter().enumerate() {
        line(out, &format!("  {} {method}", if at == 0 { "path    " } else { "        " }))?;
    }
    writeln!(out)
}

fn shown(object: &Object) -> String {
    format!("{}@{} (number {})", object.class, object.hash, object.id)
}
