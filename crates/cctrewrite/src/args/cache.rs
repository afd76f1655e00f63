//! Arguments of `cctrewrite cache`.

use std::path::PathBuf;

use cct_build::size;
use clap::{Args, Subcommand, value_parser};

const EXAMPLES: &str = "\
Examples:
  List the cache, and what the default limits would remove:
    cctrewrite cache list
    cctrewrite cache prune --dry-run

  Remove images whose JDK is gone or that were unused for a week, then the oldest ones down to 5 GiB:
    cctrewrite cache prune --gone --unused-for 7 --max-size 5G

  Show the size of the cache:
    du -sh \"$(cctrewrite cache path)\"";

/// List or remove the images that `run`, `bench` and `jdk --cache` keep
///
/// A command that makes an image also prunes the cache. It removes images that were unused for 30
/// days, then the least recently used ones until the cache has at most 10 GiB.
/// CCTREWRITE_CACHE_LIMIT=SIZE sets another size, CCTREWRITE_CACHE_LIMIT=none turns this off.
/// Images in use are never removed. A command that unpacks its libraries into the cache removes
/// those of other builds that were unused for 30 days, unless a process has them mapped.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Cache {
    /// The subcommand
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

/// Remove images, and unpacked libraries, that are not in use
///
/// Without an option, the default limits apply: --unused-for 30 --max-size 10G.
#[derive(Debug, Args)]
pub struct CachePrune {
    #[command(flatten)]
    pub cache: CacheFolder,

    /// Remove all images and unpacked libraries
    #[arg(long)]
    pub all: bool,

    /// Remove images whose JDK is gone
    #[arg(long)]
    pub gone: bool,

    /// Remove images and libraries that were unused for more than this number of days
    #[arg(long, value_name = "DAYS", value_parser = value_parser!(u32))]
    pub unused_for: Option<u32>,

    /// Remove the least recently used images until the cache has at most this size: bytes, or with
    /// K, M or G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub max_size: Option<u64>,

    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}
