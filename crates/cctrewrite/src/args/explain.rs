//! Arguments of `cctrewrite explain`.

use std::path::PathBuf;

use clap::Args;

use super::{Choices, LimitsArguments};

const EXAMPLES: &str = "\
Examples:
    cctrewrite explain $JAVA8_HOME/jre/lib/rt.jar java.util.ArrayList add
    cctrewrite explain app.jar com/example/Main 'main([Ljava/lang/String;)V' --blocks precise
    cctrewrite explain classes/ Main --no-code --library $JAVA8_HOME/jre/lib/rt.jar";

/// Show what `instrument` does to a class, and why
///
/// For each method: its treatment, basic blocks by both rules, updates of the activation counter,
/// how each call site calls, and the code before and after.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Explain {
    /// The jar, folder, class file, image or jmod that holds the class
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Name of the class, with dots or slashes
    #[arg(value_name = "CLASS")]
    pub class: String,

    /// Only methods of this name, or of this name and descriptor
    #[arg(value_name = "METHOD")]
    pub method: Option<String>,

    /// Do not print the code
    #[arg(long)]
    pub no_code: bool,

    #[command(flatten)]
    pub choices: Choices,

    #[command(flatten)]
    pub limits: LimitsArguments,
}
