//! The archive of rewritten classes (CDS) that lets the JVM start faster. The image's own JVM
//! creates it.
//!
//! It contains what the JDK's own archive contains, so that the image starts fast and behaves like
//! the JDK. That includes objects that HotSpot takes out of a running JVM, among them the modules.
//! For these, class initialisers have run and hash codes are assigned. It never contains classes
//! that the JVM generates for lambdas: these must pass the load-time library, which keeps their
//! names.
//!
//! Runs that must be equal for all collectors (`--reproducible`) have no archive. Not all
//! collectors can use the objects, nor the archive at all unless the JDK has one in their form.
//! Code that runs before `main` also assigns hash codes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::home::{Home, Layout};
use super::jvm::{Jvm, JvmError};
use super::time_limit::TimeLimit;
use crate::file_error::{FileError, Operation};
use crate::observer::Observer;

/// An archive of classes that cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The list of classes cannot be changed.
    #[error(transparent)]
    List(#[from] FileError),
    /// The image's JVM fails.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// The image's JVM ended well, without an archive.
    #[error(
        "the image's JVM made no archive of classes ({}); `cctrewrite jdk --no-cds` does without",
        .file.display()
    )]
    NoArchive {
        /// The file of the archive.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// An archive of classes that is not sound.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// HotSpot does not look for a file of this name.
    #[error("{}: not an archive of the JDK", .0.display())]
    Unknown(PathBuf),
    /// The image's JVM rejects it.
    #[error(transparent)]
    Jvm(#[from] JvmError),
}

/// One of the archives that HotSpot looks for, depending on options.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The archive's file in HotSpot's folder.
    pub file: &'static str,
    /// The options that select it.
    options: &'static [&'static str],
}

/// All variants; the first is that of the JDK's defaults. Since JDK 24 there is one more, with or
/// without compact object headers, whichever is not the default: until 26 with them, since 27
/// without.
const VARIANTS: &[Variant] = &[
    Variant { file: "classes.jsa", options: &[] },
    Variant { file: "classes_nocoops.jsa", options: &[NO_COMPRESSED] },
    Variant { file: "classes_coh.jsa", options: &[EXPERIMENTAL, COMPACT] },
    Variant { file: "classes_nocoops_coh.jsa", options: &[NO_COMPRESSED, EXPERIMENTAL, COMPACT] },
    Variant { file: "classes_nocoh.jsa", options: &[NO_COMPACT] },
    Variant { file: "classes_nocoops_nocoh.jsa", options: &[NO_COMPRESSED, NO_COMPACT] },
];

const NO_COMPRESSED: &str = "-XX:-UseCompressedOops";
const COMPACT: &str = "-XX:+UseCompactObjectHeaders";
/// Until JDK 24 compact headers are experimental.
const EXPERIMENTAL: &str = "-XX:+UnlockExperimentalVMOptions";
const NO_COMPACT: &str = "-XX:-UseCompactObjectHeaders";

/// The collector under which every version archives objects on any machine, and the heap size with
/// which JDKs are built.
const HEAP: &[&str] = &["-XX:+UseG1GC", "-Xms128m", "-Xmx128m"];

/// The archives that an image gets: those that its JDK has, at least the plain one. None for JDK 8:
/// its archives contain the absolute paths of jars and are useless after a move. They are not used
/// unless requested, either.
pub fn variants(home: &Home) -> Vec<Variant> {
    if let Layout::Jars { .. } = home.layout {
        return Vec::new();
    }
    let folder = home.path.join(home.server());
    let wanted = |variant: &Variant| variant.options.is_empty() || folder.join(variant.file).is_file();
    VARIANTS.iter().copied().filter(wanted).collect()
}

/// Creates archives in an image that is otherwise complete.
///
/// # Errors
/// Fails if the list of classes cannot be changed, or if the image's JVM creates no archive.
pub fn make(
    home: &Home,
    image: &Path,
    runtime: &[jdk_wrap::Class],
    variants: &[Variant],
    limit: TimeLimit,
    observer: &dyn Observer,
) -> Result<(), MakeError> {
    if variants.is_empty() {
        return Ok(());
    }
    only_classes(&image.join("lib/classlist"), runtime)?;
    let steps = observer.begin("making archives of classes", Some(variants.len() as u64));
    for variant in variants {
        let arguments = [&["-Xshare:dump"], variant.options, HEAP].concat();
        let remedy = "`cctrewrite jdk --no-cds` makes an image without archives of classes";
        Jvm { image, java_home: Path::new(""), arguments: &arguments, limit, remedy }.run()?;
        let file = image.join(home.server()).join(variant.file);
        fs::metadata(&file).map_err(|source| MakeError::NoArchive { file, source })?;
        steps.step();
    }
    Ok(())
}

/// Lets the image's JVM check the checksums of one of its archives, and use it.
///
/// # Errors
/// Fails if HotSpot does not look for a file of this name, or if the JVM rejects it.
pub fn verify(image: &Path, file: &Path) -> Result<(), VerifyError> {
    let name = file.file_name().unwrap_or_default();
    let variant = VARIANTS.iter().find(|variant| name == variant.file);
    let variant = variant.ok_or_else(|| VerifyError::Unknown(file.to_path_buf()))?;
    let checked = ["-Xshare:on", "-XX:+UnlockDiagnosticVMOptions", "-XX:+VerifySharedSpaces"];
    let arguments = [&checked, variant.options, &["-version"]].concat();
    let limit = TimeLimit::of_environment().unwrap_or_default();
    let remedy = "make the image again with `cctrewrite jdk`";
    Ok(Jvm { image, java_home: Path::new(""), arguments: &arguments, limit, remedy }.run()?)
}

/// Leaves only names of classes in the list of classes to archive: lines with `@` make HotSpot
/// generate classes while it archives. Adds the runtime's classes, since each JVM loads them.
fn only_classes(list: &Path, runtime: &[jdk_wrap::Class]) -> Result<(), FileError> {
    let text = fs::read_to_string(list).map_err(Operation::Read.failed_on(list))?;
    fs::remove_file(list).map_err(Operation::Replace.failed_on(list))?;
    let runtime = runtime.iter().map(|(name, _)| format!("{name}\n"));
    let classes = without_lambdas(&text) + &runtime.collect::<String>();
    fs::write(list, classes).map_err(Operation::Write.failed_on(list))
}

fn without_lambdas(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('@')).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_classes() {
        let list = "# Comment\njava/lang/Object id: 0\n@lambda-proxy java/lang/Object run\n@lambda-form-invoker [X]\n";
        assert_eq!(without_lambdas(list), "# Comment\njava/lang/Object id: 0\n");
    }
}
