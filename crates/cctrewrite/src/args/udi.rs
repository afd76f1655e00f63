//! Arguments of the commands that pass classes to a user's module.

use std::path::PathBuf;
use std::time::Duration;

use cct_build::user_module::ModuleOptions;
use clap::{Args, value_parser};

/// The module, and how it is run.
#[derive(Debug, Clone, Args)]
pub struct UdiArguments {
    /// Let this user module transform each class before it is rewritten (docs/research/udi.md). It
    /// is a jar with a class that implements cctrewrite.udi.UserModule (`cctrewrite api --modules`
    /// writes that class), or a program that speaks its protocol. It runs as a separate process,
    /// and its output is checked. All outputs that run together must be made with the same module
    #[arg(long, value_name = "JAR|PROGRAM", help_heading = "Advanced", hide_short_help = true)]
    pub udi: Option<PathBuf>,

    /// The JDK that runs the module's jar [default: $JAVA_HOME, else that of `java` on the PATH]
    #[arg(
        long,
        value_name = "JAVA_HOME",
        requires = "udi",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub udi_java: Option<PathBuf>,

    /// Time limit of the module for a class, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = "Advanced", hide_short_help = true, value_parser = value_parser!(u64).range(1..))]
    udi_timeout: u64,
}

impl Default for UdiArguments {
    fn default() -> Self {
        UdiArguments { udi: None, udi_java: None, udi_timeout: 60 }
    }
}

impl UdiArguments {
    /// The options about the module for the runtime of a JVM.
    pub fn told(&self) -> Vec<(&'static str, String)> {
        let Some(module) = &self.udi else { return Vec::new() };
        // The JVM may run in another folder.
        let text = |path: &PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.display().to_string()
        };
        let java = self.udi_java.as_ref().map(|java| ("udi-java", text(java)));
        let told = [("udi", text(module)), ("udi-timeout", self.udi_timeout.to_string())];
        told.into_iter().chain(java).collect()
    }

    /// The module and how it runs.
    pub fn options(&self) -> ModuleOptions {
        ModuleOptions {
            module: self.udi.clone(),
            java: self.udi_java.clone(),
            timeout: Duration::from_secs(self.udi_timeout),
        }
    }
}
