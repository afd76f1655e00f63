//! Arguments that leave classes out of a profile, shared by the commands that write profiles.

use anyhow::{Result, bail};
use cct_profile::Profile;
use cct_rewrite::filter::Filter;
use cct_settings::{ToolName, Worded};
use clap::Args;

/// Classes that are wanted, and those that are not.
#[derive(Debug, Clone, Args)]
pub struct WantedArguments {
    /// Keep only the contexts of classes that match, such as `com.acme.**` (repeatable)
    ///
    /// A glob over names with dots or slashes. What other classes called hangs under their nearest
    /// caller that is kept, and the profile says how much was left out
    #[arg(long, value_name = "GLOB", help_heading = "What is recorded")]
    pub only: Vec<String>,

    /// Leave out the contexts of classes that match (repeatable)
    ///
    /// A glob as for --only, over which it wins. What these classes called hangs under their
    /// nearest caller that is kept
    #[arg(long, value_name = "GLOB", help_heading = "What is recorded")]
    pub except: Vec<String>,

    /// The name of --except before 0.2
    #[arg(long, value_name = "GLOB", hide = true)]
    ignore: Vec<String>,
}

/// The contexts of a profile that are kept.
#[derive(Debug)]
pub struct Wanted {
    filter: Filter,
    rule: String,
}

impl WantedArguments {
    /// The contexts to keep; `None` for all.
    pub fn wanted(&self) -> Result<Option<Wanted>> {
        let except: Vec<String> = self.except.iter().chain(&self.ignore).cloned().collect();
        let filter = Filter::new(&self.only, &except)?;
        let only = self.only.iter().map(|glob| format!("only {glob}"));
        let rule: Vec<String> = only.chain(except.iter().map(|glob| format!("without {glob}"))).collect();
        Ok((!rule.is_empty()).then(|| Wanted { filter, rule: rule.join(", ") }))
    }

    /// Fails if classes are chosen with a tool that leaves no profile.
    pub fn check_none(&self, tool: ToolName) -> Result<()> {
        if self.wanted()?.is_some() {
            let tool = tool.name();
            bail!("--only and --except are for profiles; leave them out with --tool {tool}");
        }
        Ok(())
    }
}

impl Wanted {
    /// The profile with the kept contexts only.
    pub fn of(&self, profile: Profile) -> Result<Profile> {
        Ok(profile.wanted(|method| self.filter.records(method.class.as_bytes()), &self.rule)?)
    }
}
