//! Reader of lists of contexts.
//!
//! It reads lists of other tools too, if their lines have the same three columns; it ignores their
//! comments. Frames may have call sites ([`split_call_site`]). Lines may be in any order: contexts
//! that occur twice are added up when the trees are united.

use super::FIRST_LINE;
use crate::meta_keys::COLUMNS;
use crate::meta_keys::METRICS_OF_OBJECTS;
use crate::names::{Frame, NEW, NameStyle, split_call_site};
use crate::{Method, Profile, ThreadTree, Tree, TreeBuilder, TreeTooLarge};
use std::collections::HashMap;
use std::io::{self, BufRead};

#[cfg(test)]
mod tests;

/// The only version of the format.
const VERSION: &str = "1";

/// Why a list of contexts cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The input failed.
    #[error("reading the list of contexts failed")]
    Io(#[from] io::Error),
    /// Not even a comment.
    #[error("the file is empty")]
    Empty,
    /// The format is newer (or invalid).
    #[error("the list of contexts has format version {0}; this version of cctrewrite reads version 1")]
    Version(String),
    /// An error in a line.
    #[error("line {line}: {problem}")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// The problem there.
        problem: LineProblem,
    },
}

/// A problem in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// Not three columns.
    #[error("expected 'calls bytecodes frame;frame;...'")]
    Columns,
    /// A column that is not a number.
    #[error("'{0}' is not a count from 0 to 2^64 - 1")]
    Count(String),
    /// `;;`, or `;` at an end of the path.
    #[error("a frame of the path is empty")]
    EmptyFrame,
    /// Bytecodes in some lines only.
    #[error("some lines have bytecodes and others, or the header, have none")]
    Mixed,
    /// More nodes than can be numbered.
    #[error(transparent)]
    TooLarge(#[from] TreeTooLarge),
}

/// A list that was read.
#[derive(Clone, Debug, Default)]
pub struct ContextList {
    /// The contexts as trees. They are not in canonical order, and siblings may have the same
    /// method: [`crate::joined::joined`] unites them.
    pub profile: Profile,
    /// Whether paths start with threads. Otherwise there is one tree, the sum over the threads.
    pub per_thread: bool,
    /// Whether frames have call sites.
    pub call_sites: bool,
    /// Missing parts, in sentences: those that the list mentions itself, and those that show that
    /// it was truncated.
    pub incomplete: Vec<String>,
}

/// Reads a list of contexts to its end. Invalid UTF-8 in names becomes replacement characters.
///
/// # Errors
/// Fails if the stream fails, or if a line is neither a comment nor a context. A truncated list is
/// no error, see [`ContextList::incomplete`].
pub fn read_contexts(mut input: impl BufRead) -> Result<ContextList, ListError> {
    let mut reader = Reader::default();
    let mut bytes = Vec::new();
    let mut line = 0;
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        line += 1;
        reader.ended = bytes.pop_if(|last| *last == b'\n').is_some();
        bytes.pop_if(|last| *last == b'\r');
        match bytes.first() {
            None => {}
            Some(b'#') => reader.comment(&String::from_utf8_lossy(&bytes), line)?,
            Some(_) => reader.context(&bytes).map_err(|problem| ListError::Line { line, problem })?,
        }
    }
    if line == 0 {
        return Err(ListError::Empty);
    }
    Ok(reader.finish())
}

/// Numbers of contexts, calls and bytecodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    contexts: u128,
    calls: u128,
    bytecodes: u128,
}

#[derive(Default)]
struct Reader {
    list: ContextList,
    /// Whether the first line was that of cctrewrite's own format.
    own: bool,
    /// The sums in the header.
    promised: Option<Sums>,
    found: Sums,
    /// Whether the last line had a line end.
    ended: bool,
    counts_bytecodes: Option<bool>,
    methods: HashMap<Box<[u8]>, u32>,
    paths: Paths,
}

