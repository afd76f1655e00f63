//! Arguments of `cctrewrite instrument`.

use std::path::PathBuf;

use cct_build::inputs::BadClasses;
use cct_build::instrument::InstrumentRequest;
use clap::{Args, value_parser};

use super::{Choices, LimitsArguments, UdiArguments};

const EXAMPLES: &str = "\
Examples:
  The class library of a JDK 8:
    cctrewrite instrument $JAVA8_HOME/jre/lib/rt.jar -o inst_rt.jar
    java $(cctrewrite flags inst_rt.jar) -cp . Main

  An application, to run on an instrumented class library:
    cctrewrite instrument app.jar --library $JAVA8_HOME/jre/lib/rt.jar -o inst_app.jar

  The class library of a JDK from 9 on, for a JDK that itself stays as it is:
    cctrewrite instrument $JAVA_HOME/lib/modules --patches -o patches
    java $(cctrewrite flags patches) -cp . Main

  As a step of a build, an application with the jars that its manifest names:
    cctrewrite instrument app.jar --class-path --if-changed --library profiled-jdk -o out/app.jar

  One class, without an index for its names:
    cctrewrite instrument classes/Main.class --library inst_rt.jar -o inst/Main.class

  Several inputs at once, into a folder; and what could not be done, for a program to read:
    cctrewrite instrument app.jar util.jar --library inst_rt.jar -o inst/ --report completeness.json

Outputs are put in their places when all of them are complete. The same inputs and options give the same bytes.";

/// Rewrite jars, folders of classes, class files, images and jmods
///
/// Give everything that belongs together in one run, or name the rest with --library. When an input
/// lies inside a JDK, the rest of that JDK's class library is looked at by itself, so that classes
/// which stay as they are are respected. The JVM's stack traces, reflection and serialisation see
/// the program as it was.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Instrument {
    /// Jars, folders of classes, class files, the image lib/modules of a JDK from 9 on, jmods
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// Where the output goes: for one input a file (for a folder of classes a folder); for several
    /// a folder, which receives one output of the same name for each
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,

    /// Of images, folders of modules and jmods, write only what changes, as jars for the JVM option
    /// --patch-module: MODULE.jar for each module. An image or a folder of modules gives a folder
    /// of them. The JDK itself stays as it is
    #[arg(long)]
    pub patches: bool,

    /// Rewrite also the jars and folders that the manifests of inputs name in their Class-Path, and
    /// those that theirs name. They go where the outputs will look for them: `lib/a.jar` beside the
    /// output of what names it
    #[arg(long)]
    pub class_path: bool,

    /// Do nothing if the outputs are up to date: made from the same inputs and libraries with the
    /// same options by this version. Contents are compared, not times
    #[arg(long)]
    pub if_changed: bool,

    /// State in the manifests of jars that and how they were instrumented: Instrumented-By,
    /// Instrumented-With. (A program that reads its own manifest, as the launcher does for -jar,
    /// executes some bytecodes more for it.)
    #[arg(long)]
    pub manifest: bool,

    #[command(flatten)]
    pub choices: Choices,

    #[command(flatten)]
    pub udi: UdiArguments,

    /// Check each rewritten class against its original before outputs are put in their places, as
    /// `cctrewrite verify` does. A finding is an error, and nothing is written
    #[arg(long)]
    pub verify: bool,

    /// Write the completeness report: every method whose treatment is not the ordinary one, and why
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Copy entries that are named like a class and hold none, instead of refusing the input; each
    /// is named in a notice
    #[arg(long)]
    pub keep_bad_classes: bool,

    /// Compression of new entries, 0 (fastest) to 9 (smallest)
    #[arg(long, value_name = "0..9", default_value_t = 6, value_parser = value_parser!(u32).range(0..=9))]
    pub level: u32,

    /// Number of threads; the output does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Say nothing but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,

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
