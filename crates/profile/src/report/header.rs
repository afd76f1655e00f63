//! What stands above every report: where the numbers come from and what they lack.

use super::Weight;
use super::numbers::{counted, grouped};
use crate::names::escaped;
use crate::{Profile, ReportError, ThreadTree};
use std::io::Write;

/// Writes the header: program, JVM, what was counted and how, sums, and every note and damage.
///
/// # Errors
/// When the output fails.
pub fn write_header(profile: &Profile, out: &mut dyn Write) -> Result<(), ReportError> {
    let meta = |key: &str| profile.meta.get(key).map(|value| escaped(value));
    let mut line = |key: &str, value: String| writeln!(out, "{key:<12}{value}");
    line("Program", meta("main").unwrap_or_else(|| "(unknown)".to_owned()))?;
    let jvm: Vec<String> = ["java.vm.name", "java.vm.version"].into_iter().filter_map(meta).collect();
    let java = meta("java.version").map(|version| format!(" (Java {version})")).unwrap_or_default();
    if !jvm.is_empty() || !java.is_empty() {
        line("JVM", (jvm.join(" ") + &java).trim_start().to_owned())?;
    }
    line("Counted", counted_what(profile, meta("blocks")))?;
    if let Some(intrinsics) = meta("intrinsics") {
        line("Intrinsics", intrinsics_are(intrinsics))?;
    }
    if let Some(reproducible) = meta("reproducible").filter(|value| value != "no") {
        line("Repeatable", reproducible_is(reproducible))?;
    }
    for (key, name) in [("exact", "Exact"), ("limits", "Limits"), ("tool", "Tool"), ("agent", "Agent")] {
        if let Some(value) = meta(key) {
            let why = if (key, &*value) == ("exact", "no") { " (see the notes)" } else { "" };
            line(name, value + why)?;
        }
    }
    let served: u128 = profile.threads.iter().map(|thread| u128::from(thread.threads)).sum();
    let alive = profile.threads.iter().filter(|thread| thread.flags & ThreadTree::ENDED == 0).count();
    let alive = if alive == 0 { String::new() } else { format!(", {} not ended", grouped(alive as u128)) };
    line(
        "Threads",
        format!("{} in {}{alive}", grouped(served), counted(profile.threads.len() as u128, "tree")),
    )?;
    line(
        "Contexts",
        format!(
            "{} of {}",
            grouped(profile.contexts() as u128),
            counted(profile.methods.len() as u128, "method")
        ),
    )?;
    let contexts = || profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
    line("Calls", grouped(contexts().map(|node| u128::from(node.calls)).sum()))?;
    if Weight::of(profile) == Weight::Bytecodes {
        line("Bytecodes", grouped(contexts().map(|node| u128::from(node.bytecodes)).sum()))?;
    }
    for damage in &profile.damage {
        line("INCOMPLETE", escaped(&damage.to_string()))?;
    }
    for note in &profile.notes {
        line("Note", escaped(note))?;
    }
    writeln!(out)?;
    Ok(())
}

fn intrinsics_are(choice: String) -> String {
    match &*choice {
        "bytecode" => "bytecode (their Java bodies are executed and counted)".to_owned(),
        "native" => "native (HotSpot's own code where it has some: calls without bytecodes)".to_owned(),
        _ => choice,
    }
}

fn reproducible_is(value: String) -> String {
    match &*value {
        "yes" => {
            "yes (seeds, hash codes and the order of members are pinned; which thread comes first is not)"
                .to_owned()
        }
        "partly" => "partly (seeds and the order of members are pinned; see the notes)".to_owned(),
        _ => value,
    }
}

fn counted_what(profile: &Profile, blocks: Option<String>) -> String {
    match (Weight::of(profile), blocks.as_deref()) {
        (Weight::Calls, _) => "calls".to_owned(),
        (Weight::Bytecodes, None) => "calls and bytecodes".to_owned(),
        (Weight::Bytecodes, Some("default")) => {
            "calls and bytecodes (default blocks: a block that throws counts as a whole)".to_owned()
        }
        (Weight::Bytecodes, Some(blocks)) => format!("calls and bytecodes ({blocks} blocks)"),
    }
}
