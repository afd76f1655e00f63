//! CSV for spreadsheets: no name is a formula.

use cct_profile::Method;

use super::support::{Context, profile_of, put, run, scratch};

/// Names that a JVM accepts (JVMS 4.2.1).
const NAMES: [&str; 6] = ["=1+cmd|' C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\u{1b}[2J\u{7}"];

fn method(number: usize) -> Method {
    Method {
        class: NAMES[number].into(),
        name: "run".into(),
        descriptor: "()V".into(),
        mid: (number as u64 + 1) << 12,
        flags: 0,
        site: None,
    }
}

/// The cells of a column of names: the text after the last comma outside of quotes.
fn names(csv: &str) -> Vec<String> {
    let name = |line: &str| {
        let mut is_quoted = false;
        let mut start = 0;
        for (at, c) in line.char_indices() {
            match c {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => start = at + 1,
                _ => {}
            }
        }
        let field = &line[start..];
        let inner = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
        inner.map_or(field.to_owned(), |inner| inner.replace("\"\"", "\""))
    };
    csv.lines().skip(1).map(name).collect()
}

#[test]
fn no_name_is_a_formula() {
    let folder = scratch();
    let context = |number| Context { depth: 1, method: method(number), calls: 1, bytecodes: 1 };
    let contexts: Vec<Context> = (0..NAMES.len()).map(context).collect();
    put(folder.path(), "new.cct", &profile_of(&contexts, None));
    put(folder.path(), "=base.cct", &profile_of(&[], None));
    for command in [
        &["report", "new.cct", "--format", "csv"][..],
        &["report", "new.cct", "--format", "csv", "--by", "class"],
        &["diff", "./=base.cct", "new.cct", "--format", "csv"],
    ] {
        let csv = run(folder.path(), command).succeeds().stdout;
        let found = names(&csv);
        assert_eq!(found.len(), NAMES.len(), "{csv}");
        for name in &found {
            assert!(!name.starts_with(['=', '+', '-', '@', '\t', '\r']), "{command:?}: {name:?}");
            assert!(!name.contains(char::is_control), "{command:?}: {name:?}");
        }
        let raw = run(folder.path(), &[command, &["--raw"]].concat()).succeeds().stdout;
        let raw = names(&raw);
        for name in NAMES {
            assert!(raw.iter().any(|found| found.starts_with(name)), "{command:?}: {name:?} of {raw:?}");
        }
    }
    let tables = ["report", "--table", "shape", "=base.cct", "--format", "csv"];
    let csv = run(folder.path(), &tables).succeeds().stdout;
    assert!(csv.lines().nth(1).unwrap().starts_with("\"'=base.cct\","), "{csv}");
}
