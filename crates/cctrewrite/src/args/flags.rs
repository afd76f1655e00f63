//! Arguments of `cctrewrite flags`.

use std::path::PathBuf;

use cct_build::jvm_options::stack_traces::{DEFAULT_DEPTH, MAX_DEPTH};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
    java $(cctrewrite flags inst_rt.jar) -cp . Main
    java $(cctrewrite flags --fast inst/rt.jar inst/jsse.jar) -jar app.jar
    java $(cctrewrite flags patches) -cp . Main

Options with characters that are special to a shell (a path with spaces) are printed in quotes.
A shell reads these quotes only with eval:
    eval \"java $(cctrewrite flags 'my jars/inst_rt.jar' --one-line) -cp . Main\"";

/// Print the JVM options that a program needs to run on rewritten outputs
///
/// Outputs of the boot class path go into -Xbootclasspath/p: (the one with java.lang.Object first,
/// then in the given order). Outputs of the extension folder go into -Djava.ext.dirs=, patches into
/// --patch-module. Put other outputs on the class path yourself; standard error names them. The
/// options that exact counting needs follow. If the class library is among the outputs, so does the
/// library that rewrites all other classes while the program runs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Flags {
    /// Outputs of `cctrewrite instrument`: jars, folders, images, jmods or patches
    #[arg(required = true, value_name = "OUTPUT")]
    pub outputs: Vec<PathBuf>,

    /// Print all options on one line [default: one option a line]
    #[arg(long)]
    pub one_line: bool,

    /// Omit the library that rewrites classes while the program runs and attributes calls by the
    /// JVM to their cause
    #[arg(long)]
    pub no_load_time: bool,

    /// Maximum number of frames in the stack trace of an exception; -1 for no limit. Use it instead
    /// of -XX:MaxJavaStackTraceDepth
    #[arg(long, value_name = "FRAMES", default_value_t = DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-1..=MAX_DEPTH))]
    pub stack_depth: i32,

    /// Add options for speed: the JVM also compiles methods that grew large, and starts its second
    /// compiler later. They do not change counts
    #[arg(long)]
    pub fast: bool,
}
