//! Arguments of `cctrewrite instrument`.

use std::path::PathBuf;

use cct_build::inputs::BadClasses;
use cct_build::instrument::InstrumentRequest;
use clap::{Args, value_parser};

use super::{Choices, LimitsArguments, UdiArguments, Verbosity};

const EXAMPLES: &str = "\
Examples:
  Instrument the class library of JDK 8:
    cctrewrite instrument $JAVA8_HOME/jre/lib/rt.jar -o inst_rt.jar
    java $(cctrewrite flags inst_rt.jar) -cp . Main

  Instrument an application, to run on an instrumented class library:
    cctrewrite instrument app.jar --library $JAVA8_HOME/jre/lib/rt.jar -o inst_app.jar

  Instrument the class library of JDK 9 or later as patches, without changing the JDK:
    cctrewrite instrument $JAVA_HOME/lib/modules --patches -o patches
    java $(cctrewrite flags patches) -cp . Main

  In a build: instrument an application with the jars that its manifest names:
    cctrewrite instrument app.jar --class-path --if-changed --library profiled-jdk -o out/app.jar

  Instrument one class, without an index of names:
    cctrewrite instrument classes/Main.class --library inst_rt.jar -o inst/Main.class

  Instrument several inputs into a folder, and write the completeness report as JSON:
    cctrewrite instrument app.jar util.jar --library inst_rt.jar -o inst/ --report completeness.json

Outputs appear when all of them are complete. The same inputs and options give the same bytes.";

/// Rewrite jars, folders of classes, class files, images and jmods
///
/// Rewrite everything that belongs together in one run, or name the rest with --library. If an
/// input is part of a JDK, the rest of its class library is read automatically. Stack traces,
/// reflection and serialisation see the original program.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Instrument {
    /// Jars, folders of classes, class files, the image lib/modules of a JDK from 9 on, jmods
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// Output path: a file for one input, a folder for a folder of classes. For several inputs, a
    /// folder with an output of the same name for each
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,

    /// For images, folders of modules and jmods: write only what changes, as jars MODULE.jar for
    /// the JVM option --patch-module. An image or a folder of modules gives a folder of such jars.
    /// The JDK itself does not change
    #[arg(long)]
    pub patches: bool,

    /// Also rewrite the jars and folders in the Class-Path of the inputs' manifests, and those that
    /// their manifests name. Each is written where the manifest of its output looks for it, such as
    /// `lib/a.jar`
    #[arg(long)]
    pub class_path: bool,

    /// Do nothing if the outputs are up to date: the same inputs, libraries, options and version of
    /// cctrewrite. Compares contents, not times
    #[arg(long)]
    pub if_changed: bool,

    /// Add Instrumented-By and Instrumented-With to the manifests of jars. A program that reads its
    /// own manifest, as the launcher does for -jar, then executes a few more bytecodes
    #[arg(long)]
    pub manifest: bool,

    #[command(flatten)]
    pub choices: Choices,

    #[command(flatten)]
    pub udi: UdiArguments,

    /// Check each rewritten class against its original before writing outputs, as
    /// `cctrewrite verify` does. A finding is an error, and nothing is written
    #[arg(long)]
    pub verify: bool,

    /// Write the completeness report: every method with a special treatment, and the reason
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Copy entries that are named like a class but hold none, with a notice, instead of refusing
    /// the input
    #[arg(long)]
    pub keep_bad_classes: bool,

    /// Compression of new entries, 0 (fastest) to 9 (smallest)
    #[arg(long, value_name = "0..9", default_value_t = 6, value_parser = value_parser!(u32).range(0..=9))]
    pub level: u32,

    /// Number of threads; the output does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub verbosity: Verbosity,

    #[command(flatten)]
    pub limits: LimitsArguments,
}

impl Instrument {
    /// These arguments as a request.
    pub fn request(&self) -> InstrumentRequest {
        InstrumentRequest {
            inputs: self.inputs.clone(),
            output: self.output.clone(),
            choices: self.choices.get().clone(),
            module: self.udi.options(),
            patches: self.patches,
            class_path: self.class_path,
            if_changed: self.if_changed,
            manifest: self.manifest,
            verify: self.verify,
            report: self.report.clone(),
            bad: if self.keep_bad_classes { BadClasses::Keep } else { BadClasses::Refuse },
            level: self.level,
            limits: self.limits.limits(),
        }
    }
}
