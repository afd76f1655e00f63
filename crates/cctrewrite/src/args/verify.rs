//! Arguments of `cctrewrite verify`.

use std::path::PathBuf;

use cct_tables::CostModel;
use cct_verify::Rule;
use clap::{Args, ValueEnum, value_parser};

const EXAMPLES: &str = "\
Examples:
    cctrewrite verify $JAVA8_HOME/jre/lib/rt.jar inst_rt.jar
    cctrewrite verify app.jar inst_app.jar --limit 0
    cctrewrite verify $JAVA_HOME profiled-jdk
    cctrewrite verify classes/Main.class inst/Main.class --blocks exact
    cctrewrite verify app.jar inst_app.jar --format json > findings.json

Let `instrument` check its output before it is written:
    cctrewrite instrument app.jar --library inst_rt.jar -o inst_app.jar --verify";

/// Check rewritten classes against their originals
///
/// The check has its own algorithms. It shares only the class-file reader and tables of facts about
/// the JDK with the rewriter. It recognises probes by their shape and removes them and the added
/// members. It turns calls by extended signatures into calls by the original ones. The result must
/// be the original: instructions, operands, jump targets, exception tables, frames, lines and
/// variables, fields, flags, attributes. Then it checks the counts: on every path, the node must
/// have the executed bytecodes at the points of the rule for blocks.
///
/// Markers, alone (--tool markers) or with counts, are compared with the class's own list of
/// markers, and removed.
///
/// Anything else in a rewritten class is a finding. Parts that are recognised but not proven are
/// counted and named.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Verify {
    /// The original: a class file, jar, folder, image, jmod, or the home of a JDK
    pub original: PathBuf,

    /// The output of `instrument` (patches, too) or `jdk`
    pub rewritten: PathBuf,

    /// Rule for blocks [default: that of the output; without an index, the one that fits each class
    /// best]
    #[arg(long, value_enum)]
    pub blocks: Option<RuleArgument>,

    /// Cost model of outputs without an index: a name or a file [default: that of the output;
    /// without an index, none]
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = super::cost_model)]
    pub cost_model: Option<&'static CostModel>,

    /// Show at most N findings; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,

    /// Output format
    #[arg(long, value_enum, default_value_t = VerifyFormat::Text)]
    pub format: VerifyFormat,

    /// Number of threads; the output does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Write findings only
    #[arg(short, long)]
    pub quiet: bool,
}

/// Rules for blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleArgument {
    /// Exact wherever control may leave for good or wait
    Exact,
    /// Block by block, blocks ending where something may throw
    Precise,
    /// Block by block, blocks ending at jumps
    Default,
    /// Bytecodes are not counted
    None,
}

impl From<RuleArgument> for Rule {
    fn from(rule: RuleArgument) -> Rule {
        match rule {
            RuleArgument::Exact => Rule::Exact,
            RuleArgument::Precise => Rule::Precise,
            RuleArgument::Default => Rule::Default,
            RuleArgument::None => Rule::None,
        }
    }
}

/// Formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// A line for each finding, and a summary
    Text,
    /// JSON
    Json,
}
