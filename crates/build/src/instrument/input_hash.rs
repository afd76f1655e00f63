//! Checks whether outputs are up to date. Each output has one hash over what it was made from (in
//! `cctrewrite-output/place`).

use std::path::Path;

use cct_archive::{Input, Limits, Target};
use cct_jdk::convention;
use xxhash_rust::xxh3::Xxh3;

use super::request::InstrumentRequest;
use crate::fingerprint::{opened, text};
use crate::image::tree::TreeError;
use crate::inputs::{BadClasses, Sources, TOOL};
use crate::marking::TreeMarking;
use crate::output;
use crate::place::{PLACE_NAME, made_from};
use crate::user_module::{Module, UnreadableModule};

/// Inputs of a run that cannot be hashed.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// The user's module cannot be read.
    #[error(transparent)]
    Module(#[from] UnreadableModule),
    /// An input or library cannot be read.
    #[error(transparent)]
    Input(#[from] TreeError),
}

/// The hash over everything that determines a run's outputs: the contents of inputs and libraries,
/// the options, the version of this program, and its runtime. It covers no path and no time.
///
/// # Errors
/// Fails if an input, a library or the user's module cannot be read.
pub fn of(
    request: &InstrumentRequest,
    sources: &Sources,
    beside: Option<&TreeMarking>,
) -> Result<String, HashError> {
    // The other fields are covered by `sources`, or affect only the outputs' paths, the report,
    // messages or speed.
    let InstrumentRequest { choices, module, patches, manifest, bad, level, .. } = request;
    let mut hash = Xxh3::new();
    text(&mut hash, TOOL.as_bytes());
    text(&mut hash, convention::SCHEME.to_string().as_bytes());
    for (name, bytes) in jdk_wrap::classes() {
        text(&mut hash, name.as_bytes());
        text(&mut hash, bytes);
    }
    for word in choices.spelled() {
        text(&mut hash, word.as_bytes());
    }
    if let Some(beside) = beside {
        for (name, bytes) in jdk_wrap::markers_of_tree() {
            text(&mut hash, name.as_bytes());
            text(&mut hash, bytes);
        }
        for word in beside.spelled() {
            text(&mut hash, word.as_bytes());
        }
    }
    if let Some(module) = Module::of(module)? {
        text(&mut hash, b"udi");
        text(&mut hash, module.identity.as_bytes());
    }
    for flag in [*patches, *manifest, *bad == BadClasses::Keep] {
        text(&mut hash, &[u8::from(flag)]);
    }
    text(&mut hash, &level.to_le_bytes());
    for (role, list) in [("input", &sources.inputs), ("library", &sources.libraries)] {
        for input in list {
            text(&mut hash, role.as_bytes());
            opened(&mut hash, input)?;
        }
    }
    Ok(format!("{:032x}", hash.digest128()))
}

/// Whether all outputs exist with this hash, and the report exists if one is wanted. An output that
/// cannot be read is not current.
pub fn is_current(hash: &str, targets: &[Target], report: Option<&Path>) -> bool {
    let says_so = |target: &Target| {
        let input = Input::open(target.path(), &Limits::default()).ok()?;
        let place = output::entry(&input, PLACE_NAME).ok()??;
        Some(made_from(&place)? == hash)
    };
    targets.iter().all(|target| says_so(target) == Some(true)) && report.is_none_or(Path::is_file)
}
