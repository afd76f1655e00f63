//! The profile in memory.

use crate::Tree;
use crate::meta_keys::METRICS_OF_OBJECTS;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The profile of one run of a JVM, or of several merged runs.
///
/// A profile that was read is in canonical order: methods by class, name, descriptor and MID; trees
/// by thread name; children by method. [`Profile::write`] requires that order;
/// [`crate::merge::merge`] of a single profile establishes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// How the numbers were recorded: JVM, tool, block analysis. Keys in
    /// `docs/reference/formats/profile.md`.
    pub meta: BTreeMap<String, String>,
    /// Notes for the reader of the numbers, in sentences, sorted.
    pub notes: Vec<String>,
    /// The methods of all trees.
    pub methods: Vec<Method>,
    /// The trees, sorted by thread name.
    pub threads: Vec<ThreadTree>,
    /// Defects of the file that was read. Not part of the format: [`Profile::write`] converts them
    /// to notes.
    pub damage: Vec<Damage>,
}

impl Profile {
    /// Whether executed bytecodes were counted, not calls alone (`META` key `metrics`).
    pub fn counts_bytecodes(&self) -> bool {
        self.meta.get("metrics").is_none_or(|metrics| metrics != "calls" && metrics != METRICS_OF_OBJECTS)
    }

    /// Number of contexts of all trees.
    pub fn contexts(&self) -> usize {
        self.threads.iter().map(|thread| thread.tree.contexts()).sum()
    }
}

/// One rewritten method body; where call sites are distinguished, one body as called from one site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Method {
    /// Binary name with slashes (`java/util/Map$Entry`); `?` if unknown; the text of a marker.
    pub class: Arc<str>,
    /// Name, such as `<init>`; the MID in hex if unknown; empty for a marker.
    pub name: Arc<str>,
    /// Descriptor before rewriting (JVMS 4.3.3).
    pub descriptor: Arc<str>,
    /// The call site in its caller. Where call sites are distinguished there is one entry for each
    /// method, body and site, so a method may have many; see [`crate::sites`].
    pub site: Option<Site>,
    /// Method id: identifies one body. 0 if several bodies of the same name were merged.
    pub mid: u64,
    /// [`Method::NATIVE`], [`Method::UNKNOWN`], [`Method::MARKER`], [`Method::TYPE`],
    /// [`Method::COLUMN`], [`Method::SYNCHRONIZED`].
    pub flags: u64,
}

impl Method {
    /// Flag: a native method; it has calls and no bytecodes.
    pub const NATIVE: u64 = 1;
    /// Flag: the MID was not found in any index, so the name is not known.
    pub const UNKNOWN: u64 = 2;
    /// Flag: no method, but a marker in the tree such as `[contexts merged: out of memory]` or
    /// `[contexts merged: bound of 1000]`.
    pub const MARKER: u64 = 4;
    /// Flag: no method, but a type: its calls are the objects that its context allocated
    /// ([`crate::allocations`]).
    pub const TYPE: u64 = 16;
    /// Flag of files alone: no method, but a column ([`crate::columns`]), named by
    /// [`Method::name`]; its class and descriptor are empty.
    pub const COLUMN: u64 = 32;
    /// Flag of files alone: each call of the method enters a monitor, which counts in the column of
    /// monitors.
    pub const SYNCHRONIZED: u64 = 64;
    /// Flag of files alone: there is a call site. In memory [`Method::site`] says so.
    pub(crate) const SITE: u64 = 8;

    /// The sort key of methods. No two methods of a profile share it.
    pub(crate) fn key(&self) -> (&str, &str, &str, Option<Site>, u64) {
        (&self.class, &self.name, &self.descriptor, self.site, self.mid)
    }
}

/// The place in a caller from which a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Bytecode index in the caller's code as it was before rewriting; at most [`Site::LAST`].
    pub bci: u16,
    /// The caller's source line there; 0 if unknown.
    pub line: u32,
}

