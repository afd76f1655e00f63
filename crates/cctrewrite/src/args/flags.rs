//! Arguments of `cctrewrite flags`.

use std::path::PathBuf;

use cct_build::jvm_options::stack_traces::{DEFAULT_DEPTH, MAX_DEPTH};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
    java $(cctrewrite flags inst_rt.jar) -cp . Main
    java $(cctrewrite flags --fast inst/rt.jar inst/jsse.jar) -jar app.jar
    java $(cctrewrite flags patches) -cp . Main

An option with characters that are special to a shell (a path with spaces) is printed in quotes.
A shell heeds them only when it reads the whole command again:
    eval \"java $(cctrewrite flags 'my jars/inst_rt.jar' --one-line) -cp . Main\"";

/// Print the JVM options that a program needs to run on rewritten outputs
///
/// Outputs made from the boot class path go to -Xbootclasspath/p: (the one with java.lang.Object
/// first, then in the order given), those made from the extension folder to -Djava.ext.dirs=,
/// patches to --patch-module. Others belong on the class path, which is yours; standard error says
/// so. Then come the library that rewrites all other classes while the program runs, if the class
/// library is among the outputs, and the options that exact counting needs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Flags {
    /// Outputs of `cctrewrite instrument`: jars, folders, images, jmods or patches
    #[arg(required = true, value_name = "OUTPUT")]
    pub outputs: Vec<PathBuf>,

    /// All options on one line [default: one option on each line]
    #[arg(long)]
    pub one_line: bool,

    /// Leave out the library that rewrites classes while the program runs, and finds the cause of
    /// what the JVM calls by itself
    #[arg(long)]
    pub no_load_time: bool,

    /// How many frames the stack trace of an exception has at most; -1 for no limit. Give here what
    /// would be -XX:MaxJavaStackTraceDepth without cctrewrite
    #[arg(long, value_name = "FRAMES", default_value_t = DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-1..=MAX_DEPTH))]
    pub stack_depth: i32,

    /// Add options for speed: the JVM compiles methods that have become large, too, and its second
    /// compiler later. They change no number
    #[arg(long)]
    pub fast: bool,
}
