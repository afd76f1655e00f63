//! Members that a class must keep, because the JVM or callers already know them.
//!
//! A redefinition may neither add nor delete methods (JVMTI, *RedefineClasses*). Callers of a class
//! of the library were rewritten for the extended forms of its original. So a class file that
//! replaces such a class gets exactly these extended forms, whatever its own plan would say.

use cct_classfile::{NameAndType, NameAndTypeBuf};
use cct_index::treatment::Treatment;
use rustc_hash::FxHashMap;

/// The property of a method that a new class file must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptProperty {
    /// The method's earlier treatment.
    Treatment(Treatment),
    /// Only whether it has an extended form.
    ExtendedForm(bool),
}

/// The members that a class has to keep.
#[derive(Debug, Clone, Default)]
pub struct KeptMembers {
    /// The properties to keep, by name and descriptor of the method.
    methods: FxHashMap<Box<[u8]>, KeptProperty>,
    /// Whether the JVM has loaded the class, so that no member can be added.
    is_loaded: bool,
    /// Name and original descriptor of the extended forms without an original in the class.
    tie_breaks: Vec<NameAndTypeBuf>,
}

impl KeptMembers {
    /// The members of a library class that is about to be loaded from another class file. Callers
    /// know these methods; the new file may add others.
    pub fn of_callers() -> Self {
        KeptMembers::default()
    }

    /// The members of a loaded class, with its [tie breaks](crate::plan::Plan::tie_breaks) by name
    /// and original descriptor.
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

    /// Name and original descriptor of the extended forms that the class has without an original.
    pub fn tie_breaks(&self) -> &[NameAndTypeBuf] {
        &self.tie_breaks
    }

    /// The property that a method must keep, by its name and original descriptor; `None` if its
    /// treatment is free.
    pub(crate) fn find(&self, method: NameAndType<'_>) -> Option<KeptProperty> {
        let known = self.methods.get(&key(method));
        known.copied().or(self.is_loaded.then_some(KeptProperty::ExtendedForm(false)))
    }
}

/// Key of a method: name and descriptor joined. A descriptor starts with a parenthesis, which no
/// name contains (JVMS 4.2.2).
fn key(method: NameAndType<'_>) -> Box<[u8]> {
    [method.name, method.descriptor].concat().into()
}
