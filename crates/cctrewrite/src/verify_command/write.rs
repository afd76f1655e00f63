//! Writes the result of a check, for people and for programs.

use std::io::{self, Write};

use anyhow::Result;
use cct_build::text::{counted, readable};
use cct_profile::report::grouped;
use cct_verify::Tally;
use serde_json::{Value, json};

use crate::verify_command::account::{Account, ClassFinding};

/// Maximum number of names in a line about unchecked parts. The rest are counted.
const NAMED: usize = 4;

/// Writes at most `limit` findings (0 for all), one on each line, and a summary unless `quiet`.
pub fn text(account: &Account, limit: usize, quiet: bool, out: &mut dyn Write) -> Result<()> {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let all = account.found.iter().flat_map(|found| found.findings.iter().map(move |f| (&found.place, f)));
    for (place, what) in all.take(limit) {
        writeln!(out, "{}", readable(format!("{place}: {}", said(what)).as_bytes()))?;
    }
    let more = account.findings().saturating_sub(limit);
    if more > 0 {
        writeln!(out, "and {} more (--limit 0 shows all)", counted(more as u64, "finding"))?;
    }
    if !quiet {
        summary(account, out)?;
    }
    Ok(())
}

fn said(what: &ClassFinding) -> String {
    match what {
        ClassFinding::Finding(finding) => finding.to_string(),
        ClassFinding::Alone(why) => (*why).to_owned(),
        ClassFinding::Missing(callee) => format!("{callee} is called but does not exist"),
    }
}

fn summary(account: &Account, out: &mut dyn Write) -> io::Result<()> {
    let tally = &account.tally;
    match account.findings() {
        0 => writeln!(out, "no findings")?,
        n => {
            let classes = counted(account.found.len() as u64, "class");
            writeln!(out, "{} in {classes}", counted(n as u64, "finding"))?;
        }
    }
    let mut classes = vec![format!("{} compared with their originals", grouped(tally.classes.into()))];
    for (n, what) in [
        (tally.unchanged, "unchanged, byte for byte"),
        (account.left_out, "not in the patch"),
        (account.runtime, "of the runtime"),
    ] {
        classes.extend((n > 0).then(|| format!("{} {what}", grouped(n.into()))));
    }
    writeln!(out, "classes: {}", classes.join(", "))?;
    if tally.methods > 0 {
        writeln!(out, "methods: {}", grouped(tally.methods.into()))?;
        for (form, n) in &tally.forms {
            writeln!(out, "  {:>11}  {form}", grouped((*n).into()))?;
        }
    }
    if tally.bodies > 0 {
        let rules = tally.rules.iter().map(|(rule, n)| format!("{} {rule}", grouped((*n).into())));
        let probes = counted(tally.probes, "probe");
        writeln!(out, "bodies, by how they count: {}; {probes}", rules.collect::<Vec<_>>().join(", "))?;
    }
    if tally.pieces > 0 {
        writeln!(out, "pieces of code that notify clients of markers: {}", grouped(tally.pieces.into()))?;
    }
    if tally.added_methods + tally.added_fields > 0 {
        let (methods, fields) =
            (counted(tally.added_methods, "method"), counted(tally.added_fields, "field"));
        let ties = counted(tally.tie_breaks, "tie break");
        writeln!(out, "added: {methods}, {fields}; {ties} among them")?;
    }
    for (n, what) in [
        (tally.hooks, "calls of the runtime from the class library"),
        (tally.pinned, "results of clocks that are replaced (--reproducible)"),
        (tally.described, "classes that the trace's static side describes correctly"),
    ] {
        if n > 0 {
            writeln!(out, "{what}: {}", grouped(n.into()))?;
        }
    }
    let second = &tally.second;
    if second.alike > 0 {
        let files = counted(second.alike, "class file");
        writeln!(out, "read alike by a second reader (cafebabe): {files}")?;
    }
    if !second.unknown.is_empty() {
        let names = second
            .unknown
            .iter()
            .map(|(name, n)| format!("{} ({})", readable(name.as_bytes()), grouped((*n).into())));
        let names = names.collect::<Vec<_>>().join(", ");
        writeln!(out, "read only by cctrewrite's own reader: attributes {names}")?;
    }
    let (found, unknown) = account.linked;
    if found > 0 {
        writeln!(out, "references to existing extended forms: {}", grouped(found.into()))?;
    }
    if unknown > 0 {
        let references = counted(unknown, "reference");
        writeln!(out, "not checked: extended forms of classes that are not in the output: {references}")?;
    }
    let (counted_there, elsewhere) = account.counted;
    if counted_there > 0 {
        writeln!(out, "calls of methods that only their callers count: {}", grouped(counted_there.into()))?;
    }
    if elsewhere > 0 {
        let calls = counted(elsewhere, "call");
        writeln!(out, "not checked: whether callees that are not in the output count themselves: {calls}")?;
    }
    for line in unchecked(tally) {
        writeln!(out, "not checked: {line}")?;
    }
    Ok(())
}