impl Site {
    /// The largest bytecode index: code has at most 65535 bytes (JVMS 4.7.3).
    pub const LAST: u16 = u16::MAX - 1;
    /// Marks a call by native code, which has no place in a caller's code. Files do not contain it;
    /// it is set where contexts are shown ([`Profile::with_native_callers`]), and read from lists
    /// of contexts.
    pub const NATIVE: Site = Site { bci: u16::MAX, line: 0 };

    /// The bytecode index; -1 for [`Site::NATIVE`].
    pub fn index(self) -> i32 {
        if self.bci == Site::NATIVE.bci { -1 } else { self.bci.into() }
    }

    /// The line, if known.
    pub fn known_line(self) -> Option<u32> {
        (self.line != 0).then_some(self.line)
    }
}

/// The calling contexts of one thread, or of several threads that used one tree in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTree {
    /// The thread's name.
    pub name: Arc<str>,
    /// Number of threads that the tree has served.
    pub threads: u64,
    /// [`ThreadTree::ENDED`], [`ThreadTree::DAEMON`].
    pub flags: u64,
    /// The contexts.
    pub tree: Tree,
}

impl ThreadTree {
    /// Flag: all threads of this tree had ended when the profile was written.
    pub const ENDED: u64 = 1;
    /// Flag: daemon threads.
    pub const DAEMON: u64 = 2;
}

/// A defect of the file that was read. The rest is usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The file stops before its end mark: the JVM was killed, or the disk was full.
    Truncated {
        /// Length of the file in bytes.
        length: u64,
        /// The missing part.
        missing: MissingPart,
    },
    /// Some of the file's bytes were altered: a broken disk, a failed transfer.
    Corrupt {
        /// Offset in bytes of the first section whose checksum is wrong.
        offset: u64,
        /// The missing part.
        missing: MissingPart,
    },
}

impl Damage {
    /// The missing part.
    pub fn missing(&self) -> &MissingPart {
        match self {
            Damage::Truncated { missing, .. } | Damage::Corrupt { missing, .. } => missing,
        }
    }
}

/// The missing part of a damaged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingPart {
    /// The method names or the parts before them: no tree could be read.
    Names,
    /// Everything after the names: all trees.
    AllTrees,
    /// The rest of this thread's tree, and all later trees.
    RestOfTree {
        /// The thread's name.
        thread: String,
        /// Number of contexts of the tree that were read.
        contexts: usize,
    },
    /// Trees that may have followed those that were read.
    LaterTrees,
    /// The metadata.
    Meta,
    /// The notes.
    Notes,
    /// The rest of this thread's tree. Those later trees that could be found were read.
    RestOfOneTree {
        /// The thread's name.
        thread: String,
        /// Number of contexts of the tree that were read.
        contexts: usize,
    },
    /// One tree or several, in the middle.
    SomeTrees,
    /// The end mark alone.
    EndMark,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Truncated { length, missing } => {
                write!(f, "the profile is truncated after {length} bytes: {missing}")
            }
            Damage::Corrupt { offset, missing } => {
                write!(f, "the profile is damaged at byte {offset}, where a checksum is wrong: {missing}")
            }
        }
    }
}

impl fmt::Display for MissingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingPart::Names => write!(f, "the method names and all trees are missing"),
            MissingPart::AllTrees => write!(f, "all trees are missing"),
            MissingPart::RestOfTree { thread, contexts } => write!(
                f,
                "the tree of thread '{thread}' ends after {contexts} contexts, and later threads are missing"
            ),
            MissingPart::LaterTrees => write!(f, "later threads may be missing"),
            MissingPart::Meta => {
                write!(f, "the metrics and the options of the JVM are missing")
            }
            MissingPart::Notes => write!(f, "notes may be missing"),
            MissingPart::RestOfOneTree { thread, contexts } => write!(
                f,
                "the tree of thread '{thread}' ends after {contexts} contexts, and later threads \
                 may be missing"
            ),
            MissingPart::SomeTrees => write!(f, "the tree of at least one thread is missing"),
            MissingPart::EndMark => write!(f, "the end mark is missing, and later threads may be missing"),
        }
    }
}
