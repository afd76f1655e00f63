//! Arguments that bound the size to which an input may unfold.

use cct_archive::Limits;
use cct_build::size;
use clap::Args;

/// Bounds on what inputs may make of themselves.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits for compressed inputs")]
pub struct LimitsArguments {
    /// Maximum depth of nested archives
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_depth)]
    max_depth: usize,

    /// Maximum inflated size of a class or nested archive: bytes, or with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size::parse)]
    max_entry: u64,

    /// Maximum inflated size of all classes and nested archives of an input
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = size::parse)]
    max_total: u64,

    /// Maximum ratio of inflated to compressed size, for entries of 1 MiB and more
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_ratio)]
    max_ratio: u64,
}

impl LimitsArguments {
    /// These arguments as [`Limits`].
    pub fn limits(&self) -> Limits {
        let LimitsArguments { max_depth, max_entry, max_total, max_ratio } = *self;
        Limits { max_depth, max_entry_bytes: max_entry, max_total_bytes: max_total, max_ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        limits: LimitsArguments,
    }

    #[test]
    fn the_defaults_are_those_of_the_archives() {
        assert_eq!(Command::parse_from(["x"]).limits.limits(), Limits::default());
    }
}
