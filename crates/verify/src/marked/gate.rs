//! What marked code calls.

use cct_classfile::ClassFile;

use cct_jdk::convention::OBJECT as OBJECT_CLASS;

/// How marked code reaches the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// By a class, of this name.
    Class(&'static [u8]),
    /// By helpers of `java.lang.Object`, which a class names by its superclass if it has one: where
    /// the program is counted, too.
    Helpers,
}

impl Gate {
    /// What is called where a region is left.
    pub fn exit(self, leaving: Leaving) -> &'static [u8] {
        match (self, leaving) {
            (Gate::Class(_), Leaving::Left | Leaving::Made) => b"exit",
            (Gate::Class(_), Leaving::Thrown) => b"thrown",
            (Gate::Class(_), Leaving::Returned) => b"returned",
            (Gate::Helpers, Leaving::Left) => b"cct$markerExit",
            (Gate::Helpers, Leaving::Made) => b"cct$markerMade",
            (Gate::Helpers, Leaving::Thrown) => b"cct$markerThrown",
            (Gate::Helpers, Leaving::Returned) => b"cct$markerReturned",
        }
    }

    /// Whether it is reached by the name of this class.
    pub fn is_of(self, class: &ClassFile<'_>, owner: &[u8]) -> bool {
        match self {
            Gate::Class(name) => owner == name,
            Gate::Helpers => owner == OBJECT_CLASS || Some(owner) == class.super_name(),
        }
    }

    /// Whether helpers are told where the thread is in its tree.
    pub fn has_slot(self) -> bool {
        self == Gate::Helpers
    }
}

/// How a region is told to be left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// Anyhow.
    Left,
    /// By an exception.
    Thrown,
    /// With an object.
    Made,
    /// With what is returned.
    Returned,
}
