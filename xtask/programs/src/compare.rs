//! Comparison of two outcomes of one program.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use super::outcome::Outcome;
use super::program::{Mask, MaskedParts, Program, STANDARD_OUTPUT};

/// One difference between a plain run and a profiled one.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place: `exit code`, `standard output`, a file.
    pub place: String,
    /// The difference between the plain and the profiled run.
    pub what: DifferenceKind,
}

/// The kind of a difference.
#[derive(Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// A value.
    Value(String, String),
    /// The first line that differs, counted from 1; `None` where a text has ended.
    Line(usize, Option<String>, Option<String>),
    /// The first byte that differs in a binary file, and both lengths.
    Byte(usize, usize, usize),
    /// A file that only the plain run wrote.
    Missing,
    /// A file that only the profiled run wrote.
    Added,
    /// There is no sound profile.
    Profile(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        let line = |line: &Option<String>| {
            line.as_ref().map_or_else(|| "(end)".to_owned(), |line| format!("{line:?}"))
        };
        match &self.what {
            DifferenceKind::Value(plain, profiled) => {
                write!(f, "{place}: plain {plain}, profiled {profiled}")
            }
            DifferenceKind::Line(number, plain, profiled) => {
                write!(f, "{place}, line {number}: plain {}, profiled {}", line(plain), line(profiled))
            }
            DifferenceKind::Byte(at, plain, profiled) => {
                write!(f, "{place}: differs from byte {at} on; {plain} bytes plain, {profiled} profiled")
            }
            DifferenceKind::Missing => write!(f, "{place}: not written by the profiled run"),
            DifferenceKind::Added => write!(f, "{place}: only written by the profiled run"),
            DifferenceKind::Profile(why) => write!(f, "{place}: {why}"),
        }
    }
}

/// All differences.
pub fn outcomes(program: &Program, plain: &Outcome, profiled: &Outcome) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut add = |place: &str, what| differences.push(Difference { place: place.to_owned(), what });
    if plain.exit != profiled.exit {
        add("end", DifferenceKind::Value(plain.end(), profiled.end()));
    }
    let masks = |place: &str| -> Vec<&MaskedParts> {
        program.masks.iter().filter(|mask| covers(mask, place)).map(|mask| &mask.what).collect()
    };
    for (place, plain, profiled) in [
        (STANDARD_OUTPUT, &plain.stdout, &profiled.stdout),
        ("standard error", &plain.stderr, &profiled.stderr),
    ] {
        if let Some(what) = content(plain, profiled, &masks(place)) {
            add(place, what);
        }
    }
    let names: BTreeSet<&String> = plain.files.keys().chain(profiled.files.keys()).collect();
    for name in names {
        match (plain.files.get(name), profiled.files.get(name)) {
            (Some(_), None) => add(name, DifferenceKind::Missing),
            (None, Some(_)) => add(name, DifferenceKind::Added),
            (Some(plain), Some(profiled)) => {
                if let Some(what) = content(plain, profiled, &masks(name)) {
                    add(name, what);
                }
            }
            (None, None) => {}
        }
    }
    if let Some(Err(why)) = &profiled.profile {
        add("profile", DifferenceKind::Profile(why.clone()));
    }
    differences
}

/// Whether a mask applies to a file.
fn covers(mask: &Mask, file: &str) -> bool {
    if mask.file.ends_with('/') { file.starts_with(mask.file) } else { file == mask.file }
}

/// A text without the rest of the lines that start with one of `prefixes`, ignoring spaces.
fn masked<'a>(content: &'a [u8], prefixes: &[&str]) -> Cow<'a, [u8]> {
    if prefixes.is_empty() {
        return Cow::Borrowed(content);
    }
    let mut masked = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_start();
        match prefixes.iter().find(|prefix| text.starts_with(prefix.as_bytes())) {
            Some(prefix) => {
                masked.extend_from_slice(prefix.as_bytes());
                masked.push(b'\n');
            }
            None => masked.extend_from_slice(line),
        }
    }
    Cow::Owned(masked)
}

