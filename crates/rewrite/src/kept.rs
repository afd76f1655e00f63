//! Members that a class must keep: those that the JVM, or callers, know already.
//!
//! A redefinition may neither add nor delete methods (JVMTI, *RedefineClasses*), and callers of a
//! class of the library were rewritten for the extended forms that its original had. So a class
//! file that takes such a class's place gets the extended forms that are there, whatever a plan of
//! its own would say.

use cct_index::treatment::Treatment;
use rustc_hash::FxHashMap;

/// What a method has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// What was done to it before.
    Treatment(Treatment),
    /// Only whether it has an extended form.
    ExtendedForm(bool),
}

/// An extended form without an original, by name and original descriptor.
pub type LoneForm = (Box<[u8]>, Box<[u8]>);

/// The members that a class has to keep.
#[derive(Debug, Clone, Default)]
pub struct KeptMembers {
    /// By name and descriptor.
    methods: FxHashMap<Box<[u8]>, Kept>,
    /// Whether the JVM has loaded the class, so that nothing can be added to it.
    is_loaded: bool,
    /// Name and original descriptor of the extended forms that the class has without the original
    /// ones.
    tie_breaks: Vec<LoneForm>,
}

impl KeptMembers {
    /// Of a class of the library that is about to be loaded from another class file: its callers
    /// know these methods, and it may have others.
    pub fn of_callers() -> Self {
        KeptMembers::default()
    }

    /// Of a loaded class, with its [tie breaks](crate::plan::Plan::tie_breaks) by name and original
    /// descriptor.
    pub fn of_loaded(tie_breaks: Vec<LoneForm>) -> Self {
        KeptMembers { is_loaded: true, tie_breaks, ..KeptMembers::default() }
    }

    /// Adds a method by its name and its original descriptor.
    pub fn add(&mut self, name: &[u8], descriptor: &[u8], kept: Kept) {
        self.methods.insert(key(name, descriptor), kept);
    }

    /// Whether the JVM has loaded the class.
    pub fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// The extended forms, by name and original descriptor, that the class has without the original
    /// ones.
    pub fn tie_breaks(&self) -> &[LoneForm] {
        &self.tie_breaks
    }

    /// What a method has to keep, by its name and original descriptor; `None` if its treatment is
    /// free.
    pub(crate) fn find(&self, name: &[u8], descriptor: &[u8]) -> Option<Kept> {
        let known = self.methods.get(&key(name, descriptor));
        known.copied().or(self.is_loaded.then_some(Kept::ExtendedForm(false)))
    }
}

/// A descriptor starts with a parenthesis, which no name has (JVMS 4.2.2).
fn key(name: &[u8], descriptor: &[u8]) -> Box<[u8]> {
    [name, descriptor].concat().into()
}
