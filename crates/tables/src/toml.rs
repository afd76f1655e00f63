//! The part of TOML that tables use: integers, strings and lists of strings, at the top level or in
//! one of the known tables. Anything else in a file is an error with its line, and never skipped.

use std::fmt;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A fault of a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TableError {
    /// The line, from 1; the one after the last line if something is missing.
    pub line: usize,
    /// The fault in that line.
    pub problem: Problem,
}

/// The fault of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Invalid TOML: the message of the TOML reader.
    #[error("{0}")]
    Syntax(String),
    /// A value of a kind that tables do not use.
    #[error("'{0}' is not an integer, a \"string\" or a list of strings")]
    Value(String),
    /// An unknown table.
    #[error("unknown table [{name}]; there {known}")]
    UnknownTable {
        /// Name of the table.
        name: String,
        /// The known ones.
        known: String,
    },
    /// An unknown key.
    #[error("unknown key '{key}': {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The known ones.
        known: String,
    },
    /// A missing key.
    #[error("the file has no '{0}'")]
    Missing(&'static str),
    /// A number that is too small or too large.
    #[error("{key} = {value}: it must be {from} to {to}")]
    OutOfRange {
        /// The key.
        key: String,
        /// Value of the key.
        value: i64,
        /// The minimum.
        from: i64,
        /// The maximum.
        to: i64,
    },
    /// A formula whose value is too large.
    #[error("a method of 65,535 bytes would cost {value} by [{table}], more than {most}")]
    Formula {
        /// The table.
        table: &'static str,
        /// The value.
        value: i64,
        /// The maximum.
        most: i64,
    },
    /// A value of a different kind than the key's.
    #[error("'{key}' must be {kind}")]
    Kind {
        /// The key.
        key: String,
        /// The required kind.
        kind: &'static str,
    },
    /// A unit that profiles use for other numbers.
    #[error("unit = \"{0}\": that is the unit of profiles without a model; choose another word")]
    Taken(String),
    /// The name of a built-in rule that is not a table.
    #[error("name = \"{0}\": that is the name of a built-in rule; choose another")]
    TakenRule(String),
    /// An unusable word.
    #[error(
        "{key} = \"{value}\": it must have 1 to {most} of the characters a-z, 0-9 and '-', a letter first"
    )]
    Word {
        /// The key.
        key: String,
        /// Value of the key.
        value: String,
        /// The maximum number of characters.
        most: usize,
    },
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
}

/// A line that sets a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Number of the line, from 1.
    pub line: usize,
    /// The table of the line; empty before the first one.
    pub table: String,
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
}

impl Problem {
    fn known_tables(tables: &[&str]) -> String {
        let known: Vec<String> = tables.iter().map(|t| format!("[{t}]")).collect();
        if known.is_empty() { "are none".to_owned() } else { format!("are {}", known.join(", ")) }
    }
}

impl TableError {
    pub(crate) fn at(line: usize, problem: Problem) -> Self {
        TableError { line, problem }
    }
}

impl Entry {
    fn wrong(&self, problem: Problem) -> TableError {
        TableError::at(self.line, problem)
    }

    /// The integer, if it is one from `from` to `to`.
    pub fn integer(&self, from: i64, to: i64) -> Result<i64, TableError> {
        let key = self.key.clone();
        match self.value {
            Value::Integer(value) if (from..=to).contains(&value) => Ok(value),
            Value::Integer(value) => Err(self.wrong(Problem::OutOfRange { key, value, from, to })),
            _ => Err(self.wrong(Problem::Kind { key, kind: "an integer" })),
        }
    }

    /// The string, if it is a word of at most `most` characters. It appears in lines of `key=value`
    /// and on terminals.
    pub fn word(&self, most: usize) -> Result<String, TableError> {
        let key = self.key.clone();
        match &self.value {
            Value::Text(value) if is_word(value, most) => Ok(value.clone()),
            Value::Text(value) => Err(self.wrong(Problem::Word { key, value: shown(value), most })),
            _ => Err(self.wrong(Problem::Kind { key, kind: "a \"string\"" })),
        }
    }

    /// The error for an unknown key.
    pub fn unknown(&self, known: impl fmt::Display) -> TableError {
        self.wrong(Problem::UnknownKey { key: self.key.clone(), known: known.to_string() })
    }
}

/// Whether a text is a word of at most `most` characters that needs no quotes anywhere.
pub fn is_word(word: &str, most: usize) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=most).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(is_plain)
}

