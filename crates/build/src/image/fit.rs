//! Checks that an existing image fits the options that are given now.

use std::path::{Path, PathBuf};

use cct_image::{Record, record};
use cct_settings::Choices;

use crate::marking::Marking;

/// An image that does not fit the options that are given now.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Its record cannot be read.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// Programs on it leave another kind of output.
    #[error("{}: this JDK was made {}", .home.display(), remedy(*.left, *.asked))]
    Tool {
        /// The image.
        home: PathBuf,
        /// The kind of output that programs on it leave.
        left: ToolOutput,
        /// The kind of output that is asked for.
        asked: ToolOutput,
    },
    /// An option has another value.
    #[error(
        "{}: this JDK was made {made}, and {given} is given now; leave it out, or give a plain JDK, of which one is made with it",
        .home.display()
    )]
    Choice {
        /// The image.
        home: PathBuf,
        /// The option of the image, or its absence.
        made: String,
        /// The option that is given now.
        given: String,
    },
    /// It has other rules of markers.
    #[error(
        "{}: this JDK was made with other rules; leave out --markers and --typestate, or name a plain JDK, from which cctrewrite makes one with your rules",
        .0.display()
    )]
    Rules(PathBuf),
}

/// How an image was made that leaves another kind of output than the one asked for, and what to do.
fn remedy(left: ToolOutput, asked: ToolOutput) -> String {
    let ((what, tool), (asked, asked_tool)) = (left.words(), asked.words());
    let made = tool.map_or("to profile".to_owned(), |tool| format!("with {tool}"));
    match (tool, asked_tool) {
        (_, Some(asked_tool)) => {
            format!("{made} and leaves no {asked}; give one made with {asked_tool}, or a plain JDK")
        }
        (tool, None) => {
            format!("{made} and leaves {what}; give {}, or another JDK", tool.unwrap_or_default())
        }
    }
}

/// Fails if programs on the image in a folder leave another kind of output than the one asked for.
///
/// # Errors
/// [`FitError::Tool`], and a record that cannot be read.
pub fn check_tool(home: &Path, asked: ToolOutput) -> Result<(), FitError> {
    let options = options_of(home)?;
    let has = |option: &str| options.iter().any(|given| given == option);
    let left = match () {
        () if has("--tool=trace") => ToolOutput::Traces,
        () if has("--tool=pcc") => ToolOutput::Values,
        () if has("--tool=markers") => ToolOutput::Markers,
        () => ToolOutput::Profiles,
    };
    if left == asked { Ok(()) } else { Err(FitError::Tool { home: home.to_path_buf(), left, asked }) }
}

/// Fails if an option that is given now differs from the image's. Options that are not given are
/// taken from the image.
///
/// # Errors
/// [`FitError::Choice`], and a record that cannot be read.
pub fn check_choices(home: &Path, choices: &Choices) -> Result<(), FitError> {
    let Some(made) = recorded_options(home)? else { return Ok(()) };
    for (flag, given) in choices.given() {
        let is_of_flag = |option: &&String| {
            option.strip_prefix("--").and_then(|option| option.strip_prefix(flag)).is_some_and(is_end_of_flag)
        };
        let of_image: Vec<&String> = made.iter().filter(is_of_flag).collect();
        if of_image.iter().copied().eq(&given) {
            continue;
        }
        let made = if of_image.is_empty() {
            format!("without --{flag}")
        } else {
            format!("with {}", of_image.into_iter().cloned().collect::<Vec<_>>().join(" "))
        };
        return Err(FitError::Choice { home: home.to_path_buf(), made, given: given.join(" ") });
    }
    Ok(())
}

/// Whether the flag before this text ends there.
fn is_end_of_flag(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('=')
}

/// Whether the image in a folder checks typestate properties. `None` if the folder has no image
/// with markers alone.
///
/// # Errors
/// Fails if the image's record cannot be read.
pub fn checks_properties(home: &Path) -> Result<Option<bool>, record::Error> {
    let options = options_of(home)?;
    let is_marked = options.iter().any(|option| option == "--tool=markers");
    Ok(is_marked.then(|| options.iter().any(|option| option.starts_with("--typestate="))))
}

/// Whether the image in a folder checks typestate properties. `None` if the folder has no image
/// with markers and a calling-context tree.
///
/// # Errors
/// Fails if the image's record cannot be read.
pub fn checks_properties_beside(home: &Path) -> Result<Option<bool>, record::Error> {
    let options = options_of(home)?;
    let has = |what: &str| options.iter().any(|option| option.starts_with(what));
    let is_marked = has("--markers=") && !has("--tool=");
    Ok(is_marked.then(|| has("--typestate=")))
}

/// Fails if the image in a folder was marked by other rules or properties than those that are given
/// now.
///
/// # Errors
/// [`FitError::Rules`], and a record that cannot be read.
pub fn check_marked(home: &Path, marking: &Marking) -> Result<(), FitError> {
    let is_of_rules =
        |option: &String| option.starts_with("--markers=") || option.starts_with("--typestate=");
    let mut options = options_of(home)?;
    options.retain(is_of_rules);
    if options == marking.spelled_rules() { Ok(()) } else { Err(FitError::Rules(home.to_path_buf())) }
}

/// The kind of output that programs on an image leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutput {
    /// Profiles.
    Profiles,
    /// Traces.
    Traces,
    /// Values of contexts.
    Values,
    /// Output of marker clients, and findings about typestate properties.
    Markers,
}

impl ToolOutput {
    /// Its name in messages, and the option that makes a JDK leave it; `None` for the default.
    fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            ToolOutput::Profiles => ("profiles", None),
            ToolOutput::Traces => ("traces", Some("--tool trace")),
            ToolOutput::Values => ("values of contexts", Some("--tool pcc")),
            ToolOutput::Markers => ("what clients of markers find", Some("--tool markers")),
        }
    }
}

/// The options with which the image in a folder was made; empty if the folder is no image.
fn options_of(home: &Path) -> Result<Vec<String>, record::Error> {
    Ok(recorded_options(home)?.unwrap_or_default())
}

/// The options with which the image in a folder was made; `None` if the folder is no image.
fn recorded_options(home: &Path) -> Result<Option<Vec<String>>, record::Error> {
    let record = Record::of_image(home)?;
    Ok(record.map(|record| {
        let options = record.value("options").unwrap_or_default();
        options.split(' ').map(str::to_owned).collect()
    }))
}