impl Reader {
    fn comment(&mut self, text: &str, line: u64) -> Result<(), ListError> {
        if let Some(version) = text.strip_prefix(FIRST_LINE).filter(|_| line == 1) {
            let version = version.split(' ').next().unwrap_or_default();
            if version != VERSION {
                return Err(ListError::Version(version.to_owned()));
            }
            self.own = true;
        }
        let Some(text) = text.strip_prefix("# ").filter(|_| self.own) else { return Ok(()) };
        if line == 2 {
            self.promised = promised(text);
        } else if let Some(note) = text.strip_prefix("note: ") {
            self.list.profile.notes.push(note.to_owned());
        } else if let Some(damage) = text.strip_prefix("incomplete: ") {
            self.list.incomplete.push(damage.to_owned());
        } else if let Some((key, value)) = text.split_once('=') {
            let counts_none = key == "metrics" && matches!(value, "calls" | METRICS_OF_OBJECTS);
            if counts_none && *self.counts_bytecodes.get_or_insert(false) {
                return Err(ListError::Line { line, problem: LineProblem::Mixed });
            }
            // Lists have no columns. Those that cctrewrite writes name none.
            if key == COLUMNS {
                return Ok(());
            }
            let meta = self.list.profile.meta.entry(key.to_owned());
            // A value of several lines was written as several lines of its key.
            meta.and_modify(|all| *all = format!("{all}\n{value}")).or_insert_with(|| value.to_owned());
        }
        Ok(())
    }

    fn context(&mut self, line: &[u8]) -> Result<(), LineProblem> {
        let mut columns = line.splitn(3, |&b| b == b' ');
        let mut column = || columns.next().filter(|column| !column.is_empty()).ok_or(LineProblem::Columns);
        let (calls, bytecodes, path) = (column()?, column()?, column()?);
        let calls = count(calls)?;
        let counts_bytecodes = bytecodes != b"-";
        if *self.counts_bytecodes.get_or_insert(counts_bytecodes) != counts_bytecodes {
            return Err(LineProblem::Mixed);
        }
        let bytecodes = if counts_bytecodes { count(bytecodes)? } else { 0 };
        self.found.contexts += 1;
        self.found.calls += u128::from(calls);
        self.found.bytecodes += u128::from(bytecodes);
        let Reader { list, methods, paths, .. } = self;
        paths.add(path, calls, bytecodes, |frame| index_of(frame, methods, list))
    }

    fn finish(mut self) -> ContextList {
        if !self.ended {
            self.list.incomplete.push("the last line has no line break: the list is truncated".to_owned());
        }
        if let Some(Sums { contexts, calls, bytecodes }) = self.promised
            && self.promised != Some(self.found)
        {
            let found = self.found;
            self.list.incomplete.push(format!(
                "the list is truncated or changed: it has {} contexts, {} calls and {} bytecodes, \
                 its header says {contexts}, {calls} and {bytecodes}",
                found.contexts, found.calls, found.bytecodes
            ));
        }
        if self.counts_bytecodes == Some(false) {
            // A list of objects stays one.
            if !self.list.profile.is_of_objects() {
                self.list.profile.meta.insert("metrics".to_owned(), "calls".to_owned());
            }
        }
        self.list.call_sites |= self.list.profile.tells_call_sites();
        let tree = self.paths.builder.finish();
        let name =
            |child: u32| &self.list.profile.methods[tree.nodes()[child as usize].method as usize].class;
        // Markers look like threads, but have counts.
        let is_thread = |child: u32| tree.nodes()[child as usize].is_empty() && name(child).starts_with('[');
        // Threads without contexts are ignored: they are gone when the list is written.
        let has_contexts = |child: u32| {
            let nodes = tree.subtree(child);
            tree.nodes()[nodes.start as usize..nodes.end as usize].iter().any(|node| !node.is_empty())
        };
        self.list.per_thread =
            tree.contexts() > 0 && tree.children(0).all(|child| is_thread(child) || !has_contexts(child));
        self.list.profile.threads = if self.list.per_thread {
            // Of one child: a thread's name may begin and end with the other characters.
            let inner = |child| {
                let name = name(child);
                let name = name.strip_prefix('[').unwrap_or(name);
                name.strip_suffix(']').unwrap_or(name).into()
            };
            tree.children(0).map(|child| thread(inner(child), tree.below(child))).collect()
        } else {
            vec![thread(crate::merge::ALL_THREADS.into(), tree)]
        };
        self.list
    }
}

fn thread(name: std::sync::Arc<str>, tree: Tree) -> ThreadTree {
    ThreadTree { name, threads: 1, flags: 0, tree }
}

