//! The interface of a module: its trait, its answers, and the classes that its inserted code calls.

use cct_classfile::ClassFile;

/// The package of a module's own classes for its inserted code. They are not rewritten, and are
/// part of the class library.
pub const RUNTIME_PACKAGE: &str = "cctrewrite/udi/runtime/";

/// A module's answer for a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The class stays unchanged.
    Keep,
    /// These bytes replace the class.
    Replace(Vec<u8>),
    /// The module cannot handle the class, for this reason: it stays unchanged, and the user is
    /// informed.
    Abort(String),
}

/// A class of a module's own, for inserted code to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeClass {
    /// Internal name, in [`RUNTIME_PACKAGE`].
    pub name: String,
    /// Class file.
    pub bytes: Vec<u8>,
}

/// The reason why a module failed, which ends the run. A class that it merely cannot handle is
/// [`Outcome::Abort`].
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A user-defined instrumentation module.
///
/// The command shows each distinct class file once, in the order of the inputs and never two at a
/// time. The answer must depend on the class alone, so that the same inputs give the same outputs.
pub trait Module {
    /// Transforms a class. Its bytes are `class.bytes`.
    fn transform(&self, class: &ClassFile<'_>) -> Result<Outcome, Failure>;

    /// The classes that inserted code calls.
    fn runtime(&self) -> Vec<RuntimeClass> {
        Vec::new()
    }
}
