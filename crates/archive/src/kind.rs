//! Kinds of inputs.

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A file that is a zip archive, by whatever name; jmods are.
    Jar,
    /// The modules of a JDK from 9 on, `lib/modules`.
    Image,
    /// A folder.
    Folder,
    /// A class file, by whatever name. Its output is a class file, to which no entries are added.
    Class,
}
