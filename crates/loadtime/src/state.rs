//! The library's state, under one lock. Code that holds it runs no Java code and nothing that could
//! wait for another thread.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cct_arena::Troubles;
use cct_arena::log::{Entry, PackedMethod};
use cct_index::mid::ClassHash;
use cct_index::record::{ClassRecord, ForeignRecord, NamedMethod};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arena;
use crate::class_files::Originals;
use crate::frame_bodies::Frames;
use crate::identity::type_name;
use crate::jni::Env;
use crate::jvmti::Jvmti;
use crate::known_class::KnownClass;
use crate::library::Library;
use crate::loaders::{Loaders, Number};
use crate::selected_methods::Selection;

/// Forms of classes by the number of their loader and their name.
type Versions = FxHashMap<(Number, Box<[u8]>), Vec<Arc<KnownClass>>>;

/// The library's state.
#[derive(Default)]
pub struct State {
    /// The class library.
    pub library: Library,
    /// The classes that loaders have defined.
    pub loaders: Loaders,
    /// VM-anonymous classes, by the name that profiles show.
    pub anonymous: FxHashMap<Box<[u8]>, Vec<Arc<KnownClass>>>,
    /// How methods appear in the tree.
    pub frames: Frames,
    /// The class files before rewriting.
    pub originals: Originals,
    /// Classes that agents have changed, by loader and name: each form, which has method ids of its
    /// own.
    pub versions: Versions,
    /// Notes for readers of the profile.
    pub notes: Troubles,
    /// The user's selection of methods.
    pub selected: Selection,
    /// All classes rewritten here, for their names.
    rewritten: Vec<Row>,
    seen: FxHashSet<ClassHash>,
    /// The names that profiles show of generated classes, by their names in the class files.
    renamed: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// Methods that their call sites count. One class file may yield different values each time, as
    /// other classes are known.
    foreign: BTreeSet<ForeignRecord>,
}

#[derive(Debug)]
struct Row {
    name: Box<[u8]>,
    class: Arc<KnownClass>,
}

impl State {
    /// Adds a class that was rewritten here. One with the same identity may be there already.
    pub fn add(&mut self, name: &[u8], class: Arc<KnownClass>, foreign: &[ForeignRecord]) {
        let of_type = type_name(&class.summary.name, name);
        if *of_type != *class.summary.name {
            self.renamed.insert(class.summary.name.clone(), of_type.into());
        }
        if self.seen.insert(class.summary.hash) {
            if arena::is_open() {
                let mut methods = Vec::new();
                for (method, row) in class.summary.methods.iter().zip(&class.rows) {
                    let method = class.summary.name_and_type(method);
                    let (shape, flags, positions) = (row.shape, row.flags, &row.positions);
                    PackedMethod { shape, flags, method, positions }.pack(&mut methods);
                }
                arena::log(&Entry::Class(name, class.summary.hash, &methods));
            }
            self.rewritten.push(Row { name: name.into(), class });
        }
        for record in foreign {
            self.add_foreign(record.clone());
        }
    }

    /// The name that profiles show of a class, by its name in the class file.
    pub fn shown_name<'n>(&'n self, name: &'n [u8]) -> &'n [u8] {
        self.renamed.get(name).map_or(name, |shown| shown)
    }

    /// Notes a problem with a class.
    pub fn note(&mut self, trouble: impl Into<String>, name: &str) {
        let trouble = trouble.into();
        arena::log(&Entry::Trouble(&trouble, name));
        self.notes.add(trouble, name);
    }

    /// The names of method ids of classes that were rewritten here, or that call sites in these
    /// count.
    pub fn names(&self) -> FxHashMap<u64, NamedMethod> {
        let mut names = FxHashMap::default();
        for Row { name, class } in &self.rewritten {
            let summary = &class.summary;
            for (k, (method, row)) in summary.methods.iter().zip(&class.rows).enumerate() {
                let named = NamedMethod {
                    class: name.clone(),
                    name: summary.method_name(method).into(),
                    descriptor: summary.method_descriptor(method).into(),
                    is_native: row.flags & cct_index::method_flags::NATIVE != 0,
                    is_synchronized: row.flags & cct_index::method_flags::SYNCHRONIZED != 0,
                    positions: row.positions.clone(),
                };
                names.insert(summary.hash.method(k, row.shape).0, named);
            }
        }
        names.extend(self.foreign.iter().map(|f| (f.mid.0, f.named())));
        names
    }

    /// Adds a method that its callers count.
    pub fn add_foreign(&mut self, method: ForeignRecord) {
        if !self.foreign.contains(&method) {
            arena::log(&Entry::Foreign(method.mid, method.member()));
            self.foreign.insert(method);
        }
    }

    /// The index of the classes that were rewritten here.
    pub fn index(&self) -> Result<Vec<u8>, String> {
        let (_, provenance) = self.library.provenance().ok_or("no output on the boot class path")?;
        let mut records: Vec<ClassRecord> =
            self.rewritten.iter().map(|row| row.class.record(&row.name)).collect();
        if let Some(first) = records.first_mut() {
            first.foreign = self.foreign.iter().cloned().collect();
        }
        cct_index::write(&provenance, &records).map_err(|e| e.to_string())
    }
}

/// The state.
pub fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    // A panic under the lock leaves tables that are complete as far as they go.
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The JVMTI environment; `None` until the JVM is in its live phase.
pub fn jvmti(env: Env) -> Option<Jvmti> {
    static JVMTI: OnceLock<Jvmti> = OnceLock::new();
    match JVMTI.get() {
        Some(jvmti) => Some(*jvmti),
        None => Jvmti::of(env).map(|jvmti| *JVMTI.get_or_init(|| jvmti)),
    }
}
