//! The contents of the log, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use cct_classfile::{MemberRef, mutf8};
use cct_index::method_flags::{NATIVE, SYNCHRONIZED};
use cct_index::mid::{COLUMN_CLASS, Mid, NEW};
use cct_index::positions::PackedPositions;
use cct_index::read::Index;
use cct_profile::{Method, columns};
use rustc_hash::FxHashMap;

use crate::index_bytes::IndexBytes;
use crate::log::{Entry, entries, methods};

/// Finds the index in a jar that is an output; an error message on failure.
pub type InJar<'a> = &'a dyn Fn(&Path) -> Result<Vec<u8>, String>;

/// Maximum number of classes that a note names as not rewritten.
const NAMED: usize = 20;

/// The contents of a JVM's log.
#[derive(Default)]
pub struct Contents {
    texts: FxHashMap<u64, Arc<str>>,
    meta: BTreeMap<String, String>,
    meta_with_raw: BTreeMap<String, String>,
    notes: BTreeSet<String>,
    notes_with_raw: BTreeSet<String>,
    raw: Vec<String>,
    troubles: Vec<(String, String)>,
    indexes: Vec<Index<IndexBytes>>,
    named: FxHashMap<u64, KnownMethod>,
    /// Problems found while reading.
    pub problems: BTreeSet<String>,
}

/// A method whose name is in the log. Many are of one class.
#[derive(Clone)]
struct KnownMethod {
    class: Arc<str>,
    name: Box<[u8]>,
    descriptor: Box<[u8]>,
    is_native: bool,
    is_synchronized: bool,
    positions: PackedPositions,
}

impl Contents {
    /// Reads a log. `in_jar` finds the index in a jar.
    pub fn of(log: &[u8], in_jar: InJar<'_>) -> Contents {
        let mut contents = Contents::default();
        for (place, entry) in entries(log) {
            contents.add(place, entry, in_jar);
        }
        contents
    }

    fn add(&mut self, place: u64, entry: Option<Entry<'_>>, in_jar: InJar<'_>) {
        match entry {
            Some(Entry::Text(text)) => {
                self.texts.insert(place + 1, text.into());
            }
            Some(Entry::Meta(key, value)) => {
                self.meta.insert(key.to_owned(), value.to_owned());
            }
            Some(Entry::MetaWithRawClasses(key, value)) => {
                self.meta_with_raw.insert(key.to_owned(), value.to_owned());
            }
            Some(Entry::Note(text)) => {
                self.notes.insert(text.to_owned());
            }
            Some(Entry::NoteWithRawClasses(text)) => {
                self.notes_with_raw.insert(text.to_owned());
            }
            Some(Entry::RawClass(name)) => self.raw.push(name.to_owned()),
            Some(Entry::Trouble(trouble, name)) => self.troubles.push((trouble.to_owned(), name.to_owned())),
            Some(Entry::IndexFile(path, provenance)) => {
                self.add_index_at(path, provenance, IndexBytes::of_file(path).map_err(|e| e.to_string()));
            }
            Some(Entry::IndexInJar(path, provenance)) => {
                self.add_index_at(path, provenance, in_jar(Path::new(path)).map(IndexBytes::Owned));
            }
            Some(Entry::Index(bytes)) => {
                self.add_index("the class library's", IndexBytes::Owned(bytes.to_vec()))
            }
            Some(Entry::Class(name, hash, packed)) => {
                let class: Arc<str> = mutf8::decode_lossy(name).into();
                for (k, method) in methods(packed).enumerate() {
                    let known = KnownMethod {
                        class: class.clone(),
                        name: method.method.name.into(),
                        descriptor: method.method.descriptor.into(),
                        is_native: method.flags & NATIVE != 0,
                        is_synchronized: method.flags & SYNCHRONIZED != 0,
                        positions: method.positions.into(),
                    };
                    self.named.insert(hash.method(k, method.shape).0, known);
                }
            }
            Some(Entry::Foreign(mid, MemberRef { class, name, descriptor })) => {
                // As in an index: natives, Object's constructor, types, and columns.
                let known = KnownMethod {
                    class: mutf8::decode_lossy(class).into(),
                    name: name.into(),
                    descriptor: descriptor.into(),
                    is_native: name != b"<init>" && name != NEW && class != COLUMN_CLASS,
                    is_synchronized: false,
                    positions: PackedPositions::default(),
                };
                self.named.insert(mid.0, known);
            }
            None => {
                self.problems.insert("an entry of the log cannot be read".to_owned());
            }
        }
    }

