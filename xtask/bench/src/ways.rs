//! The ways to run a program: on the plain JDK, and on profiled images of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_tools::jdks::{Jdk, tool, without_user_options};
use xtask_tools::process;

/// A way to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// On the plain JDK.
    Plain,
    /// Everything rewritten, and nothing recorded.
    Off,
    /// Calls only.
    Calls,
    /// Calls and bytecodes, as by default.
    Exact,
    /// Exact numbers, added block by block.
    Precise,
    /// By the papers' default rule.
    Default,
    /// By default, with activation counters.
    Activation,
    /// By default, with call sites distinguished.
    Sites,
    /// By default, with contexts in the thread.
    Thread,
    /// With HotSpot's own code for methods with intrinsics.
    Native,
}

/// All ways, in the order of the tables.
pub const WAYS: [Way; 10] = [
    Way::Plain,
    Way::Off,
    Way::Calls,
    Way::Exact,
    Way::Precise,
    Way::Default,
    Way::Activation,
    Way::Sites,
    Way::Thread,
    Way::Native,
];

impl Way {
    /// The heading of its column.
    pub fn name(self) -> &'static str {
        match self {
            Way::Plain => "plain",
            Way::Off => "recording off",
            Way::Calls => "calls",
            Way::Exact => "exact",
            Way::Precise => "precise",
            Way::Default => "papers' default",
            Way::Activation => "activation",
            Way::Sites => "call sites",
            Way::Thread => "by the thread",
            Way::Native => "native",
        }
    }

    /// The options of its image; `None` for the plain JDK.
    fn image_options(self) -> Option<&'static [&'static str]> {
        match self {
            Way::Plain => None,
            Way::Off | Way::Exact => Some(&[]),
            Way::Calls => Some(&["--metrics", "calls"]),
            Way::Precise => Some(&["--blocks", "precise"]),
            Way::Default => Some(&["--blocks", "default"]),
            Way::Activation => Some(&["--activation-counters"]),
            Way::Sites => Some(&["--call-sites"]),
            Way::Thread => Some(&["--context", "thread"]),
            Way::Native => Some(&["--intrinsics", "native"]),
        }
    }
}

/// The homes of a JDK and of its images.
pub struct Homes {
    homes: Vec<(Way, PathBuf)>,
    profile: PathBuf,
}

impl Homes {
    /// Builds the images for `ways`, or takes them from the cache of images. Every run overwrites
    /// the same profile in `work`.
    ///
    /// # Errors
    /// Fails if an image cannot be built.
    pub fn of(jdk: &Jdk, cctrewrite: &Path, work: &Path, ways: &[Way]) -> Result<Homes> {
        let home = |way: &Way| -> Result<(Way, PathBuf)> {
            let home = match way.image_options() {
                None => jdk.home.clone(),
                Some(options) => image(jdk, cctrewrite, options)?,
            };
            Ok((*way, home))
        };
        Ok(Homes { homes: ways.iter().map(home).collect::<Result<_>>()?, profile: work.join("profile.cct") })
    }

    /// The home for a way.
    ///
    /// # Errors
    /// Fails if the way was not requested.
    pub fn home(&self, way: Way) -> Result<&Path> {
        let found = self.homes.iter().find(|(of, _)| *of == way);
        found.map(|(_, home)| home.as_path()).with_context(|| format!("there is no image for {}", way.name()))
    }

    /// The file of the profile.
    pub fn profile(&self) -> &Path {
        &self.profile
    }

    /// The JVM's options for a way.
    pub fn options(&self, way: Way) -> Vec<String> {
        let mut options = Vec::new();
        if way != Way::Plain {
            options.push(format!("-Dcctrewrite.out={}", self.profile.display()));
        }
        if way == Way::Off {
            options.push("-Dcctrewrite.record=off".to_owned());
        }
        options
    }

    /// `java`, run in a way.
    ///
    /// # Errors
    /// Fails if the way was not requested.
    pub fn java(&self, way: Way) -> Result<Command> {
        let mut command = tool(self.home(way)?, "java");
        command.args(self.options(way));
        Ok(command)
    }
}

/// The home of an image in the cache, which the command prints.
///
/// # Errors
/// Fails if it cannot be built.
pub fn image(jdk: &Jdk, cctrewrite: &Path, options: &[&str]) -> Result<PathBuf> {
    let mut command = Command::new(cctrewrite);
    without_user_options(&mut command);
    command.arg("jdk").arg(&jdk.home).args(["--cache", "--quiet"]).args(options);
    let printed = process::output(&mut command).context("making an image")?;
    Ok(PathBuf::from(printed.trim_end()))
}
