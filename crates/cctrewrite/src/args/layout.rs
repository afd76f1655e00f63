//! Arguments for the layout of text: width and colour.

use std::io;

use anstream::{AutoStream, ColorChoice};
use cct_profile::report::Layout;
use clap::{Args, ValueEnum};

/// The layout of text on standard output.
#[derive(Debug, Args)]
pub struct LayoutArguments {
    /// Fit lines into N columns: names are shortened in the middle [default: the terminal's width;
    /// in pipes and files no limit, for `top` 160] [text]
    #[arg(long, value_name = "N", overrides_with = "wide", help_heading = "Output", hide_short_help = true)]
    pub width: Option<usize>,

    /// Write names whole, whatever the width [text]
    #[arg(long, overrides_with = "width", help_heading = "Output", hide_short_help = true)]
    pub wide: bool,

    /// Colour of titles and large shares. `auto`: on a terminal, unless NO_COLOR is set [text]
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArgument::Auto, help_heading = "Output", hide_short_help = true)]
    pub color: ColorArgument,
}

/// When text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorArgument {
    /// On a terminal
    Auto,
    /// Also in pipes and files
    Always,
    /// Nowhere
    Never,
}

impl LayoutArguments {
    /// The layout for standard output.
    pub fn of_stdout(&self) -> Layout {
        let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
        let width = if self.wide { None } else { self.width.or_else(terminal) };
        let colour = match self.color {
            ColorArgument::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            ColorArgument::Always => true,
            ColorArgument::Never => false,
        };
        Layout { width, colour }
    }
}
