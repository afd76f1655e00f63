//! Arguments that leave classes out of a profile, shared by the commands that write profiles.

use anyhow::{Result, bail};
use cct_profile::Profile;
use cct_rewrite::filter::Filter;
use cct_settings::{NamedValues, ToolName};
use clap::Args;

/// Classes that are kept, and those that are not.
#[derive(Debug, Clone, Args)]
pub struct OnlyArguments {
    /// Keep only the contexts of classes that match, such as `com.acme.**` (repeatable). The counts
    /// of the others are dropped; --mine adds them to your frames instead
    ///
    /// GLOB is over names with dots or slashes. Callees of dropped classes move below their nearest
    /// kept caller. The profile has a note on the dropped contexts
    #[arg(long, value_name = "GLOB", help_heading = "My code")]
    pub only: Vec<String>,

    /// Drop the contexts of classes that match (repeatable)
    ///
    /// GLOB is as for --only, and overrides it. Callees of dropped classes move below their nearest
    /// kept caller
    #[arg(long, value_name = "GLOB", help_heading = "My code", hide_short_help = true)]
    pub except: Vec<String>,
}

/// [`OnlyArguments`] of the commands that write profiles.
#[derive(Debug, Clone, Args)]
pub struct WantedArguments {
    #[command(flatten)]
    only: OnlyArguments,

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

impl OnlyArguments {
    /// The contexts to keep; `None` for all.
    pub fn wanted(&self) -> Result<Option<ContextFilter>> {
        let filter = Filter::new(&self.only, &self.except)?;
        let only = self.only.iter().map(|glob| format!("only {glob}"));
        let rule: Vec<String> =
            only.chain(self.except.iter().map(|glob| format!("without {glob}"))).collect();
        Ok((!rule.is_empty()).then(|| ContextFilter { filter, rule: rule.join(", ") }))
    }
}

impl WantedArguments {
    /// The contexts to keep; `None` for all.
    pub fn wanted(&self) -> Result<Option<ContextFilter>> {
        let OnlyArguments { only, except } = self.only.clone();
        let except = except.into_iter().chain(self.ignore.iter().cloned()).collect();
        OnlyArguments { only, except }.wanted()
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
    /// The kept classes, in words.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The profile with the kept contexts only.
    pub fn of(&self, profile: Profile) -> Result<Profile> {
        Ok(profile.wanted(|method| self.filter.records(method.class.as_bytes()), &self.rule)?)
    }
}