/// The values of a file, in the order of their lines. `tables` are the known tables.
pub fn read(text: &str, tables: &[&str]) -> Result<Vec<Entry>, TableError> {
    let line = |at: usize| 1 + text.bytes().take(at).filter(|&b| b == b'\n').count();
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        TableError::at(line(at), Problem::Syntax(shown(error.message())))
    })?;
    let mut entries = Vec::new();
    for (key, value) in root.get_ref() {
        match value.get_ref() {
            DeValue::Table(table) => {
                let name = key.get_ref();
                if !tables.contains(&&**name) {
                    let known = Problem::known_tables(tables);
                    let problem = Problem::UnknownTable { name: shown(name), known };
                    return Err(TableError::at(line(key.span().start), problem));
                }
                for (key, value) in table {
                    entries.push((key.span().start, &**name, key.get_ref(), value));
                }
            }
            _ => entries.push((key.span().start, "", key.get_ref(), value)),
        }
    }
    // Tables are sorted by their keys, but readers of messages go by lines.
    entries.sort_by_key(|(at, ..)| *at);
    let entry = |(at, table, key, value): (usize, &str, &DeString<'_>, &Spanned<DeValue<'_>>)| {
        let wrong = || TableError::at(line(at), Problem::Value(shown(&text[value.span()])));
        let (line, table, key) = (line(at), table.to_owned(), key.to_string());
        Ok(Entry { line, table, key, value: self::value(value.get_ref()).ok_or_else(wrong)? })
    };
    entries.into_iter().map(entry).collect()
}

/// A value of a kind that tables use; `None` for other kinds.
fn value(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::Text(text.to_string())),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::Integer)
        }
        DeValue::Array(items) => {
            let text = |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned);
            items.iter().map(text).collect::<Option<_>>().map(Value::List)
        }
        _ => None,
    }
}

/// The form in which a message shows a text of unknown origin.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 { short + "..." } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, Problem) {
        let error = read(text, &["a", "b"]).unwrap_err();
        (error.line, error.problem)
    }

    #[test]
    fn lines_are_read() {
        let text = "# a comment\nname = \"x#1\" # another\n\n[a]\nnop = 1_000\nneg=-3\n[b]\nends = [\"x\", \"y-z\",]\nnone = []\n";
        let entries = read(text, &["a", "b"]).unwrap();
        let got: Vec<_> = entries.iter().map(|e| (e.line, &*e.table, &*e.key, e.value.clone())).collect();
        let list = |items: &[&str]| Value::List(items.iter().map(|&i| i.to_owned()).collect());
        assert_eq!(
            got,
            [
                (2, "", "name", Value::Text("x#1".into())),
                (5, "a", "nop", Value::Integer(1000)),
                (6, "a", "neg", Value::Integer(-3)),
                (8, "b", "ends", list(&["x", "y-z"])),
                (9, "b", "none", list(&[])),
            ]
        );
    }

    #[test]
    fn unknown_lines_are_refused_with_their_numbers() {
        assert_eq!(
            problem("[c]\nx = 1"),
            (1, Problem::UnknownTable { name: "c".into(), known: "are [a], [b]".into() })
        );
        for (text, line) in [
            ("x = 1\nno value", 2),
            ("[a]\n[b]\n[a]", 3),
            ("x = 1\nx = 2", 2),
            ("\nx = 01", 2),
            ("x = \"a", 1),
            ("[[a]", 1),
        ] {
            let found = problem(text);
            assert!(found.0 == line && matches!(found.1, Problem::Syntax(_)), "{text}: {found:?}");
        }
        for value in ["1.5", "true", "1979-05-27", "[1]", "[[\"a\"]]", "99999999999999999999"] {
            let (line, found) = problem(&format!("\nx = {value}"));
            assert!(line == 2 && matches!(found, Problem::Value(_)), "{value}: {found:?}");
        }
        let found = problem("[[a]]\nx = 1");
        assert!(matches!(found, (1, Problem::Value(_))), "{found:?}");
        let found = problem("a.b.c = 1");
        assert!(matches!(found, (1, Problem::Value(_))), "{found:?}");
    }

    #[test]
    fn anything_is_read_or_refused() {
        arbtest::arbtest(|u| {
            let bytes: Vec<u8> = u.arbitrary()?;
            let _ = read(&String::from_utf8_lossy(&bytes), &["a"]);
            Ok(())
        });
    }
}
