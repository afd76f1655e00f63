//! The report of a run: a reader of the file that the runtime writes (docs/research/typestate.md).

pub mod sarif;
pub mod text;

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

/// The results of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The checked properties.
    pub properties: Vec<PropertyResult>,
    /// Violations of the properties, in the order of their first occurrence.
    pub violations: Vec<Violation>,
    /// Further notes for the reader, about checks that were not possible.
    pub notes: Vec<String>,
    /// Whether the file is complete. Otherwise the JVM was killed, and there may be more
    /// violations.
    pub is_whole: bool,
}

/// A checked property, with the numbers of the check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyResult {
    /// Name of the property.
    pub name: String,
    /// Severity of its violations.
    pub level: String,
    /// The requirement, in one line.
    pub message: String,
    /// The expression of the property.
    pub expression: String,
    /// Number of events that the analysis received.
    pub events: u64,
    /// Number of events that reached the analysis although they change nothing, and were dropped at
    /// once.
    #[serde(default)]
    pub passed: u64,
    /// Number of objects that the analysis followed.
    pub objects: u64,
    /// Number of objects that it skipped to stay within its budget.
    #[serde(default)]
    pub unsampled: u64,
    /// Number of objects of which nothing is known, since they exceeded the levels of `nested`.
    #[serde(default)]
    pub unknown: u64,
}

/// A violation of a property: all occurrences with the same events at the same locations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The property.
    pub property: String,
    /// The way in which it was found.
    pub kind: Kind,
    /// The state before: the events of a shortest path to it; `^` for the initial state.
    pub state: String,
    /// The event that led to that state; absent for the initial state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The violating event; absent if an object ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Number of objects.
    pub count: u64,
    /// The first object.
    pub object: Object,
    /// The parent of the first object, in properties of pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Object>,
    /// The location where the object entered the state; absent for the initial state, or if it was
    /// not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Site>,
    /// The location of the violation; absent if an object ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Site>,
    /// The thread of the first occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The methods of its call stack, from the innermost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// In programs that are also counted: the id of the node of the calling-context tree where the
    /// violation happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The methods on the path to that node, from the innermost, as in profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
}

/// The way in which a violation was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An event that the state does not allow.
    Event,
    /// An object died in a state that is not accepting.
    Death,
    /// The program ended with an object in a state that is not accepting.
    Exit,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Class of the object.
    pub class: String,
    /// Number of the object among those that the analysis followed.
    pub id: u64,
    /// Identity hash code of the object.
    pub hash: String,
}

/// A location in code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// The file, if the class states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, if the class states it.
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

/// The reason why a file is not a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("not a report of a typestate analysis: its first line is wrong")]
    NoReport,
    /// The file is from another version.
    #[error("format version {0}; this version reads version 1")]
    Version(u64),
    /// An invalid line.
    #[error("line {line}: {why}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
}

/// A line of the file: exactly one of these is present.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Typestate(u64),
    Property(PropertyResult),
    Violation(Box<Violation>),
    Note(String),
    End(bool),
}

impl Report {
    /// Reads a file with a JSON object on each line.
    ///
    /// A killed JVM may leave an incomplete last line. The reader skips it, and
    /// [`Report::is_whole`] says so.
    ///
    /// # Errors
    /// If the file cannot be read, or is something else.
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
                _ if report.is_whole => return Err(misplaced("something follows the end")),
                Line::Typestate(_) => return Err(misplaced("the report begins again")),
                Line::Property(property) => report.properties.push(property),
                Line::Violation(violation) => report.violations.push(*violation),
                Line::Note(note) => report.notes.push(note),
                Line::End(whole) => report.is_whole = whole,
            }
        }
        if has_begun { Ok(report) } else { Err(ReportError::NoReport) }
    }

    /// Adds the report of another run. Numbers of a property add up, and equal violations become
    /// one. (No run comes near 2^64, but a file may state such numbers.)
    pub fn add(&mut self, other: Report) {
        for property in other.properties {
            match self.properties.iter_mut().find(|known| known.name == property.name) {
                None => self.properties.push(property),
                Some(known) => {
                    known.events = known.events.saturating_add(property.events);
                    known.passed = known.passed.saturating_add(property.passed);
                    known.objects = known.objects.saturating_add(property.objects);
                    known.unsampled = known.unsampled.saturating_add(property.unsampled);
                    known.unknown = known.unknown.saturating_add(property.unknown);
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

    /// Severity of a property's violations: `warning` if the file does not state it.
    pub fn level(&self, property: &str) -> &str {
        self.checked(property).map_or("warning", |checked| &checked.level)
    }

    /// The property of this name.
    pub fn checked(&self, property: &str) -> Option<&PropertyResult> {
        self.properties.iter().find(|checked| checked.name == property)
    }
}

impl Violation {
    /// Whether two violations have the same events at the same locations.
    fn is_like(&self, other: &Violation) -> bool {
        self.property == other.property
            && (self.kind, &self.state, &self.after) == (other.kind, &other.state, &other.after)
            && self.event == other.event
            && (&self.first, &self.site) == (&other.first, &other.site)
            && self.context == other.context
            && self.node == other.node
            && self.object.class == other.object.class
    }

    /// A description of the violation in words.
    pub fn says(&self) -> String {
        let state =
            self.after.as_ref().map_or("at the beginning".to_owned(), |after| format!("after '{after}'"));
        let event = self.event.as_deref().unwrap_or("?");
        match self.kind {
            Kind::Event => format!("'{event}' is not allowed {state}"),
            Kind::Death => format!("the object died {state}, which is not a final state"),
            Kind::Exit => format!("the program ended {state}, which is not a final state of the object"),
        }
    }
}

#[cfg(test)]
mod tests;
