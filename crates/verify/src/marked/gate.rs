//! The methods that marked code calls.

use cct_classfile::ClassFile;

use cct_jdk::convention::OBJECT as OBJECT_CLASS;

/// The route from marked code to the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// A class of this name.
    Class(&'static [u8]),
    /// Helpers of `java.lang.Object`, which a class names by its superclass if it has one: in
    /// programs that are also counted.
    Helpers,
}

impl Gate {
    /// Name of the method to call on exit from a region.
    pub fn exit(self, leaving: RegionExit) -> &'static [u8] {
        match (self, leaving) {
            (Gate::Class(_), RegionExit::Left | RegionExit::Made) => b"exit",
            (Gate::Class(_), RegionExit::Thrown) => b"thrown",
            (Gate::Class(_), RegionExit::Returned) => b"returned",
            (Gate::Class(_), RegionExit::Answered) => b"answered",
            (Gate::Helpers, RegionExit::Left) => b"cct$markerExit",
            (Gate::Helpers, RegionExit::Made) => b"cct$markerMade",
            (Gate::Helpers, RegionExit::Thrown) => b"cct$markerThrown",
            (Gate::Helpers, RegionExit::Returned) => b"cct$markerReturned",
            (Gate::Helpers, RegionExit::Answered) => b"cct$markerAnswered",
        }
    }

    /// Whether a call to this class is a call of the gate.
    pub fn is_of(self, class: &ClassFile<'_>, owner: &[u8]) -> bool {
        match self {
            Gate::Class(name) => owner == name,
            Gate::Helpers => owner == OBJECT_CLASS || Some(owner) == class.super_name(),
        }
    }

    /// Whether helpers get the thread's position in its tree.
    pub fn has_slot(self) -> bool {
        self == Gate::Helpers
    }
}

impl RegionExit {
    /// The descriptor of the method to call.
    pub fn descriptor(self) -> &'static [u8] {
        match self {
            RegionExit::Left | RegionExit::Thrown => b"(Ljava/lang/Object;)V",
            RegionExit::Made | RegionExit::Returned => b"(Ljava/lang/Object;Ljava/lang/Object;)V",
            RegionExit::Answered => b"(Ljava/lang/Object;Z)V",
        }
    }
}

/// The report of an exit from a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionExit {
    /// Any exit.
    Left,
    /// An exit by an exception.
    Thrown,
    /// An exit with an object.
    Made,
    /// An exit with the returned object.
    Returned,
    /// An exit with the returned boolean.
    Answered,
}