/// The sums in the second line of the header: `bytecodes=N calls=N contexts=N`, the first only
/// where bytecodes were counted.
fn promised(text: &str) -> Option<Sums> {
    let value = |key: &str| {
        text.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse::<u128>().ok())
    };
    Some(Sums {
        contexts: value("contexts")?,
        calls: value("calls")?,
        bytecodes: value("bytecodes").unwrap_or(0),
    })
}

fn count(column: &[u8]) -> Result<u64, LineProblem> {
    let text = String::from_utf8_lossy(column);
    text.parse().map_err(|_| LineProblem::Count(crate::escape::terminal(&text)))
}

/// The method of a frame's text.
fn index_of(
    frame: &[u8],
    methods: &mut HashMap<Box<[u8]>, u32>,
    list: &mut ContextList,
) -> Result<u32, LineProblem> {
    if let Some(&index) = methods.get(frame) {
        return Ok(index);
    }
    let index = u32::try_from(methods.len()).ok().filter(|&i| i < crate::ROOT).ok_or(TreeTooLarge)?;
    methods.insert(frame.into(), index);
    // As it is written. Otherwise it would be a marker now and a method when the list is written
    // and read again.
    let method = method(&String::from_utf8_lossy(frame).replace('\r', "?"));
    list.call_sites |= method.site.is_some();
    list.profile.methods.push(method);
    Ok(index)
}

/// The method whose frame is this text. Other frames, such as threads and markers, are kept as
/// plain text.
fn method(frame: &str) -> Method {
    let (text, site) = split_call_site(frame);
    if let Some(of) = text.strip_suffix(NEW).and_then(|of| of.strip_suffix('.')) {
        // An array's descriptor ends with a semicolon.
        let class = of.replace('.', "/").replace(',', ";").into();
        return Method { class, name: NEW.into(), descriptor: "".into(), site, mid: 0, flags: Method::TYPE };
    }
    let (name, descriptor) = text.split_at(text.rfind('(').unwrap_or(text.len()));
    let (class, name) = name.rsplit_once('.').unwrap_or_default();
    let method = Method {
        class: class.replace('.', "/").into(),
        name: name.into(),
        descriptor: descriptor.replace(',', ";").into(),
        site,
        mid: 0,
        flags: 0,
    };
    // Without a name it would be taken for the marker whose text is its class.
    let is_method = !frame.starts_with('[')
        && !method.name.is_empty()
        && Frame::method(&method, NameStyle::Raw).bytes().eq(frame.bytes());
    if is_method {
        return method;
    }
    let empty = || "".into();
    Method {
        class: frame.into(),
        name: empty(),
        descriptor: empty(),
        site: None,
        mid: 0,
        flags: Method::MARKER,
    }
}

/// Paths of successive lines as a tree: the part that a path shares with the previous one is not
/// entered again.
#[derive(Default)]
struct Paths {
    builder: TreeBuilder,
    previous: Vec<u8>,
    /// Ends of the open frames in `previous`.
    ends: Vec<usize>,
}

impl Paths {
    fn add(
        &mut self,
        path: &[u8],
        calls: u64,
        bytecodes: u64,
        mut label: impl FnMut(&[u8]) -> Result<u32, LineProblem>,
    ) -> Result<(), LineProblem> {
        let common = self.previous.iter().zip(path).take_while(|(a, b)| a == b).count();
        let mut shared = self.ends.partition_point(|&end| end <= common);
        let at_frame_end = |end: usize| path.get(end).is_none_or(|&b| b == b';');
        // If the paths differ inside a frame, that frame is a different one. If this path ends
        // there, its context occurred before, and the node has its counts already.
        if shared > 0 && (!at_frame_end(self.ends[shared - 1]) || self.ends[shared - 1] == path.len()) {
            shared -= 1;
        }
        self.ends.drain(shared..).for_each(|_| self.builder.leave());
        let mut start = self.ends.last().map_or(0, |end| end + 1);
        for frame in path[start..].split(|&b| b == b';') {
            if frame.is_empty() {
                return Err(LineProblem::EmptyFrame);
            }
            let end = start + frame.len();
            let (calls, bytecodes) = if end == path.len() { (calls, bytecodes) } else { (0, 0) };
            self.builder.enter(label(frame)?, calls, bytecodes)?;
            self.ends.push(end);
            start = end + 1;
        }
        self.previous.clear();
        self.previous.extend(path);
        Ok(())
    }
}
