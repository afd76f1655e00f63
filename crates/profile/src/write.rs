//! Writing a `.cct` file, the mirror of `read`.

use crate::columns::row_of_column;
use crate::section::{COLUMNS_SINCE, MAGIC, SITES_SINCE, TYPES_SINCE, VERSION, section, string, varint};
use crate::{Method, Profile, ROOT, Site};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Size in bytes at which a `NODE` section is closed.
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
    /// A call site that no file can contain.
    #[error(
        "{0} has the call site of native code, which only lists of contexts have; in a profile \
         such a call has no site"
    )]
    NativeSite(String),
    /// A node of a method that is not in the profile.
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
    /// Writes the profile. The bytes depend on its contents alone. [`Profile::damage`] becomes
    /// notes.
    ///
    /// # Errors
    /// Fails if the output fails, or if the profile is not in canonical order (see [`Profile`]).
    pub fn write(&self, out: &mut dyn Write) -> Result<(), WriteError> {
        if !self.threads.is_sorted_by(|a, b| a.name <= b.name) {
            return Err(WriteError::Order("threads"));
        }
        out.write_all(&MAGIC)?;
        let has_sites = self.methods.iter().any(|method| method.site.is_some());
        let columns = self.columns();
        let version = match (self.counts_objects(), has_sites) {
            _ if !columns.is_empty() => COLUMNS_SINCE,
            (true, _) => TYPES_SINCE,
            (_, true) => SITES_SINCE,
            _ => VERSION,
        };
        out.write_all(&version.to_be_bytes())?;
        self.write_meta(out)?;
        self.write_notes(out)?;
        // Names of columns are in order, and the classes of their rows are empty: they precede all
        // methods.
        let first_method = columns.len() as u32;
        let rows: Vec<Method>;
        let methods = match &*columns {
            [] => &self.methods,
            columns => {
                let of_columns = columns.iter().map(|column| row_of_column(column.name()));
                rows = of_columns.chain(self.methods.iter().cloned()).collect();
                &rows
            }
        };
        let mut trees = TreeWriter::start(out, methods, self.threads.iter().map(|t| &*t.name))?;
        for thread in &self.threads {
            trees.thread(&thread.name, thread.threads, thread.flags)?;
            let nodes = thread.tree.nodes();
            for (index, node) in (0u32..).zip(nodes) {
                let mut children = thread.tree.children(index);
                if !children.clone().map(|child| nodes[child as usize].method).is_sorted() {
                    return Err(WriteError::Order("children"));
                }
                let values = thread.tree.values(index).iter().take(columns.len());
                let cells = (0u32..).zip(values).filter(|(_, value)| **value > 0);
                let count = (children.by_ref().count() + cells.clone().count()) as u64;
                let failed = |e| match e {
                    NodeError::Io(e) => e.into(),
                    NodeError::NoSuchMethod(method) => WriteError::NoSuchMethod {
                        thread: thread.name.to_string(),
                        method: method.saturating_sub(first_method),
                        count: self.methods.len(),
                    },
                };
                let method =
                    if node.method == ROOT { ROOT } else { node.method.saturating_add(first_method) };
                trees.node(method, node.calls, node.bytecodes, count).map_err(failed)?;
                for (column, &value) in cells {
                    trees.node(column, value, 0, 0).map_err(failed)?;
                }
            }
        }
        Ok(trees.finish()?)
    }

    /// The profile as the bytes of its file.
    ///
    /// # Errors
    /// Fails as [`Profile::write`].
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
}

/// Writer for the part of a profile's file after its notes, node by node, for programs without a
/// [`Profile`] in memory.
pub struct TreeWriter<'a> {
    out: &'a mut dyn Write,
    strings: Strings<'a>,
    methods: usize,
    /// The payload of the open section of nodes.
    payload: Vec<u8>,
}

/// Why a node cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The output failed.
    #[error("writing the profile failed")]
    Io(#[from] io::Error),
    /// There is no method of that number.
    #[error("a context is of method {0}, which the profile does not have")]
    NoSuchMethod(u32),
}

impl<'a> TreeWriter<'a> {
    /// Writes strings and methods, which nodes refer to by index. A file with call sites has
    /// version 2 of the format, which its first bytes must say.
    ///
    /// # Errors
    /// Fails if the output fails, or if methods are not in canonical order (see [`Profile`]).
    pub fn start(
        out: &'a mut dyn Write,
        methods: &'a [Method],
        threads: impl Iterator<Item = &'a str>,
    ) -> Result<TreeWriter<'a>, WriteError> {
        if !methods.is_sorted_by(|a, b| a.key() < b.key()) {
            return Err(WriteError::Order("methods"));
        }
        if let Some(method) = methods.iter().find(|method| method.site.is_some_and(|s| s.bci > Site::LAST)) {
            return Err(WriteError::NativeSite(format!("{}.{}", method.class, method.name)));
        }
        let strings = Strings::of(methods, threads);
        section(out, *b"STRS", &strings.payload())?;
        let mut payload = Vec::new();
        varint(&mut payload, methods.len() as u64);
        for Method { class, name, descriptor, site, mid, flags } in methods {
            for part in [class, name, descriptor] {
                varint(&mut payload, strings.index(part));
            }
            let has_site = if site.is_some() { Method::SITE } else { 0 };
            varint(&mut payload, *flags & !Method::SITE | has_site);
            payload.extend(mid.to_be_bytes());
            if let Some(Site { bci, line }) = *site {
                varint(&mut payload, bci.into());
                varint(&mut payload, line.into());
            }
        }
        section(out, *b"METH", &payload)?;
        payload.clear();
        Ok(TreeWriter { out, strings, methods: methods.len(), payload })
    }

    /// Starts the tree of the next thread, one of those that were named at the start. Threads must
    /// follow sorted by name.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn thread(&mut self, name: &str, threads: u64, flags: u64) -> io::Result<()> {
        self.close()?;
        for value in [self.strings.index(name), threads, flags] {
            varint(&mut self.payload, value);
        }
        self.flush(*b"THRD")
    }

    /// Writes the next node in preorder; `method` is the method's index, or [`ROOT`]. `children`
    /// nodes follow as its children, sorted by method, each with its descendants.
    ///
    /// # Errors
    /// Fails if the output fails or there is no such method.
    pub fn node(&mut self, method: u32, calls: u64, bytecodes: u64, children: u64) -> Result<(), NodeError> {
        let number = match method {
            ROOT => 0,
            method if (method as usize) < self.methods => u64::from(method) + 1,
            method => return Err(NodeError::NoSuchMethod(method)),
        };
        for value in [number, calls, bytecodes, children] {
            varint(&mut self.payload, value);
        }
        if self.payload.len() >= NODE_SECTION {
            self.flush(*b"NODE")?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.close()?;
        self.flush(*b"DONE")
    }

    /// Ends the open tree, if any.
    fn close(&mut self) -> io::Result<()> {
        if self.payload.is_empty() { Ok(()) } else { self.flush(*b"NODE") }
    }

    fn flush(&mut self, tag: [u8; 4]) -> io::Result<()> {
        section(&mut *self.out, tag, &self.payload)?;
        self.payload.clear();
        Ok(())
    }
}

/// All strings that methods and threads refer to, sorted.
struct Strings<'a>(Vec<&'a str>);

impl<'a> Strings<'a> {
    fn of(methods: &'a [Method], threads: impl Iterator<Item = &'a str>) -> Strings<'a> {
        let methods = methods.iter().flat_map(|m| [&*m.class, &*m.name, &*m.descriptor]);
        let mut strings: Vec<&str> = methods.chain(threads).collect();
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
