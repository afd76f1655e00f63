//! The contents of a file of values, for `cctrewrite pcc info` and `dump`.

use std::io::{self, Write};

use cct_pcc::{Place, RecordedValues};
use cct_profile::escape::terminal;
use cct_profile::report::grouped;

/// Keys that describe a file's origin, shown if present.
const KEYS: [&str; 7] = ["main", "tool", "java.version", "exact", "selection", "pcc-at", "pcc-only"];

/// The name of a place for people.
pub fn method(place: &Place) -> String {
    let Place { class, name, descriptor } = place;
    terminal(&format!("{}.{name}{}", class.replace('/', "."), descriptor.replace(';', ",")))
}

/// Writes the sizes, the choice of methods, and the notes.
pub fn info(recorded: &RecordedValues, out: &mut dyn Write) -> io::Result<()> {
    let values: usize = recorded.counts.values().map(|values| values.len()).sum();
    let counts = recorded.counts.values().flat_map(|values| values.values());
    let entries: u128 = counts.map(|&count| u128::from(count)).sum();
    for key in KEYS {
        if let Some(value) = recorded.meta.get(key).filter(|value| !value.is_empty()) {
            writeln!(out, "  {key}: {}", terminal(value))?;
        }
    }
    let number = |number: usize| grouped(number as u128);
    writeln!(out, "{:>15}  methods at which values were recorded", number(recorded.counts.len()))?;
    writeln!(out, "{:>15}  values at these", number(values))?;
    writeln!(out, "{:>15}  entries", grouped(entries))?;
    if recorded.lost > 0 {
        let lost = grouped(u128::from(recorded.lost));
        writeln!(out, "{lost:>15}  entries that found no room: INCOMPLETE")?;
    }
    for note in &recorded.notes {
        writeln!(out, "note: {}", terminal(note))?;
    }
    Ok(())
}

/// Writes a line for each value of each place: count, value and method, separated by tabs.
pub fn dump(recorded: &RecordedValues, out: &mut dyn Write) -> io::Result<()> {
    for (place, values) in &recorded.counts {
        let method = method(place);
        for (value, count) in values {
            writeln!(out, "{count}\t{value}\t{method}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_pcc::Value;

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn recorded() -> RecordedValues {
        let mut recorded =
            RecordedValues { lost: 1234, notes: vec!["a\u{7}note".to_owned()], ..RecordedValues::default() };
        recorded.meta.insert("pcc-at".to_owned(), "a.B.m".to_owned());
        recorded.meta.insert("pcc-only".to_owned(), String::new());
        let place = |name: &str| Place {
            class: "a/B".to_owned(),
            name: name.to_owned(),
            descriptor: "(La/B;)V".to_owned(),
        };
        recorded.add(place("m"), Value(3), u64::MAX);
        recorded.add(place("m"), Value(1), u64::MAX);
        recorded.add(place("\n"), Value(1), 2);
        recorded
    }

    #[test]
    fn contents_of_a_file_are_counted() {
        let expected = "  pcc-at: a.B.m
              2  methods at which values were recorded
              3  values at these
36,893,488,147,419,103,232  entries
          1,234  entries that found no room: INCOMPLETE
note: a\\u{7}note
";
        assert_eq!(text(|out| info(&recorded(), out)), expected);
    }

    #[test]
    fn each_value_has_a_line() {
        let expected = "2\t0000000000000001\ta.B.\\n(La/B,)V
18446744073709551615\t0000000000000001\ta.B.m(La/B,)V
18446744073709551615\t0000000000000003\ta.B.m(La/B,)V
";
        assert_eq!(text(|out| dump(&recorded(), out)), expected);
    }
}
