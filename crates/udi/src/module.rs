//! What a module is: its trait, its answers, and the classes that its inserted code calls.

use cct_classfile::ClassFile;

/// The package of classes that a module brings along for its inserted code. They are not rewritten,
/// and lie in the class library.
pub const RUNTIME_PACKAGE: &str = "cctrewrite/udi/runtime/";

/// What becomes of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It stays as it is.
    Keep,
    /// These bytes take its place.
    Replace(Vec<u8>),
    /// The module cannot deal with it, for this reason: it stays as it is, and the user is told.
    Abort(String),
}

/// A class of a module's own, to be called by inserted code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeClass {
    /// Internal name, in [`RUNTIME_PACKAGE`].
    pub name: String,
    /// Class file.
    pub bytes: Vec<u8>,
}

/// Why a module failed: the run ends with it. A class that it merely cannot deal with is
/// [`Outcome::Abort`].
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A user-defined instrumentation module.
///
/// Each distinct class file is shown once, in the order of the inputs and never two at a time. The
/// answer must depend on the class alone, so that the same inputs give the same outputs.
pub trait Module {
    /// What becomes of a class. Its bytes are `class.bytes`.
    fn transform(&self, class: &ClassFile<'_>) -> Result<Outcome, Failure>;

    /// The classes that inserted code calls.
    fn runtime(&self) -> Vec<RuntimeClass> {
        Vec::new()
    }
}
