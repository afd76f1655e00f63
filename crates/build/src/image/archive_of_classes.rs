//! The archive of classes (CDS) that lets the JVM start faster: the image's own JVM makes it, of
//! rewritten classes.
//!
//! It holds what the JDK's own archive holds, so that the image starts fast and does what the JDK
//! does: also objects that HotSpot takes out of a running JVM, among them the modules, and with
//! these class initialisers have run and hash codes are known. It never holds classes that the JVM
//! makes for lambdas, since such must pass by the load-time library, which keeps their names.
//!
//! Where runs are to be the same whatever the collector (`--reproducible`) there is none: not all
//! collectors can use the objects, nor the archive at all unless the JDK has it in their form, and
//! what happens before `main` deals out hash codes.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::home::{Home, Layout};
use super::jvm::Jvm;
use super::time_limit::TimeLimit;

/// One of the archives for which HotSpot looks, depending on options.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// Its file in the folder of HotSpot.
    pub file: &'static str,
    /// The options that choose it.
    options: &'static [&'static str],
}

/// All that there are: the first is the one for the JDK's defaults. With compact object headers or
/// without them since JDK 24, which of the two is not the default: until 26 compact ones, since 27
/// the others.
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
/// Until JDK 24 compact headers are an experiment.
const EXPERIMENTAL: &str = "-XX:+UnlockExperimentalVMOptions";
const NO_COMPACT: &str = "-XX:-UseCompactObjectHeaders";

/// The collector under which every version archives objects, whatever the machine, and the heap
/// with which JDKs are built.
const HEAP: &[&str] = &["-XX:+UseG1GC", "-Xms128m", "-Xmx128m"];

/// The archives that an image gets: those that its JDK has, at least the plain one. None for JDK 8,
/// whose archives hold the absolute paths of jars and are of no use when these have been moved (nor
/// are they used, unless it is asked for).
pub fn variants(home: &Home) -> Vec<Variant> {
    if let Layout::Jars { .. } = home.layout {
        return Vec::new();
    }
    let folder = home.path.join(home.server());
    let wanted = |variant: &Variant| variant.options.is_empty() || folder.join(variant.file).is_file();
    VARIANTS.iter().copied().filter(wanted).collect()
}

/// Makes archives in an image that is complete otherwise.
pub fn make(
    home: &Home,
    image: &Path,
    runtime: &[jdk_wrap::Class],
    variants: &[Variant],
    limit: TimeLimit,
) -> Result<()> {
    if variants.is_empty() {
        return Ok(());
    }
    only_classes(&image.join("lib/classlist"), runtime)?;
    for variant in variants {
        let arguments = [&["-Xshare:dump"], variant.options, HEAP].concat();
        let remedy = "`cctrewrite jdk --no-cds` makes an image without archives of classes";
        Jvm { image, java_home: Path::new(""), arguments: &arguments, limit, remedy }.run()?;
        let file = image.join(home.server()).join(variant.file);
        fs::metadata(&file).with_context(|| {
            format!(
                "the image's JVM made no archive of classes ({}); `cctrewrite jdk --no-cds` does without",
                file.display()
            )
        })?;
    }
    Ok(())
}

/// Has the image's JVM check the checksums of one of its archives, and use it.
///
/// # Errors
/// If the file is no archive for which HotSpot looks, or the JVM refuses it.
pub fn verify(image: &Path, file: &Path) -> Result<()> {
    let name = file.file_name().unwrap_or_default();
    let variant = VARIANTS.iter().find(|variant| name == variant.file);
    let variant = variant.with_context(|| format!("{}: not an archive of the JDK", file.display()))?;
    let checked = ["-Xshare:on", "-XX:+UnlockDiagnosticVMOptions", "-XX:+VerifySharedSpaces"];
    let arguments = [&checked, variant.options, &["-version"]].concat();
    let limit = TimeLimit::of_environment().unwrap_or_default();
    let remedy = "make the image anew with `cctrewrite jdk`";
    Jvm { image, java_home: Path::new(""), arguments: &arguments, limit, remedy }.run()
}

/// Leaves nothing but names of classes in the list of what is archived: lines with `@` have HotSpot
/// make classes while it archives. The runtime's are added, since each JVM loads them.
fn only_classes(list: &Path, runtime: &[jdk_wrap::Class]) -> Result<()> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    fs::remove_file(list).with_context(|| format!("cannot replace {}", list.display()))?;
    let runtime = runtime.iter().map(|(name, _)| format!("{name}\n"));
    let classes = without_lambdas(&text) + &runtime.collect::<String>();
    fs::write(list, classes).with_context(|| format!("cannot write {}", list.display()))
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
