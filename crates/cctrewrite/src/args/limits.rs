//! Arguments that say how much an input may unfold.

use cct_archive::Limits;
use clap::Args;

/// Bounds on what inputs may make of themselves.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits against inputs that unfold to any size")]
pub struct LimitsArguments {
    /// Levels of archives within archives
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_depth)]
    max_depth: usize,

    /// Inflated size of a class or nested archive: bytes, or with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    max_entry: u64,

    /// Inflated size of all classes and nested archives of an input together
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = size)]
    max_total: u64,

    /// Inflated size over compressed size, from 1 MiB on
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_ratio)]
    max_ratio: u64,
}

impl LimitsArguments {
    /// As the archives take them.
    pub fn limits(&self) -> Limits {
        let LimitsArguments { max_depth, max_entry, max_total, max_ratio } = *self;
        Limits { max_depth, max_entry_bytes: max_entry, max_total_bytes: max_total, max_ratio }
    }
}

/// A number of bytes, or of KiB, MiB or GiB with K, M or G.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 10),
        Some(digits) if text.ends_with('M') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (text, 0),
    };
    let size = digits.parse().ok().and_then(|number: u64| number.checked_mul(1 << shift));
    size.ok_or_else(|| "a number of bytes, such as 4096, 512K, 64M or 2G".to_owned())
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

    #[test]
    fn sizes_have_units() {
        for (text, expected) in
            [("0", Some(0)), ("7", Some(7)), ("2K", Some(2048)), ("3M", Some(3 << 20)), ("1G", Some(1 << 30))]
        {
            assert_eq!(size(text).ok(), expected, "{text}");
        }
        for text in ["", "K", "-1", "1.5G", "1T", "99999999999G", "18446744073709551616"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
