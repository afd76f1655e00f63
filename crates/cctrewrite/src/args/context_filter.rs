//! Arguments that leave classes out of a profile, shared by the commands that write profiles.

use anyhow::{Result, bail};
use cct_profile::Profile;
use cct_rewrite::filter::Filter;
use cct_settings::{NamedValues, ToolName};
use clap::Args;

/// Classes that are wanted, and those that are not.
#[derive(Debug, Clone, Args)]
pub struct WantedArguments {
    /// Keep only the contexts of classes that match, such as `com.acme.**` (repeatable)
    ///
    /// GLOB is over names with dots or slashes. Callees of dropped classes move below their nearest
    /// kept caller. The profile has a note on the dropped contexts
    #[arg(long, value_name = "GLOB", help_heading = "Recorded contexts")]
    pub only: Vec<String>,

    /// Drop the contexts of classes that match (repeatable)
    ///
    /// GLOB is as for --only, and overrides it. Callees of dropped classes move below their nearest
    /// kept caller
    #[arg(long, value_name = "GLOB", help_heading = "Recorded contexts")]
    pub except: Vec<String>,

    /// The name of --except before 0.2
    #[arg(long, value_name = "GLOB", hide = true)]
    ignore: Vec<String>,
}

/// The contexts of a profile that are kept.
#[derive(Debug)]
pub struct ContextFilter {
    filter: Filter,
    rule: String,
}

impl WantedArguments {
    /// The contexts to keep; `None` for all.
    pub fn wanted(&self) -> Result<Option<ContextFilter>> {
        let except: Vec<String> = self.except.iter().chain(&self.ignore).cloned().collect();
        let filter = Filter::new(&self.only, &except)?;
        let only = self.only.iter().map(|glob| format!("only {glob}"));
        let rule: Vec<String> = only.chain(except.iter().map(|glob| format!("without {glob}"))).collect();
        Ok((!rule.is_empty()).then(|| ContextFilter { filter, rule: rule.join(", ") }))
    }

    /// Fails if classes are chosen with a tool that leaves no profile.
    pub fn check_none(&self, tool: ToolName) -> Result<()> {
        if self.wanted()?.is_some() {
            let tool = tool.name();
            bail!("--only and --except are for profiles; leave them out, or leave out --tool {tool}");
        }
        Ok(())
    }
}

impl ContextFilter {
    /// The profile with the kept contexts only.
    pub fn of(&self, profile: Profile) -> Result<Profile> {
        Ok(profile.wanted(|method| self.filter.records(method.class.as_bytes()), &self.rule)?)
    }
}