/// Lines about what was recognised but not proven.
fn unchecked(tally: &Tally) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, methods) in &tally.unchecked {
        let mut named = methods.iter().take(NAMED).map(|m| readable(m.as_bytes())).collect::<Vec<_>>();
        if methods.len() > NAMED {
            named.push(format!("and {} more", grouped((methods.len() - NAMED) as u128)));
        }
        lines.push(format!("{what}: {}", named.join(", ")));
    }
    let unread = &tally.second.unread;
    if !unread.is_empty() {
        let mut named: Vec<String> = unread
            .iter()
            .take(NAMED)
            .map(|(file, why)| readable(format!("{file}: {why}").as_bytes()))
            .collect();
        if unread.len() > NAMED {
            named.push(format!("and {} more", grouped((unread.len() - NAMED) as u128)));
        }
        lines.push(format!("class files without a second reading: {}", named.join(", ")));
    }
    if tally.unknown_ids > 0 {
        let sites = counted(tally.unknown_ids, "call site");
        lines.push(format!("ids of natives that callers count, where another class declares them: {sites}"));
    }
    for (name, n) in &tally.dropped {
        lines.push(format!(
            "code attributes {}, dropped since their meaning is unknown: {n}",
            readable(name.as_bytes())
        ));
    }
    lines
}

/// Writes the whole result as JSON (docs/internals/verify.md).
pub fn json(account: &Account, out: &mut dyn Write) -> Result<()> {
    let findings = account.found.iter().flat_map(|found| {
        found.findings.iter().map(move |what| match what {
            ClassFinding::Finding(f) => json!({
                "class": found.place,
                "member": f.member,
                "original_bci": f.original,
                "rewritten_bci": f.rewritten,
                "problem": f.problem.to_string(),
            }),
            other => json!({
                "class": found.place,
                "member": null,
                "original_bci": null,
                "rewritten_bci": null,
                "problem": said(other),
            }),
        })
    });
    let tally = &account.tally;
    let report = json!({
        "findings": findings.collect::<Vec<Value>>(),
        "classes": {
            "compared": tally.classes,
            "unchanged": tally.unchanged,
            "not_in_patch": account.left_out,
            "runtime": account.runtime,
        },
        "methods": tally.methods,
        "forms": tally.forms,
        "bodies": tally.bodies,
        "rules": tally.rules,
        "probes": tally.probes,
        "pieces": tally.pieces,
        "added_methods": tally.added_methods,
        "added_fields": tally.added_fields,
        "tie_breaks": tally.tie_breaks,
        "hooks": tally.hooks,
        "pinned": tally.pinned,
        "described": tally.described,
        "second_reading": {
            "alike": tally.second.alike,
            "unread": tally.second.unread,
            "unknown_attributes": tally.second.unknown,
        },
        "links": { "found": account.linked.0, "unknown": account.linked.1 },
        "counted": { "found": account.counted.0, "unknown": account.counted.1 },
        "unchecked": tally.unchecked,
        "unchecked_ids": tally.unknown_ids,
        "dropped_attributes": tally.dropped,
    });
    serde_json::to_writer_pretty(&mut *out, &report)?;
    Ok(writeln!(out)?)
}
