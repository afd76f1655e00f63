//! Target for markers and properties: users' files, a class of unknown origin, and the report of a
//! run.

use std::sync::OnceLock;

use cct_classfile::ClassFile;
use cct_markers::{Rules, Way, World, attribute, mark};
use cct_typestate::report::{Report, sarif, text};
use cct_typestate::{dot, encoded, file, rules};

/// Rules for every kind of location, with everything that handlers can get.
fn everywhere() -> Rules {
    let mut rules = Rules::default();
    for at in [
        "method",
        "loop",
        "loop-header",
        "block",
        "call",
        "handler",
        "allocation",
        "field-read",
        "field-write",
    ] {
        let arguments = if matches!(at, "method" | "call") { ", \"arguments\"" } else { "" };
        let rule = format!("[[marker]]\ntoken = \"t\"\nat = \"{at}\"\ncontext = [\"receiver\"{arguments}]\n");
        rules.add(&rule).unwrap();
    }
    rules.add("[[marker]]\ntoken = \"o\"\nat = \"method\"\nmethod = \"a*\"\nper-object = true\n").unwrap();
    rules.add("[[marker]]\ntoken = \"l\"\nat = \"line\"\nlines = [1, 10, 20]\n").unwrap();
    rules
}

/// Marks a class. The result is as valid as the original, lists its markers, and is refused a
/// second time. Or the class has no location that could be marked.
pub fn marked(bytes: &[u8]) {
    static ALL: OnceLock<Rules> = OnceLock::new();
    let all = ALL.get_or_init(everywhere);
    let world = World::default();
    let Ok(marked) = mark(bytes, &Way::new(all, &world)) else { return };
    let Some(new) = &marked.bytes else { return };
    super::rewrite::check(bytes, new);
    let class = ClassFile::parse(new).unwrap();
    assert!(attribute::read(&class).unwrap() == marked.descriptors, "it does not say what is marked");
    // JVMs may refuse a constructor that nobody would mark a second time.
    let again = mark(new, &Way::new(all, &world));
    assert!(again.is_err() || again.is_ok_and(|again| again.bytes.is_none()), "marked twice");
}

/// Reads a file of rules. Accepted ones mark a class or match nothing.
pub fn marker_rules(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut rules = Rules::default();
    if rules.add(text).is_err() {
        return;
    }
    let world = World::default();
    for class in crate::seeds::some_classes() {
        if let Ok(marked) = mark(class, &Way::new(&rules, &world))
            && let Some(new) = &marked.bytes
        {
            super::rewrite::check(class, new);
        }
    }
}

/// Reads a file of properties. Accepted ones have tables, a graph, and rules that the markers
/// accept.
pub fn properties(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(properties) = file::parse(text) else { return };
    let _ = (encoded::encoded(&properties), dot::dot(&properties));
    // Locations are the user's own words for rules, which the markers check.
    let _ = Rules::default().add(&rules::rules(&properties));
}

/// Reads the report of a run. Accepted ones are added to themselves and written.
pub fn violations(bytes: &[u8]) {
    let Ok(mut report) = Report::read(bytes) else { return };
    report.add(report.clone());
    let (mut readable, mut json) = (Vec::new(), Vec::new());
    text::write(&report, &mut readable).unwrap();
    sarif::write(&report, "0", &mut json).unwrap();
    for byte in String::from_utf8(readable).unwrap().chars() {
        assert!(byte == '\n' || !byte.is_control(), "{byte:?} in a report");
    }
}
