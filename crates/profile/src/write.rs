//! Writing a `.cct` file, the mirror of `read`.

use crate::section::{MAGIC, VERSION, section, string, varint};
use crate::{Method, Profile, ROOT, ThreadTree};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// A `NODE` section is closed when it has this many bytes.
const NODE_SECTION: usize = 1 << 20;

/// Why a profile cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output failed.
    #[error("writing the profile failed")]
    Io(#[from] io::Error),
    /// The profile was made by hand and is not in canonical order.
    #[error("{0} of the profile are not in order; merging the profile with nothing puts them in order")]
    Order(&'static str),
    /// A node names a method that the profile does not have.
    #[error(
        "the tree of thread '{thread}' has a context of method {method}, but there are only {count} methods"
    )]
    NoSuchMethod {
        /// The thread's name.
        thread: String,
        /// Index of the method.
        method: u32,
        /// Number of methods.
        count: usize,
    },
}

impl Profile {
    /// Writes the profile. The bytes depend on the contents alone. [`Profile::damage`] becomes notes.
    ///
    /// # Errors
    /// When the output fails, or the profile is not in canonical order (see [`Profile`]).
    pub fn write(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        if !self.methods.is_sorted_by(|a, b| a.key() < b.key()) {
            return Err(WriteError::Order("methods"));
        }
        if !self.threads.is_sorted_by(|a, b| a.name <= b.name) {
            return Err(WriteError::Order("threads"));
        }
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_be_bytes())?;
        self.write_meta(out)?;
        self.write_notes(out)?;
        let strings = Strings::of(self);
        section(out, *b"STRS", &strings.payload())?;
        self.write_methods(out, &strings)?;
        for thread in &self.threads {
            self.write_thread(out, thread, &strings)?;
        }
        Ok(section(out, *b"DONE", &[])?)
    }

    /// The profile as the bytes of its file.
    ///
    /// # Errors
    /// As [`Profile::write`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    fn write_meta(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        let mut payload = Vec::new();
        for (key, value) in &self.meta {
            string(&mut payload, key);
            string(&mut payload, value);
        }
        Ok(section(out, *b"META", &payload)?)
    }

    fn write_notes(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        let notes: BTreeSet<String> =
            self.notes.iter().cloned().chain(self.damage.iter().map(ToString::to_string)).collect();
        if notes.is_empty() {
            return Ok(());
        }
        let mut payload = Vec::new();
        notes.iter().for_each(|note| string(&mut payload, note));
        Ok(section(out, *b"NOTE", &payload)?)
    }

    fn write_methods(&self, out: &mut dyn Write, strings: &Strings<'_>) -> Result<(), WriteError> {
        let mut payload = Vec::new();
        varint(&mut payload, self.methods.len() as u64);
        for Method { class, name, descriptor, mid, flags } in &self.methods {
            for part in [class, name, descriptor] {
                varint(&mut payload, strings.index(part));
            }
            varint(&mut payload, *flags);
            payload.extend(mid.to_be_bytes());
        }
        Ok(section(out, *b"METH", &payload)?)
    }

    fn write_thread(
        &self,
        out: &mut dyn Write,
        thread: &ThreadTree,
        strings: &Strings<'_>,
    ) -> Result<(), WriteError> {
        let mut payload = Vec::new();
        varint(&mut payload, strings.index(&thread.name));
        varint(&mut payload, thread.threads);
        varint(&mut payload, thread.flags);
        section(out, *b"THRD", &payload)?;

        payload.clear();
        let nodes = thread.tree.nodes();
        for (index, node) in (0u32..).zip(nodes) {
            let method = match node.method {
                ROOT => 0,
                method if (method as usize) < self.methods.len() => u64::from(method) + 1,
                method => {
                    let (thread, count) = (thread.name.to_string(), self.methods.len());
                    return Err(WriteError::NoSuchMethod { thread, method, count });
                }
            };
            let mut children = thread.tree.children(index);
            if !children.clone().map(|child| nodes[child as usize].method).is_sorted() {
                return Err(WriteError::Order("children"));
            }
            let children = children.by_ref().count() as u64;
            if payload.len() >= NODE_SECTION {
                section(out, *b"NODE", &payload)?;
                payload.clear();
            }
            for value in [method, node.calls, node.bytecodes, children] {
                varint(&mut payload, value);
            }
        }
        Ok(section(out, *b"NODE", &payload)?)
    }
}

/// All strings that methods and threads refer to, sorted.
struct Strings<'a>(Vec<&'a str>);

impl<'a> Strings<'a> {
    fn of(profile: &'a Profile) -> Strings<'a> {
        let methods = profile.methods.iter().flat_map(|m| [&*m.class, &*m.name, &*m.descriptor]);
        let mut strings: Vec<&str> = methods.chain(profile.threads.iter().map(|t| &*t.name)).collect();
        strings.sort_unstable();
        strings.dedup();
        Strings(strings)
    }

    fn index(&self, string: &str) -> u64 {
        self.0.partition_point(|other| *other < string) as u64
    }

    fn payload(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        varint(&mut payload, self.0.len() as u64);
        self.0.iter().for_each(|s| string(&mut payload, s));
        payload
    }
}
