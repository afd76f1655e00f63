//! Tables and values of TOML with their positions.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::error::{FileError, Problem, shown};

/// The text of a file, from which positions give lines.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a>(pub &'a str);

impl<'a> Source<'a> {
    /// Parses the file.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, FileError> {
        DeTable::parse(self.0).map_err(|error| {
            let at = error.span().map_or(self.0.len(), |span| span.start);
            self.error(at, Problem::Syntax(shown(error.message())))
        })
    }

    /// The line of a byte.
    pub fn line(self, at: usize) -> usize {
        1 + self.0.bytes().take(at).filter(|&b| b == b'\n').count()
    }

    /// A problem at a byte.
    pub fn error(self, at: usize, problem: Problem) -> FileError {
        let before = self.0.get(..at).unwrap_or(self.0);
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
        FileError { line: self.line(at), column, problem }
    }

    /// The entries of a table in the order of the file. Unknown keys are an error.
    pub fn entries(self, table: &'a DeTable<'a>, known: &[&str]) -> Result<Vec<Entry<'a>>, FileError> {
        let mut entries: Vec<Entry<'a>> = table
            .iter()
            .map(|(key, value)| Entry { source: self, at: key.span().start, key: key.get_ref(), value })
            .collect();
        entries.sort_by_key(|entry| entry.at);
        match entries.iter().find(|entry| !known.is_empty() && !known.contains(&entry.key)) {
            None => Ok(entries),
            Some(entry) => {
                let known = known.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(", ");
                Err(self.error(entry.at, Problem::UnknownKey { key: shown(entry.key), known }))
            }
        }
    }

    /// Position in the file of byte `at` of a string's value. For strings with escapes, only their
    /// start.
    pub fn within(self, value: &Spanned<DeValue<'_>>, text: &str, at: usize) -> usize {
        let span = value.span();
        let raw = self.0.get(span.clone()).unwrap_or_default();
        match raw.find(text) {
            Some(begin) => span.start + begin + at,
            None => span.start,
        }
    }
}

/// A key with its value.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    source: Source<'a>,
    /// Position of the key.
    pub at: usize,
    /// The key.
    pub key: &'a str,
    /// Value of the key.
    pub value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Entry<'a> {
    /// A problem with the key.
    pub fn wrong(&self, problem: Problem) -> FileError {
        self.source.error(self.at, problem)
    }

    /// A problem with the value.
    pub fn wrong_value(&self, problem: Problem) -> FileError {
        self.source.error(self.value.span().start, problem)
    }

    /// The error for a value of another kind.
    pub fn kind(&self, kind: &'static str) -> FileError {
        self.wrong_value(Problem::Kind { key: shown(self.key), kind })
    }

    /// A string.
    pub fn text(&self) -> Result<&'a str, FileError> {
        self.value.get_ref().as_str().ok_or_else(|| self.kind("a \"string\""))
    }

    /// A string of one line that messages and generated files can hold.
    pub fn line_of_text(&self) -> Result<&'a str, FileError> {
        let text = self.text()?;
        if text.is_empty() || text.len() > 1000 || text.chars().any(char::is_control) {
            return Err(self.kind("a \"string\" of one line, with 1 to 1000 bytes"));
        }
        Ok(text)
    }

    /// A list.
    pub fn list(&self, kind: &'static str) -> Result<&'a DeArray<'a>, FileError> {
        self.value.get_ref().as_array().ok_or_else(|| self.kind(kind))
    }

    /// A list of strings.
    pub fn texts(&self, kind: &'static str) -> Result<Vec<&'a str>, FileError> {
        let items = self.list(kind)?.iter();
        items.map(|item| item.get_ref().as_str().ok_or_else(|| self.kind(kind))).collect()
    }
}
