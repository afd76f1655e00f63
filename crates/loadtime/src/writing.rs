//! The writer of the profile's trees, all at once. The runtime's own writer runs in the interpreter
//! when a program ends early, and takes a hundred times as long.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cct_arena::layout::node::MERGED_MID;
use cct_arena::{Callees, Rows};
use cct_classfile::mutf8::lossy;
use cct_index::mid::Mid;
use cct_index::positions::PackedPositions;
use cct_index::record::NamedMethod;
use cct_profile::{Method, NodeError, ROOT, TreeWriter, WriteError};
use rustc_hash::FxHashMap;

use crate::archived;
use crate::jni::Env;
use crate::state::{jvmti, state};
use crate::tree::{Node, Record};

/// A tree and its thread's row.
pub struct Tree<'a> {
    /// The thread's name.
    pub name: &'a str,
    /// The tree.
    pub record: Record,
    /// Number of threads that the tree has served.
    pub threads: u64,
    /// The flags, as in the profile's format.
    pub flags: u64,
}

/// The methods of all trees at one moment. Contexts of methods that appear afterwards are omitted.
#[derive(Debug)]
pub struct TreeMethods {
    callees: Callees,
    /// By id; `None` for methods whose names the library does not know.
    methods: BTreeMap<u64, Option<NamedMethod>>,
    /// The original positions of bytecodes, for methods whose call sites are distinguished.
    positions: FxHashMap<u64, PackedPositions>,
}

impl TreeMethods {
    /// Collects the methods of the trees.
    pub fn of(env: Env, records: impl Iterator<Item = Record>) -> TreeMethods {
        let callees = callees(records);
        let mids = callees.mids();
        let mut names = state().names();
        let unknown = |mid: &u64| *mid != MERGED_MID && !names.contains_key(mid);
        if archived::is_given(env)
            && let Some(jvmti) = jvmti(env)
        {
            let library = |mid: &u64| state().library.method(Mid(*mid)).is_some();
            let wanted: Vec<u64> = mids.iter().copied().filter(|mid| unknown(mid) && !library(mid)).collect();
            names.extend(archived::names(env, jvmti, &wanted));
        }
        let state = state();
        let named = |mid| state.library.method(Mid(mid)).or_else(|| names.get(&mid).cloned());
        let positions = callees.callers().into_iter().filter_map(|mid| Some((mid, named(mid)?.positions)));
        TreeMethods {
            positions: positions.collect(),
            methods: mids.into_iter().map(|mid| (mid, named(mid))).collect(),
            callees,
        }
    }

    /// The ids of methods whose names are unknown here, in order.
    pub fn nameless(&self) -> Vec<u64> {
        self.methods.iter().filter(|(_, method)| method.is_none()).map(|(&mid, _)| mid).collect()
    }

    /// Writes everything after the notes.
    ///
    /// `found` are the names (class, name, descriptor) and flags of [`TreeMethods::nameless`], in
    /// that order; a class without a name is unknown to everyone.
    pub fn write<'n>(
        self,
        out: &mut dyn Write,
        found: impl Iterator<Item = (&'n [String], u64)>,
        mut trees: Vec<Tree<'_>>,
    ) -> Result<(), WriteError> {
        let found: FxHashMap<u64, (&[String], u64)> = self.nameless().into_iter().zip(found).collect();
        let method = |mid| {
            let (class, name, descriptor, flags) = match (self.methods.get(&mid), found.get(&mid)) {
                (Some(Some(named)), _) => {
                    let kind = match (named.is_native, named.is_type(), named.is_column()) {
                        (true, _, _) => Method::NATIVE,
                        (_, true, _) => Method::TYPE,
                        (_, _, true) => Method::COLUMN,
                        _ => 0,
                    };
                    let flags = kind | if named.is_synchronized { Method::SYNCHRONIZED } else { 0 };
                    (lossy(&named.class), lossy(&named.name), lossy(&named.descriptor), flags)
                }
                (_, Some(([class, name, descriptor], flags))) if !class.is_empty() => {
                    (class.clone(), name.clone(), descriptor.clone(), *flags)
                }
                _ => ("?".to_owned(), format!("{mid:x}"), String::new(), Method::UNKNOWN),
            };
            let (class, name, descriptor) = (class.into(), name.into(), descriptor.into());
            Method { class, name, descriptor, mid, flags, site: None }
        };
        let rows = self.callees.rows(method, |caller| self.positions.get(&caller).map(|packed| &**packed));

        // Threads of one name stay in the order in which their trees were made.
        trees.sort_by_key(|tree| tree.name);
        let mut out = BufWriter::new(out);
        let mut writer = TreeWriter::start(&mut out, &rows.methods, trees.iter().map(|tree| tree.name))?;
        for tree in &trees {
            writer.thread(tree.name, tree.threads, tree.flags)?;
            write_tree(&mut writer, tree, &rows).map_err(|e| match e {
                NodeError::Io(e) => e,
                // Never: the places are those of the methods.
                NodeError::NoSuchMethod(_) => io::Error::other(e),
            })?;
        }
        writer.finish()?;
        Ok(out.flush()?)
    }
}

/// The callees in some trees.
pub fn callees(records: impl Iterator<Item = Record>) -> Callees {
    let mut callees = Callees::default();
    let mut stack = Vec::new();
    for record in records {
        stack.push(record.root());
        while let Some(node) = stack.pop() {
            let caller = node.mid();
            for child in node.children() {
                callees.add(caller, child.mid(), child.site());
                stack.push(child);
            }
        }
        if record.merged().is_some() {
            callees.add(record.root().mid(), MERGED_MID, None);
        }
    }
    callees
}

/// Writes the nodes of a tree in preorder, with the children of each sorted by their rows.
fn write_tree(writer: &mut TreeWriter<'_>, tree: &Tree<'_>, rows: &Rows) -> Result<(), NodeError> {
    let root = tree.record.root();
    let mut stack = vec![(ROOT, root)];
    while let Some((method, node)) = stack.pop() {
        let first = stack.len();
        let caller = node.mid();
        let place = |child: Node| rows.place(caller, child.mid(), child.site());
        stack.extend(node.children().filter_map(|child| Some((place(child)?, child))));
        if node == root
            && let Some(merged) = tree.record.merged()
            && let Some(place) = place(merged)
        {
            stack.push((place, merged));
        }
        let children = &mut stack[first..];
        // The first child is written next: it lies on top.
        children.sort_unstable_by_key(|&(method, _): &(u32, Node)| std::cmp::Reverse(method));
        writer.node(method, node.calls(), node.bytecodes(), children.len() as u64)?;
    }
    Ok(())
}

/// Collected trees that are not written yet, by number.
#[derive(Debug, Default)]
pub struct PendingTrees {
    last: u64,
    waiting: BTreeMap<u64, TreeMethods>,
}

impl PendingTrees {
    /// Keeps a collection until it is taken; returns its number.
    pub fn keep(&mut self, collected: TreeMethods) -> u64 {
        self.last += 1;
        self.waiting.insert(self.last, collected);
        self.last
    }

    /// Takes a collection, once.
    pub fn take(&mut self, number: u64) -> Option<TreeMethods> {
        self.waiting.remove(&number)
    }
}

/// All pending collections.
pub fn pending() -> MutexGuard<'static, PendingTrees> {
    static PENDING: Mutex<PendingTrees> = Mutex::new(PendingTrees { last: 0, waiting: BTreeMap::new() });
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}