/// The first difference of two contents outside the masks.
fn content(plain: &[u8], profiled: &[u8], masks: &[&MaskedParts]) -> Option<DifferenceKind> {
    let mut prefixes = Vec::new();
    for mask in masks {
        match mask {
            MaskedParts::Content => return None,
            MaskedParts::Lines(lines) => prefixes.extend_from_slice(lines),
        }
    }
    let (plain, profiled) = (masked(plain, &prefixes), masked(profiled, &prefixes));
    if plain == profiled {
        return None;
    }
    let (Ok(plain_text), Ok(profiled_text)) = (str::from_utf8(&plain), str::from_utf8(&profiled)) else {
        let same = plain.iter().zip(profiled.iter()).take_while(|(a, b)| a == b).count();
        return Some(DifferenceKind::Byte(same, plain.len(), profiled.len()));
    };
    let (mut plain, mut profiled) = (plain_text.split_inclusive('\n'), profiled_text.split_inclusive('\n'));
    let mut number = 1;
    // They differ, so a line will be found before both end.
    loop {
        match (plain.next(), profiled.next()) {
            (None, None) => return None,
            (a, b) if a == b => number += 1,
            (a, b) => return Some(DifferenceKind::Line(number, a.map(str::to_owned), b.map(str::to_owned))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn outcome(stdout: &str, files: &[(&str, &[u8])]) -> Outcome {
        Outcome {
            exit: Some(0),
            is_cut_off: false,
            stdout: stdout.into(),
            stderr: Vec::new(),
            files: files
                .iter()
                .map(|(name, content)| ((*name).to_owned(), content.to_vec()))
                .collect::<BTreeMap<_, _>>(),
            wall: Duration::ZERO,
            cpu_seconds: 0.0,
            peak_kib: 0,
            profile: None,
        }
    }

    fn shown(masks: &'static [Mask], plain: &Outcome, profiled: &Outcome) -> Vec<String> {
        let mut program =
            *super::super::catalogue::programs().find(|program| program.name == "scala").unwrap();
        program.masks = masks;
        outcomes(&program, plain, profiled).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let plain = outcome("a\nb\nc\n", &[]);
        assert_eq!(shown(&[], &plain, &outcome("a\nb\nc\n", &[])), [""; 0]);
        assert_eq!(
            shown(&[], &plain, &outcome("a\nB\nc\n", &[])),
            [r#"standard output, line 2: plain "b\n", profiled "B\n""#]
        );
        assert_eq!(
            shown(&[], &plain, &outcome("a\nb\n", &[])),
            [r#"standard output, line 3: plain "c\n", profiled (end)"#]
        );
    }

    #[test]
    fn files_are_compared_by_name_and_content() {
        let plain = outcome("", &[("a", b"1"), ("b", &[0xFF, 1, 2]), ("c", b"")]);
        let profiled = outcome("", &[("a", b"1"), ("b", &[0xFF, 1, 3, 4]), ("d", b"")]);
        assert_eq!(
            shown(&[], &plain, &profiled),
            [
                "b: differs from byte 2 on; 3 bytes plain, 4 profiled",
                "c: not written by the profiled run",
                "d: only written by the profiled run",
            ]
        );
    }

    #[test]
    fn masks_hide_what_they_name_and_no_more() {
        const LINES: &[Mask] = &[Mask { file: "f", what: MaskedParts::Lines(&["/ID "]) }];
        let plain = outcome("", &[("f", b"x\n  /ID 12\ny\n"), ("g", b"/ID 1\n")]);
        let profiled = outcome("", &[("f", b"x\n  /ID 3\ny\n"), ("g", b"/ID 2\n")]);
        assert_eq!(shown(LINES, &plain, &profiled), [r#"g, line 1: plain "/ID 1\n", profiled "/ID 2\n""#]);
        const FOLDER: &[Mask] = &[Mask { file: "db/", what: MaskedParts::Content }];
        let plain = outcome("", &[("db/a", b"1"), ("db/b", b"1"), ("db2", b"1")]);
        let profiled = outcome("", &[("db/a", b"2"), ("db2", b"2")]);
        assert_eq!(
            shown(FOLDER, &plain, &profiled),
            ["db/b: not written by the profiled run", r#"db2, line 1: plain "1", profiled "2""#]
        );
    }

    #[test]
    fn the_end_and_a_missing_profile_count() {
        let plain = outcome("", &[]);
        let mut profiled = outcome("", &[]);
        profiled.exit = None;
        profiled.profile = Some(Err("no profile: gone".to_owned()));
        assert_eq!(
            shown(&[], &plain, &profiled),
            ["end: plain exit code 0, profiled a signal or the time limit", "profile: no profile: gone",]
        );
    }
}
