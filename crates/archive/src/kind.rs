//! Kinds of inputs.

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A zip archive under any file name, jmods included.
    Jar,
    /// The file `lib/modules` of JDK 9 and later, which holds the JDK's modules.
    Image,
    /// A folder.
    Folder,
    /// A class file under any name. Its output is a class file; entries cannot be added to it.
    Class,
}
