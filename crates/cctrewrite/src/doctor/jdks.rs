//! The JDKs of this machine, and the trial run on some of them.

use std::path::Path;

use anyhow::Result;
use cct_build::image::home::Home;
use cct_build::jdk_homes::{self, JdkHome};
use cct_build::text::with_causes;
use cct_jdk::TESTED;

use super::page::{Page, Verdict};
use super::trial;
use crate::args::Doctor;

/// The message if no JDK is found; it says what to do.
const NO_JDK: &str = "no JDK found that can be profiled: install one, then put its `java` on the \
                      PATH, set JAVA_HOME, or name it with --jdk HOME";

/// Lists the JDKs. Returns those that can be profiled, in the order of [`jdk_homes::find`]. Reports
/// a fault if there is none, unless the arguments name a JDK.
pub fn list(arguments: &Doctor, page: &mut Page) -> Result<Vec<JdkHome>> {
    page.heading("JDKs")?;
    let mut fit = Vec::new();
    for home in jdk_homes::find() {
        let opened = Home::open(&home.path);
        let (verdict, text) = match &opened {
            Ok(opened) => described(opened),
            // `run` refuses this JDK with the same message. It is no fault, since another JDK may
            // work.
            Err(error) => (Verdict::Note, with_causes(error)),
        };
        page.line(verdict, &format!("{text} ({})", home.named_by))?;
        if opened.is_ok() {
            fit.push(home);
        }
    }
    if fit.is_empty() {
        let verdict = if arguments.jdk.is_some() { Verdict::Note } else { Verdict::Fault };
        page.line(verdict, NO_JDK)?;
    }
    Ok(fit)
}

/// The verdict on a JDK that can be profiled, and its description.
fn described(home: &Home) -> (Verdict, String) {
    let version = home.release.version().unwrap_or("of unknown version");
    let vendor = home.release.value("IMPLEMENTOR").map(|name| format!(", {name}")).unwrap_or_default();
    let path = home.path.display();
    match home.release.feature() {
        Some(feature) if TESTED.contains(&feature) => {
            (Verdict::Good, format!("JDK {version}{vendor}: {path}"))
        }
        _ => {
            let tested = TESTED.map(|version| version.to_string()).join(", ");
            (Verdict::Note, format!("JDK {version}{vendor}: {path}; tested versions: {tested}"))
        }
    }
}

/// Runs the trial on the named JDK, on all JDKs, or by default on the first one.
pub fn try_out(arguments: &Doctor, homes: &[JdkHome], page: &mut Page) -> Result<()> {
    page.heading("Trial run")?;
    let chosen: Vec<&Path> = match &arguments.jdk {
        Some(home) => vec![home],
        None if arguments.all => homes.iter().map(|home| &*home.path).collect(),
        None => homes.iter().take(1).map(|home| &*home.path).collect(),
    };
    if chosen.is_empty() {
        page.line(Verdict::Note, "skipped: no JDK")?;
    }
    for home in chosen {
        let (verdict, text) = match trial::run(home) {
            Ok(counts) => (Verdict::Good, counts),
            Err(error) => (Verdict::Fault, format!("{error:#}")),
        };
        page.line(verdict, &format!("{}: {text}", home.display()))?;
    }
    Ok(())
}
