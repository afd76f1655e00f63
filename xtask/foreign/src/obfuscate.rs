//! ProGuard, with the options that make its output least like a compiler's.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xtask_tools::class_library::boot_jars;
use xtask_tools::jdks::{Jdk, tool};
use xtask_tools::process;

/// Names for ProGuard's output: keywords of Java, names of other things, non-Latin letters.
const NAMES: &str =
    "if\ndo\nfor\nint\nnew\ntry\nnull\ntrue\nvoid\nlong\nÀ\nΩ\nж\n丁\nªº\naux\ncon\n_\n$\nclass\n";

/// All members may have any name except those that the JVM calls by name. One name goes to as many
/// as possible, and classes to one package. Members become public, code is inlined and merged.
/// Frames are recomputed.
const OPTIONS: &str = "\
-dontwarn
-dontnote
-ignorewarnings
-optimizationpasses 1
-overloadaggressively
-mergeinterfacesaggressively
-allowaccessmodification
-repackageclasses ''
-useuniqueclassmembernames
-keepattributes LineNumberTable,InnerClasses,Signature,*Annotation*
-keep,allowobfuscation,allowoptimization class ** { *; }
";

/// ProGuard's own jar.
pub struct Obfuscator {
    jar: PathBuf,
}

impl Obfuscator {
    /// Uses ProGuard in this jar.
    pub fn new(jar: PathBuf) -> Obfuscator {
        Obfuscator { jar }
    }

    /// Obfuscates jars, each by itself with the others as libraries, so that each has a jar of its
    /// own in `folder`. Each also gets a package of its own names, since all are linked on one
    /// class path.
    ///
    /// # Errors
    /// Fails if ProGuard rejects one.
    pub fn all(&self, jars: &[PathBuf], jdk: &Jdk, folder: &Path) -> Result<()> {
        let work = tempfile::tempdir_in(folder)?;
        let names = work.path().join("names.txt");
        fs::write(&names, NAMES)?;
        for (number, jar) in jars.iter().enumerate() {
            let name = jar.file_name().with_context(|| format!("{} has no name", jar.display()))?;
            eprintln!("  obfuscating {}", name.to_string_lossy());
            let mut java = tool(&jdk.home, "java");
            java.arg("-Xmx2g").arg("-cp").arg(&self.jar).arg("proguard.ProGuard");
            java.arg("-injars").arg(jar).arg("-outjars").arg(folder.join(name));
            for library in boot_jars(jdk).iter().chain(jars.iter().filter(|other| *other != jar)) {
                java.arg("-libraryjars").arg(library);
            }
            for dictionary in
                ["-obfuscationdictionary", "-classobfuscationdictionary", "-packageobfuscationdictionary"]
            {
                java.arg(dictionary).arg(&names);
            }
            let options = work.path().join("options.pro");
            fs::write(&options, OPTIONS.replace("''", &format!("'o{number}'")))?;
            process::output(java.arg(format!("@{}", options.display())))?;
        }
        Ok(())
    }
}
