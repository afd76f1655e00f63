//! Writes JSON objects member by member (docs/reference/formats/json.md). Each member, and each
//! item of a list, is on a line of its own.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cct_profile::{Exactness, Summary};
use serde::Serialize;

/// A JSON object that is still being written. [`Object::end`] must be called.
pub struct Object<'o> {
    out: &'o mut dyn Write,
    depth: usize,
    first: bool,
}

/// A JSON list that is still being written.
pub struct List<'o> {
    out: &'o mut dyn Write,
    depth: usize,
    first: bool,
}

fn separate(out: &mut dyn Write, first: &mut bool, depth: usize) -> io::Result<()> {
    let comma = if std::mem::take(first) { "" } else { "," };
    write!(out, "{comma}\n{:1$}", "", 2 * depth)
}

impl<'o> Object<'o> {
    /// Begins a document of a format: `{"format": ..., "version": ...`.
    pub fn new(out: &'o mut dyn Write, format: &str, version: u32) -> io::Result<Object<'o>> {
        out.write_all(b"{")?;
        let mut object = Object { out, depth: 1, first: true };
        object.member("format", format)?;
        object.member("version", &version)?;
        Ok(object)
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        separate(self.out, &mut self.first, self.depth)?;
        serde_json::to_writer(&mut *self.out, key)?;
        self.out.write_all(b": ")
    }

    /// Writes a member.
    pub fn member(&mut self, key: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        self.key(key)?;
        Ok(serde_json::to_writer(&mut *self.out, value)?)
    }

    /// Writes a member that is a list.
    pub fn list<E: From<io::Error>>(
        &mut self,
        key: &str,
        write: impl FnOnce(&mut List<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.key(key)?;
        self.out.write_all(b"[")?;
        let mut list = List { out: &mut *self.out, depth: self.depth + 1, first: true };
        write(&mut list)?;
        if !list.first {
            write!(self.out, "\n{:1$}", "", 2 * self.depth)?;
        }
        Ok(self.out.write_all(b"]")?)
    }

    /// Writes the end of the object.
    pub fn end(self) -> io::Result<()> {
        write!(self.out, "\n{:1$}}}", "", 2 * (self.depth - 1))
    }
}

impl List<'_> {
    /// Writes an item.
    pub fn item(&mut self, value: &impl Serialize) -> io::Result<()> {
        separate(self.out, &mut self.first, self.depth)?;
        Ok(serde_json::to_writer(&mut *self.out, value)?)
    }

    /// Begins an item that is an object.
    pub fn object(&mut self) -> io::Result<Object<'_>> {
        separate(self.out, &mut self.first, self.depth)?;
        self.out.write_all(b"{")?;
        Ok(Object { out: &mut *self.out, depth: self.depth + 1, first: true })
    }
}

/// The facts that every document about a profile has in common.
#[derive(Serialize)]
pub struct Head<'s> {
    meta: &'s BTreeMap<String, String>,
    notes: &'s [String],
    exact: Option<ExactnessRow>,
    incomplete: Vec<String>,
    totals: Totals,
}

/// How exact a profile is.
#[derive(Serialize)]
pub struct ExactnessRow {
    verdict: &'static str,
    reasons: Vec<String>,
}

impl From<&Exactness> for ExactnessRow {
    fn from(exactness: &Exactness) -> Self {
        ExactnessRow { verdict: exactness.verdict(), reasons: exactness.reasons().to_vec() }
    }
}

#[derive(Serialize)]
struct Totals {
    threads: u128,
    trees: usize,
    methods: u64,
    contexts: u128,
    calls: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<u128>,
    /// `None` unless objects were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<u64>,
    /// The sum of each column; empty without columns.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    columns: BTreeMap<&'static str, u128>,
}

impl<'s> Head<'s> {
    /// The head for a profile.
    pub fn of(summary: &'s Summary) -> Head<'s> {
        let markers = summary.markers.iter().map(|(marker, calls)| {
            format!("contexts are missing: the marker {marker} has their {calls} calls")
        });
        Head {
            meta: &summary.meta,
            notes: &summary.notes,
            exact: Exactness::of_summary(summary).as_ref().map(ExactnessRow::from),
            incomplete: summary.damage.iter().map(ToString::to_string).chain(markers).collect(),
            totals: Totals {
                threads: summary.threads(),
                trees: summary.trees.len(),
                methods: summary.methods,
                contexts: summary.all.contexts,
                calls: summary.all.calls,
                bytecodes: summary.counts_bytecodes.then_some(summary.all.bytecodes),
                objects: summary.objects.map(|totals| totals.objects),
                types: summary.objects.map(|totals| totals.types),
                columns: summary.columns.iter().map(|(column, sum)| (column.name(), *sum)).collect(),
            },
        }
    }

    /// Writes the members of the head.
    pub fn write(&self, object: &mut Object<'_>) -> io::Result<()> {
        object.member("meta", self.meta)?;
        object.member("notes", self.notes)?;
        object.member("exact", &self.exact)?;
        object.member("incomplete", &self.incomplete)?;
        object.member("totals", &self.totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piecewise_output_is_json() {
        let mut out = Vec::new();
        let mut object = Object::new(&mut out, "x", 1).unwrap();
        object.list("none", |_| io::Result::Ok(())).unwrap();
        object
            .list("some", |list| {
                list.item(&"a\"b")?;
                let mut inner = list.object()?;
                inner.member("n", &u128::from(u64::MAX))?;
                inner.end()?;
                io::Result::Ok(())
            })
            .unwrap();
        object.end().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let expected = serde_json::json!({
            "format": "x", "version": 1, "none": [], "some": ["a\"b", {"n": u64::MAX}]
        });
        assert_eq!(value, expected);
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 11);
    }
}
