//! What a run found: the file that the runtime writes (docs/research/typestate.md), read.

pub mod sarif;
pub mod text;

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Properties that were checked.
    pub properties: Vec<Checked>,
    /// What violated them, in the order in which it was first seen.
    pub violations: Vec<Violation>,
    /// What else the reader must know: what could not be checked.
    pub notes: Vec<String>,
    /// Whether the file has its end. The JVM was killed otherwise, and there may have been more.
    pub is_whole: bool,
}

/// A property that was checked, and how much there was to check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// How bad violations are.
    pub level: String,
    /// What it demands.
    pub message: String,
    /// Its expression.
    pub expression: String,
    /// Events that were heard.
    pub events: u64,
    /// Events that came to the analysis although they change nothing, and were let go at once.
    #[serde(default)]
    pub passed: u64,
    /// Objects that it followed.
    pub objects: u64,
    /// Objects that it left out to keep within its budget.
    #[serde(default)]
    pub unsampled: u64,
}

/// What violated a property: by the same events at the same places, so often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The property.
    pub property: String,
    /// How it came out.
    pub kind: Kind,
    /// The state before: the events of a shortest way there, `^` where objects begin.
    pub state: String,
    /// The event by which it came to that state; absent where objects begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What happened in it; absent where an object ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// How many objects.
    pub count: u64,
    /// The first of them.
    pub object: Object,
    /// What it belongs to, in properties of pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Object>,
    /// Where the state was entered; absent where objects begin, or if it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Site>,
    /// Where the violation happened; absent where an object ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Site>,
    /// The thread of the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The methods that led there, from the innermost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// Where the program is counted, too: the id of the node of its calling-context tree in which
    /// that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The methods on the way to that node, from the innermost, as profiles have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
}

/// How a violation comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An event that the state does not allow.
    Event,
    /// An object died in a state that is no end.
    Death,
    /// The program ended, and an object was in such a state.
    Exit,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its class.
    pub class: String,
    /// A number of its own among those that were followed.
    pub id: u64,
    /// Its identity hash code.
    pub hash: String,
}

/// A place in code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// The file, if classes say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, if classes say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.class, self.method)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " ({file}:{line})"),
            (Some(file), None) => write!(f, " ({file})"),
            (None, Some(line)) => write!(f, " (line {line})"),
            (None, None) => Ok(()),
        }
    }
}

/// Why a file is none of these.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no report of a typestate analysis: its first line is not that of one")]
    NoReport,
    /// It comes from another version.
    #[error("its form is {0}, and this version reads 1")]
    Version(u64),
    /// A line that cannot be understood.
    #[error("line {line}: {why}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// Why.
        why: String,
    },
}

/// A line of the file: exactly one of these.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Typestate(u64),
    Property(Checked),
    Violation(Box<Violation>),
    Note(String),
    End(bool),
}

impl Report {
    /// Reads a file: a JSON object on each line.
    ///
    /// A last line that is not complete is what a JVM leaves that was killed; it is left out, and
    /// [`Report::is_whole`] says so.
    ///
    /// # Errors
    /// It cannot be read, or is something else.
    pub fn read(input: impl BufRead) -> Result<Report, ReportError> {
        let mut report = Report::default();
        let mut lines = input.split(b'\n').enumerate().peekable();
        let mut has_begun = false;
        while let Some((at, text)) = lines.next() {
            let text = text?;
            let line: Line = match serde_json::from_slice(&text) {
                Ok(line) => line,
                Err(_) if !has_begun => return Err(ReportError::NoReport),
                Err(_) if lines.peek().is_none() => break,
                Err(error) => return Err(ReportError::Line { line: at + 1, why: error.to_string() }),
            };
            let misplaced = |why: &str| ReportError::Line { line: at + 1, why: why.to_owned() };
            match line {
                Line::Typestate(1) if !has_begun => has_begun = true,
                Line::Typestate(version) if !has_begun => return Err(ReportError::Version(version)),
                _ if !has_begun => return Err(ReportError::NoReport),
                _ if report.is_whole => return Err(misplaced("there is something behind the end")),
                Line::Typestate(_) => return Err(misplaced("the report begins again")),
                Line::Property(property) => report.properties.push(property),
                Line::Violation(violation) => report.violations.push(*violation),
                Line::Note(note) => report.notes.push(note),
                Line::End(whole) => report.is_whole = whole,
            }
        }
        if has_begun { Ok(report) } else { Err(ReportError::NoReport) }
    }

    /// The same of another run. Numbers of one property are added up, and violations that are alike
    /// become one. (No run comes near 2^64; a file may say so.)
    pub fn add(&mut self, other: Report) {
        for property in other.properties {
            match self.properties.iter_mut().find(|known| known.name == property.name) {
                None => self.properties.push(property),
                Some(known) => {
                    known.events = known.events.saturating_add(property.events);
                    known.passed = known.passed.saturating_add(property.passed);
                    known.objects = known.objects.saturating_add(property.objects);
                    known.unsampled = known.unsampled.saturating_add(property.unsampled);
                }
            }
        }
        for violation in other.violations {
            match self.violations.iter_mut().find(|known| known.is_like(&violation)) {
                None => self.violations.push(violation),
                Some(known) => known.count = known.count.saturating_add(violation.count),
            }
        }
        self.notes.extend(other.notes);
        self.is_whole &= other.is_whole;
    }

    /// How bad violations of a property are: `warning` if the file does not say.
    pub fn level(&self, property: &str) -> &str {
        self.checked(property).map_or("warning", |checked| &checked.level)
    }

    /// The property of this name.
    pub fn checked(&self, property: &str) -> Option<&Checked> {
        self.properties.iter().find(|checked| checked.name == property)
    }
}

impl Violation {
    /// Whether the same happened at the same places.
    fn is_like(&self, other: &Violation) -> bool {
        self.property == other.property
            && (self.kind, &self.state, &self.after) == (other.kind, &other.state, &other.after)
            && self.event == other.event
            && (&self.first, &self.site) == (&other.first, &other.site)
            && self.context == other.context
            && self.node == other.node
            && self.object.class == other.object.class
    }

    /// What happened, in words.
    pub fn says(&self) -> String {
        let state =
            self.after.as_ref().map_or("at the beginning".to_owned(), |after| format!("after '{after}'"));
        let event = self.event.as_deref().unwrap_or("?");
        match self.kind {
            Kind::Event => format!("'{event}' is not allowed {state}"),
            Kind::Death => format!("the object died {state}, which is no end"),
            Kind::Exit => format!("the program ended {state}, which is no end of the object"),
        }
    }
}

#[cfg(test)]
mod tests;
