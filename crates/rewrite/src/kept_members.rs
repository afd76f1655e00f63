//! Members that a class must keep, because the JVM or callers already know them.
//!
//! There are two reasons:
//!
//! * The JVM refuses a redefinition that adds or deletes methods (JVMTI, *RedefineClasses*).
//! * Rewritten callers of a library class call the extended forms of its original class file.
//!
//! So a class file that replaces a loaded class or a library class gets the extended forms of that
//! class, whatever its own plan says.

use cct_classfile::{NameAndType, NameAndTypeBuf};
use cct_index::treatment::Treatment;
use rustc_hash::FxHashMap;

/// The property of a method that a new class file must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptProperty {
    /// The method's earlier treatment.
    Treatment(Treatment),
    /// Whether the method has an extended form. The rest of its treatment is free.
    ExtendedForm(bool),
}

/// The members that a class has to keep.
#[derive(Debug, Clone, Default)]
pub struct KeptMembers {
    /// The properties to keep, by name and descriptor of the method.
    methods: FxHashMap<Box<[u8]>, KeptProperty>,
    /// Whether the JVM has loaded the class. If so, no member can be added.
    is_loaded: bool,
    /// Name and original descriptor of each tie break: an extended form whose original is not in
    /// the class.
    tie_breaks: Vec<NameAndTypeBuf>,
}

impl KeptMembers {
    /// Creates the list for a library class that will be loaded from another class file. It is
    /// empty; [`KeptMembers::add`] adds the methods that callers know. The new class file may have
    /// further methods.
    pub fn of_callers() -> Self {
        KeptMembers::default()
    }

    /// Creates the list for a loaded class. It has only the class's
    /// [tie breaks](crate::plan::Plan::tie_breaks), by name and original descriptor.
    pub fn of_loaded(tie_breaks: Vec<NameAndTypeBuf>) -> Self {
        KeptMembers { is_loaded: true, tie_breaks, ..KeptMembers::default() }
    }

    /// Adds a method by its name and its original descriptor.
    pub fn add(&mut self, method: NameAndType<'_>, kept: KeptProperty) {
        self.methods.insert(key(method), kept);
    }

    /// Whether the JVM has loaded the class.
    pub fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Name and original descriptor of each extended form whose original is not in the class.
    pub fn tie_breaks(&self) -> &[NameAndTypeBuf] {
        &self.tie_breaks
    }

    /// The property that a method must keep; `None` if its treatment is free. Finds the method by
    /// its name and original descriptor.
    pub(crate) fn find(&self, method: NameAndType<'_>) -> Option<KeptProperty> {
        let known = self.methods.get(&key(method));
        known.copied().or(self.is_loaded.then_some(KeptProperty::ExtendedForm(false)))
    }
}

/// The key of a method: its name and descriptor, joined. Keys are unique, since a descriptor starts
/// with a parenthesis, which no name contains (JVMS 4.2.2).
fn key(method: NameAndType<'_>) -> Box<[u8]> {
    [method.name, method.descriptor].concat().into()
}
