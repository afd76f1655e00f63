//! The description of a program: its origin, its command line, and the parts of its output that
//! depend on the clock.

/// A program.
#[derive(Clone, Copy)]
pub struct Program {
    /// The program's name on the command line.
    pub name: &'static str,
    /// The program's description.
    pub about: &'static str,
    /// The versions of the JDK that can run it.
    pub jdks: &'static [u32],
    /// The suite of Debian that has it in a form that runs on these, or
    /// [`npm::REGISTRY`](super::npm::REGISTRY), or [`maven::CENTRAL`](super::maven::CENTRAL).
    pub suite: &'static str,
    /// The packages of its jars; the first one's version is the program's.
    pub packages: &'static [&'static str],
    /// A source package whose upstream sources are in the folder `source` while it runs.
    pub source: Option<&'static str>,
    /// The program's class path: names in `/usr/share/java` (for npm, of files in the package), or
    /// [`TOOLS`]. A folder `classes` comes first, if [`Program::before`] creates one.
    pub jars: &'static [&'static str],
    /// Files below `fixtures/programs` that are copied to the folder in which it runs.
    pub input: &'static [&'static str],
    /// A program to run before it, on the plain JDK.
    pub before: Option<Before>,
    /// Options for the JVM, with folders as in [`Program::arguments`]. [`Program::before`] runs
    /// without those that name [`PATH`], which does not exist yet.
    pub options: &'static [&'static str],
    /// The main class.
    pub main: &'static str,
    /// The program's arguments. [`SOURCES`] stands for several, [`ORIGINAL`] in one for a folder,
    /// `{jdk}` for the home of the JDK.
    pub arguments: &'static [&'static str],
    /// The parts of its output that differ between two runs on one machine.
    pub masks: &'static [Mask],
}

/// The JDK's own compiler, among the [`Program::jars`]; from JDK 9 on it is in the class library
/// and is omitted.
pub const TOOLS: &str = "tools.jar";

/// Placeholder for all Java sources below `source/src/main/java`, in the order of their names.
pub const SOURCES: &str = "{sources}";

/// Placeholder for a folder with the original jars, in an argument. It exists in all modes.
pub const ORIGINAL: &str = "{original}";

/// A program that prepares something for the main one, such as a compiler.
#[derive(Clone, Copy)]
pub struct Before {
    /// The program's main class, on the same class path.
    pub main: &'static str,
    /// The program's arguments; see [`Program::arguments`]. Files that it creates in [`CLASSES`] go
    /// to the class path, those in [`INPUT`] to the input.
    pub arguments: &'static [&'static str],
}

/// Placeholder for the folder `classes`, the first of the class path, in an argument.
pub const CLASSES: &str = "{classes}";

/// Placeholder for the folder of the class path's jars in use, in an option or argument.
pub const PATH: &str = "{path}";

/// Placeholder for the class path of the original jars, in an argument: for compilers, which do not
/// read that of their own JVM.
pub const CLASS_PATH: &str = "{class-path}";

/// Placeholder for a folder whose files go to the program's input, in an argument.
pub const INPUT: &str = "{input}";

/// The name of standard output in a [`Mask`].
pub const STANDARD_OUTPUT: &str = "standard output";

/// Parts of a file that depend on the clock or on chance, and are not compared.
#[derive(Clone, Copy)]
pub struct Mask {
    /// A file, or all files in a folder if it ends with a slash, below the folder in which the
    /// program runs; or [`STANDARD_OUTPUT`].
    pub file: &'static str,
    /// The parts.
    pub what: MaskedParts,
}

/// The parts of a file that are not compared.
#[derive(Clone, Copy)]
pub enum MaskedParts {
    /// The rest of each line that starts with one of these, ignoring spaces.
    Lines(&'static [&'static str]),
    /// Everything except the existence of the file.
    Content,
}

/// The JDK's own compiler, which runs before programs from sources.
pub const JAVAC: &str = "com.sun.tools.javac.Main";

/// An empty description, for the defaults of the others.
pub const NOTHING: Program = Program {
    name: "",
    about: "",
    jdks: &[8, 17, 25],
    suite: "bookworm",
    packages: &[],
    source: None,
    jars: &[],
    input: &[],
    before: None,
    options: &[],
    main: "",
    arguments: &[],
    masks: &[],
};
