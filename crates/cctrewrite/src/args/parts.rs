//! Arguments that change which contexts of a profile are seen, shared by the commands that show
//! profiles.

use anyhow::Result;
use clap::Args;

use super::{ContextFilter, LibraryArguments, OnlyArguments, SitesArguments};

/// Classes, call sites and the library.
#[derive(Debug, Clone, Args)]
pub struct PartArguments {
    #[command(flatten)]
    pub sites: SitesArguments,

    #[command(flatten)]
    pub library: LibraryArguments,

    #[command(flatten)]
    pub only: OnlyArguments,
}

impl PartArguments {
    /// What these arguments do, in words.
    pub fn in_words(&self) -> Result<Vec<String>> {
        let wanted = self.only.wanted()?;
        let library = self.library.library()?;
        let collapsed = library.map(|library| format!("{} as (library)", library.which()));
        let kept = wanted.as_ref().map(ContextFilter::rule).map(|rule| format!("classes: {rule}"));
        Ok(self.sites.in_words().into_iter().chain(collapsed).chain(kept).collect())
    }
}
