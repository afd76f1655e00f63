//! The argument that adds up call sites, shared by the commands that look at profiles.

use anyhow::Result;
use cct_profile::Profile;
use cct_profile::pair::Input;
use clap::Args;

/// Whether call sites are kept separate.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct SitesArguments {
    /// Add up contexts that differ only in the call site. The result is the profile that `run`
    /// records without --call-sites
    #[arg(long, help_heading = "Selection", hide_short_help = true)]
    pub merge_sites: bool,
}

impl SitesArguments {
    /// The profile, with its call sites added up if the user asks for it.
    pub fn of(self, profile: Profile) -> Result<Profile> {
        Ok(if self.merge_sites { profile.without_call_sites()? } else { profile })
    }

    /// The profile or list of contexts, with its call sites added up if the user asks for it.
    pub fn of_input(self, input: Input) -> Result<Input> {
        Ok(if self.merge_sites { input.without_call_sites()? } else { input })
    }

    /// What this does to call sites, in words; `None` if nothing.
    pub fn in_words(self) -> Option<String> {
        self.merge_sites.then(|| "call sites added up".to_owned())
    }
}
