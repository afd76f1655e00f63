//! Inputs of the rewriting benchmark.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::ValueEnum;
use xtask_programs::pypi;
use xtask_tools::class_library::{boot_jars, extension_jars, jars_in};
use xtask_tools::jdks::{Fetch, Jdk};

use super::copier::Copier;

/// An input, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Name {
    /// rt.jar of JDK 8
    #[value(name = "rt.jar")]
    RtJar,
    /// All jars of JDK 8
    #[value(name = "jdk-8")]
    Jdk8,
    /// The modules of JDK 17
    #[value(name = "modules-17")]
    Modules17,
    /// The modules of JDK 25
    #[value(name = "modules-25")]
    Modules25,
    /// Jars of applications: those of the Python package pyspark
    Pyspark,
    /// Parts of rt.jar: how time grows with the number of classes
    Parts,
}

/// 230 MB of jars: Spark, Hadoop, Hive, Scala, and what they need.
const PYSPARK: (&str, &str) = ("pyspark", "3.1.3");

impl Name {
    /// The JDK of the input; its JVM runs the foreign libraries.
    pub fn jdk(self) -> u32 {
        match self {
            Name::Modules17 => 17,
            Name::Modules25 => 25,
            Name::RtJar | Name::Jdk8 | Name::Pyspark | Name::Parts => 8,
        }
    }

    /// The name in headings.
    pub fn title(self) -> &'static str {
        match self {
            Name::RtJar => "rt.jar of JDK 8",
            Name::Jdk8 => "All of JDK 8",
            Name::Modules17 => "The modules of JDK 17",
            Name::Modules25 => "The modules of JDK 25",
            Name::Pyspark => "Jars of applications",
            Name::Parts => "Parts of rt.jar",
        }
    }

    /// Number of measurements when the small inputs are measured `rounds` times. Large inputs are
    /// measured less often.
    pub fn rounds(self, rounds: u32) -> u32 {
        match self {
            Name::RtJar => rounds,
            Name::Jdk8 | Name::Modules17 | Name::Modules25 | Name::Parts => rounds.div_ceil(2),
            Name::Pyspark => rounds.div_ceil(3),
        }
    }
}

/// A prepared input.
pub struct Input {
    /// The input's name.
    pub name: Name,
    /// The input's files, with different names.
    pub files: Vec<PathBuf>,
    /// A jar with the same contents, if the foreign libraries cannot read the files.
    pub as_jar: Option<PathBuf>,
    /// The library for `cctrewrite`.
    pub library: Option<PathBuf>,
    /// Number of classes.
    pub classes: u64,
    /// The classes' uncompressed size, in bytes.
    pub class_bytes: u64,
    /// The input's description in the section.
    pub about: String,
}

impl Input {
    /// Finds or fetches an input; files created for it are in `work`.
    ///
    /// # Errors
    /// Fails if it is missing, or cannot be read.
    pub fn prepare(name: Name, jdk: &Jdk, copier: &Copier, work: &Path) -> Result<Input> {
        let version = &jdk.full_version;
        let (files, about) = match name {
            Name::RtJar | Name::Parts => {
                let jar = jdk.home.join("jre/lib/rt.jar");
                (vec![jar], format!("JDK {version}; entries are not compressed"))
            }
            Name::Jdk8 => {
                let mut jars = boot_jars(jdk);
                jars.extend(extension_jars(jdk)?);
                jars.extend(jars_in(&jdk.home.join("lib"))?);
                (jars, format!("`jre/lib`, `jre/lib/ext` and `lib` of JDK {version}"))
            }
            Name::Modules17 | Name::Modules25 => (
                vec![jdk.home.join("lib/modules")],
                format!(
                    "`lib/modules` of JDK {version}, an image. The libraries of others, which read no images, are given a jar of the same contents, not compressed"
                ),
            ),
            Name::Pyspark => {
                let (package, pinned) = PYSPARK;
                let jars = pypi::jars(package, pinned, Fetch::IfMissing)?;
                let about = format!(
                    "the jars of {package} {pinned} (PyPI): Spark, Hadoop, Hive, Scala and what they need, compressed. `cctrewrite` also looks at JDK {version} (`--library`)"
                );
                (jars, about)
            }
        };
        if let Some(absent) = files.iter().find(|file| !file.is_file()) {
            bail!("{} is not there", absent.display());
        }
        let names: BTreeSet<_> = files.iter().map(|file| file.file_name()).collect();
        if names.len() < files.len() {
            return Err(anyhow!("two jars of one name"));
        }
        let is_image = matches!(name, Name::Modules17 | Name::Modules25);
        let as_jar = is_image.then(|| work.join(format!("modules-{}.jar", name.jdk())));
        if let Some(jar) = &as_jar {
            copier.jar(files.first().context("no image")?, jar)?;
        }
        let counted = copier.count(&files, work)?;
        Ok(Input {
            name,
            files,
            as_jar,
            library: (name == Name::Pyspark).then(|| jdk.home.clone()),
            classes: counted.classes,
            class_bytes: counted.bytes,
            about,
        })
    }

    /// The files for the foreign libraries.
    pub fn for_peers(&self) -> Vec<PathBuf> {
        self.as_jar.as_ref().map_or_else(|| self.files.clone(), |jar| vec![jar.clone()])
    }
}

/// Total size of files, in bytes.
///
/// # Errors
/// Fails if one is missing.
pub fn bytes(files: &[PathBuf]) -> Result<u64> {
    files
        .iter()
        .map(|file| Ok(fs::metadata(file).with_context(|| format!("{}", file.display()))?.len()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_measured_less_often_and_everything_once() {
        assert_eq!(Name::RtJar.rounds(5), 5);
        assert_eq!(Name::Modules25.rounds(5), 3);
        assert_eq!(Name::Pyspark.rounds(5), 2);
        assert!(Name::value_variants().iter().all(|name| name.rounds(1) == 1));
    }
}
