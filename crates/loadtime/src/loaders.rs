//! What the program's loaders have defined.
//!
//! A loader is known by a number in a field that the rewriter added to `java.lang.ClassLoader`. Its table goes when it is collected. An
//! entry only says what was *offered* to the JVM: whether the definition succeeded is seen when the JVM itself is asked for the class, and
//! where two different class files were offered under one name nobody can say which of them it took.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::jni::{Env, jweak};
use crate::known::Known;

/// A loader's number; 0 is none.
pub type Number = i64;

/// All loaders that have defined a class.
#[derive(Debug, Default)]
pub struct Loaders {
    tables: FxHashMap<Number, Table>,
    last: Number,
    /// Number of tables at which the next search for collected loaders is worth its while.
    next_sweep: usize,
}

#[derive(Debug)]
struct Table {
    weak: Weak,
    is_parent_first: bool,
    classes: FxHashMap<Box<[u8]>, Offered>,
}

#[derive(Debug)]
struct Weak(jweak);

// SAFETY: weak global references may be used by all threads (JNI specification, *Weak Global References*).
#[allow(unsafe_code)]
unsafe impl Send for Weak {}

#[derive(Debug)]
enum Offered {
    One(Arc<Known>),
    Several,
}

/// Tables below which no search is made.
const FIRST_SWEEP: usize = 64;

impl Loaders {
    /// A number for a loader that has none.
    pub fn add(&mut self, env: Env, weak: jweak, is_parent_first: bool) -> Number {
        if self.tables.len() >= self.next_sweep.max(FIRST_SWEEP) {
            self.sweep(env);
        }
        self.last += 1;
        let table = Table { weak: Weak(weak), is_parent_first, classes: FxHashMap::default() };
        self.tables.insert(self.last, table);
        self.last
    }

    /// Whether the loader is one of the JDK's own, which always ask the boot class loader first.
    pub fn is_parent_first(&self, number: Number) -> bool {
        self.tables.get(&number).is_some_and(|t| t.is_parent_first)
    }

    /// Notes that a class was offered to the JVM for definition by this loader.
    pub fn offer(&mut self, number: Number, class: Arc<Known>) {
        let Some(table) = self.tables.get_mut(&number) else { return };
        match table.classes.get_mut(&class.summary.name) {
            Some(Offered::One(old)) if old.summary.hash == class.summary.hash => {}
            Some(several) => *several = Offered::Several,
            None => {
                table.classes.insert(class.summary.name.clone(), Offered::One(class));
            }
        }
    }

    /// The class of that name, given that the JVM has one which this loader defined.
    pub fn class(&self, number: Number, name: &[u8]) -> Option<Arc<Known>> {
        match self.tables.get(&number)?.classes.get(name)? {
            Offered::One(class) => Some(class.clone()),
            Offered::Several => None,
        }
    }

    /// Drops the tables of loaders that have been collected.
    fn sweep(&mut self, env: Env) {
        self.tables.retain(|_, table| {
            let collected = env.is_collected(table.weak.0);
            if collected {
                env.delete_weak(table.weak.0);
            }
            !collected
        });
        self.next_sweep = 2 * self.tables.len();
    }
}
