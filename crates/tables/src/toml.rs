//! The part of TOML that tables are written in: `key = value` and `[table]` lines, values being integers, strings and lists of strings, and comments. Whatever
//! else a file has is refused by its line, not skipped.

use std::fmt;

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TableError {
    /// The line, from 1; that behind the last one where something is missing.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Neither `key = value`, nor `[table]`, nor a comment.
    #[error("this is neither `key = value` nor `[table]`")]
    Syntax,
    /// A value of a kind that tables do not have.
    #[error("'{0}' is no integer, no \"string\" and no list of strings on one line")]
    Value(String),
    /// A table that there is not.
    #[error("there is no table [{name}] here; there {known}")]
    UnknownTable {
        /// Its name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A key that there is not.
    #[error("'{key}' is unknown here: {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// What is known.
        known: String,
    },
    /// A key or a table for the second time.
    #[error("'{0}' was given before")]
    Twice(String),
    /// A key that must be there.
    #[error("the file has no '{0}'")]
    Missing(&'static str),
    /// A number that is too small or too large.
    #[error("{key} = {value}: it must be {from} to {to}")]
    OutOfRange {
        /// The key.
        key: String,
        /// Its value.
        value: i64,
        /// The least.
        from: i64,
        /// The most.
        to: i64,
    },
    /// A formula whose value becomes too large.
    #[error("a method of 65,535 bytes would cost {value} by [{table}], more than {most}")]
    Formula {
        /// The table.
        table: &'static str,
        /// The value.
        value: i64,
        /// The most.
        most: i64,
    },
    /// A value of another kind than the key has.
    #[error("'{key}' must be {kind}")]
    Kind {
        /// The key.
        key: String,
        /// What it must be.
        kind: &'static str,
    },
    /// A unit that profiles have for something else.
    #[error("unit = \"{0}\": that is what profiles without a model count; choose another word")]
    Taken(String),
    /// A name that a rule has that is no table.
    #[error("name = \"{0}\": that is the name of a rule that comes along; choose another")]
    TakenRule(String),
    /// A word that cannot be used.
    #[error(
        "{key} = \"{value}\": it must have 1 to {most} of the characters a-z, 0-9 and '-', a letter first"
    )]
    Word {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// How long it may be.
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
    /// Strings.
    List(Vec<String>),
}

/// A line that gives a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub line: usize,
    /// The table it stands in; empty above the first one.
    pub table: String,
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
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

    /// The string, if it is a word of at most `most` characters: it goes into lines of `key=value` and onto terminals.
    pub fn word(&self, most: usize) -> Result<String, TableError> {
        let key = self.key.clone();
        match &self.value {
            Value::Text(value) if is_word(value, most) => Ok(value.clone()),
            Value::Text(value) => Err(self.wrong(Problem::Word { key, value: shown(value), most })),
            _ => Err(self.wrong(Problem::Kind { key, kind: "a \"string\"" })),
        }
    }

    /// That the key is unknown.
    pub fn unknown(&self, known: impl fmt::Display) -> TableError {
        self.wrong(Problem::UnknownKey { key: self.key.clone(), known: known.to_string() })
    }
}

/// Whether a word is one of at most so many characters that needs no quotes anywhere.
pub fn is_word(word: &str, most: usize) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=most).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(is_plain)
}

/// The lines that give values. `tables` are those that there may be.
pub fn read(text: &str, tables: &[&str]) -> Result<Vec<Entry>, TableError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut table = String::new();
    let mut seen: Vec<String> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let wrong = |problem| TableError::at(line, problem);
        let text = without_comment(text).trim();
        if text.is_empty() {
            continue;
        }
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let name = name.trim();
            if !tables.contains(&name) {
                let known: Vec<String> = tables.iter().map(|t| format!("[{t}]")).collect();
                let known = if known.is_empty() {
                    "are none".to_owned()
                } else {
                    format!("are {}", known.join(", "))
                };
                return Err(wrong(Problem::UnknownTable { name: shown(name), known }));
            }
            if seen.iter().any(|s| s == name) {
                return Err(wrong(Problem::Twice(format!("[{name}]"))));
            }
            seen.push(name.to_owned());
            table = name.to_owned();
            continue;
        }
        let Some((key, value)) = text.split_once('=') else { return Err(wrong(Problem::Syntax)) };
        let key = key.trim();
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if key.is_empty() || !key.chars().all(is_bare) {
            return Err(wrong(Problem::Syntax));
        }
        if entries.iter().any(|e| e.table == table && e.key == key) {
            return Err(wrong(Problem::Twice(key.to_owned())));
        }
        let value = value.trim();
        let value = self::value(value).ok_or_else(|| wrong(Problem::Value(shown(value))))?;
        entries.push(Entry { line, table: table.clone(), key: key.to_owned(), value });
    }
    Ok(entries)
}

/// A line up to its comment. A `#` in a string begins none.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

fn value(text: &str) -> Option<Value> {
    if let Some(list) = text.strip_prefix('[') {
        let list = list.strip_suffix(']')?.trim();
        let list = list.strip_suffix(',').unwrap_or(list).trim();
        if list.is_empty() {
            return Some(Value::List(Vec::new()));
        }
        return list.split(',').map(|item| string(item.trim())).collect::<Option<_>>().map(Value::List);
    }
    if text.starts_with('"') {
        return string(text).map(Value::Text);
    }
    integer(text).map(Value::Integer)
}

/// Decimal, with an underscore between digits where one is wanted; no leading zeros (TOML 1.0, Integer).
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sound = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '_')
        && !digits.contains("__")
        && (digits == "0" || !digits.starts_with('0'));
    sound.then(|| text.replace('_', "").parse().ok())?
}

/// A string without escapes.
fn string(text: &str) -> Option<String> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains(['"', '\\'])).then(|| inside.to_owned())
}

/// What a message shows of a text that anybody wrote.
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
    fn what_is_not_understood_is_refused_by_its_line() {
        assert_eq!(problem("x = 1\nno value"), (2, Problem::Syntax));
        assert_eq!(problem("a.b = 1"), (1, Problem::Syntax));
        assert_eq!(
            problem("[c]"),
            (1, Problem::UnknownTable { name: "c".into(), known: "are [a], [b]".into() })
        );
        assert_eq!(problem("[a]\n[b]\n[a]"), (3, Problem::Twice("[a]".into())));
        assert_eq!(problem("x = 1\nx = 2"), (2, Problem::Twice("x".into())));
        for value in
            ["1.5", "true", "01", "0x1F", "1__0", "_1", "", "\"a\\n\"", "\"a", "'a'", "[1]", "[\"a\"", "{}"]
        {
            let (line, found) = problem(&format!("\nx = {value}"));
            assert!(line == 2 && matches!(found, Problem::Value(_)), "{value}: {found:?}");
        }
        assert_eq!(read("[[a]]", &["a"]).unwrap_err().line, 1);
        assert!(read("x = 99999999999999999999", &[]).is_err());
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
