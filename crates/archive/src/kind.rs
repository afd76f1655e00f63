//! Kinds of inputs.

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A file that is a zip archive, under any name; includes jmods.
    Jar,
    /// The modules of a JDK from 9 on, `lib/modules`.
    Image,
    /// A folder.
    Folder,
    /// A class file, under any name. Its output is a class file, to which no entries are added.
    Class,
}
