//! Arguments of `cctrewrite cache`.

use std::path::PathBuf;

use cct_build::size;
use clap::{Args, Subcommand, value_parser};

const EXAMPLES: &str = "\
Examples:
  What is in the cache, and what would go by the default bound:
    cctrewrite cache list
    cctrewrite cache prune --dry-run

  Images whose JDK is gone, or that nobody has used for a week; then the oldest ones down to 5 GiB:
    cctrewrite cache prune --gone --unused-for 7 --max-size 5G

  How much room it takes:
    du -sh \"$(cctrewrite cache path)\"";

/// List or remove the images that `run`, `bench` and `jdk --cache` keep
///
/// After a command has made an image, it removes images that were not used for 30 days, and those
/// that were used the longest ago until the cache has at most 10 GiB. CCTREWRITE_CACHE_LIMIT=SIZE
/// is another size, CCTREWRITE_CACHE_LIMIT=none removes nothing. An image in use is never removed.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Cache {
    /// What to do
    #[command(subcommand)]
    pub command: CacheCommand,
}

/// What can be done with the cache.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    List(CacheList),
    Prune(CachePrune),
    Path(CacheFolder),
}

/// Print the folder of the cache
#[derive(Debug, Args)]
pub struct CacheFolder {
    /// The folder of images [default: $CCTREWRITE_CACHE, else the user's cache folder]
    #[arg(long = "cache", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// List all images: size, last use, JDK and options
#[derive(Debug, Args)]
pub struct CacheList {
    #[command(flatten)]
    pub cache: CacheFolder,
}

/// Remove images that are not in use
///
/// Without an option that says which, the default bound is applied: --unused-for 30 --max-size 10G.
#[derive(Debug, Args)]
pub struct CachePrune {
    #[command(flatten)]
    pub cache: CacheFolder,

    /// Remove all images
    #[arg(long)]
    pub all: bool,

    /// Remove images whose JDK is gone
    #[arg(long)]
    pub gone: bool,

    /// Remove images that were not used for more than this number of days
    #[arg(long, value_name = "DAYS", value_parser = value_parser!(u32))]
    pub unused_for: Option<u32>,

    /// Remove images that were used the longest ago until the others have at most this size: bytes,
    /// or with K, M or G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub max_size: Option<u64>,

    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}