    fn add_index_at(&mut self, path: &str, provenance: &[u8], bytes: Result<IndexBytes, String>) {
        match bytes {
            Ok(bytes) => {
                let before = self.indexes.len();
                self.add_index(path, bytes);
                if self.indexes.len() > before && self.indexes[before].provenance() != provenance {
                    self.indexes.pop();
                    self.problems.insert(format!(
                        "{path} is not the file that the JVM used: method names of the class \
                         library are missing"
                    ));
                }
            }
            Err(e) => {
                self.problems.insert(format!("{path}: {e}: method names of the class library are missing"));
            }
        }
    }

    fn add_index(&mut self, what: &str, bytes: IndexBytes) {
        match Index::checked(bytes) {
            Ok(index) => self.indexes.push(index),
            Err(e) => {
                self.problems.insert(format!("the index {what}: {e}"));
            }
        }
    }

    /// The text that a word of the memory names; `None` for 0 and for a word that names no text.
    pub fn text(&self, word: u64) -> Option<Arc<str>> {
        self.texts.get(&word).cloned()
    }

    /// The value of a key of the profile's description.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.meta.get(key).map(String::as_str)
    }

    /// The profile's description, given the number of generated classes that were not rewritten.
    pub fn description(&self, generated: u64) -> BTreeMap<String, String> {
        let mut meta = self.meta.clone();
        if !self.raw.is_empty() || generated > 0 {
            meta.extend(self.meta_with_raw.clone());
        }
        meta
    }

    /// Notes for the reader of the profile, in the runtime's own words (`RawClasses.notes`).
    pub fn notes(&self, generated: u64) -> BTreeSet<String> {
        let mut notes = self.notes.clone();
        let mut raw = self.raw.clone();
        if !raw.is_empty() || generated > 0 {
            notes.extend(self.notes_with_raw.iter().cloned());
        }
        if !raw.is_empty() {
            raw.sort();
            let names = raw[..raw.len().min(NAMED)].join(", ");
            let more = if raw.len() > NAMED { ", ..." } else { "" };
            let what = match raw.len() {
                1 => "1 class was not rewritten and is".to_owned(),
                count => format!("{count} classes were not rewritten and are"),
            };
            notes.insert(format!("{what} missing from the tree: {names}{more}"));
        }
        if generated > 0 {
            notes.insert(format!(
                "{generated} classes were generated while the program ran (lambdas, proxies, accessors) and are missing from the tree"
            ));
        }
        notes
    }

    /// Problems with classes that were defined while the program ran: the problem and the class.
    pub fn troubles(&self) -> impl Iterator<Item = (&str, &str)> {
        self.troubles.iter().map(|(trouble, name)| (&**trouble, &**name))
    }

    fn known(&self, mid: u64) -> Option<KnownMethod> {
        let in_indexes = || {
            let named = self.indexes.iter().find_map(|index| index.method(Mid(mid)))?;
            Some(KnownMethod {
                class: text(&named.class),
                name: named.name,
                descriptor: named.descriptor,
                is_native: named.is_native,
                is_synchronized: named.is_synchronized,
                positions: named.positions,
            })
        };
        self.named.get(&mid).cloned().or_else(in_indexes)
    }

    /// The original positions of a method's bytecodes, if its name is known. `mid` is its id.
    pub fn positions(&self, mid: u64) -> Option<PackedPositions> {
        Some(self.known(mid)?.positions)
    }

    /// The method with an id, if its name is known.
    pub fn method(&self, mid: u64) -> Option<Method> {
        let known = self.known(mid)?;
        let name = text(&known.name);
        let is_column = known.class.is_empty();
        let kind = match (known.is_native, *known.name == *NEW, is_column) {
            (true, _, _) => Method::NATIVE,
            (_, true, _) => Method::TYPE,
            (_, _, true) => Method::COLUMN,
            _ => 0,
        };
        let method = Method {
            class: known.class,
            name,
            descriptor: text(&known.descriptor),
            site: None,
            mid,
            flags: kind | if known.is_synchronized { Method::SYNCHRONIZED } else { 0 },
        };
        // Only columns have no class.
        (!is_column || columns::is_column(&method)).then_some(method)
    }
}

fn text(name: &[u8]) -> Arc<str> {
    mutf8::decode_lossy(name).into()
}
