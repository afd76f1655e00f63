//! Arguments of `cctrewrite completions` and `cctrewrite man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS: &str = "\
Examples:
    cctrewrite completions bash > ~/.local/share/bash-completion/completions/cctrewrite
    cctrewrite completions zsh > ~/.zfunc/_cctrewrite
    cctrewrite completions fish > ~/.config/fish/completions/cctrewrite.fish";

/// Write a shell's completions
///
/// Prints the script to standard output. It completes commands, options and their fixed values; the
/// shell completes file names.
#[derive(Debug, Args)]
#[command(after_long_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

const MAN: &str = "\
Examples:
    cctrewrite man run | man -l -
    cctrewrite man -o ~/.local/share/man/man1";

/// Write manual pages, in the format of man(7)
///
/// The pages have the text of `--help`: cctrewrite(1) for the command, and a page such as
/// cctrewrite-run(1) for each subcommand.
#[derive(Debug, Args)]
#[command(after_long_help = MAN)]
pub struct Man {
    /// The subcommand whose page is printed [default: the page of the whole command]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub command: Option<String>,

    /// Write all pages into this folder, which must exist
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
