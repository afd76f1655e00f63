//! What a run works on.

use std::path::Path;

use anyhow::Result;
use cct_archive::{Input, Target};

use crate::args::Instrument;
use crate::exit::say;
use crate::inputs::Sources;
use crate::instrument::class_path;
use crate::instrument::class_path::Named;

/// What a run works on.
#[derive(Debug)]
pub struct Opened {
    /// The inputs, those behind them that manifests name, and the libraries.
    pub sources: Sources,
    /// What manifests name, if it is wanted, too: the last inputs.
    pub named: Vec<Named>,
    /// The same if it is not: only to be told what is missing.
    pub left_out: Vec<Named>,
}

impl Opened {
    /// Opens what the command line names.
    pub fn of(arguments: &Instrument) -> Result<Opened> {
        let limits = arguments.limits.limits();
        let mut inputs = Sources::open_inputs(&arguments.inputs, &limits)?;
        let found = class_path::of(&inputs, &limits);
        let (named, left_out) = if arguments.class_path {
            let (named, opened): (_, Vec<Input>) = found?.into_iter().unzip();
            inputs.extend(opened);
            (named, Vec::new())
        } else {
            (Vec::new(), found.unwrap_or_default().into_iter().map(|(named, _)| named).collect())
        };
        Ok(Opened { sources: Sources::of(inputs, &arguments.choices.library, &limits)?, named, left_out })
    }
}

/// Says what outputs will look for beside them, and not find there.
pub fn say_missing(named: &[Named], targets: &[Target]) {
    for (input, target) in targets.iter().enumerate() {
        let beside = target.path().parent().unwrap_or(Path::new(""));
        let is_missing = |n: &&Named| n.input == input && !beside.join(&n.relative).exists();
        let missing: Vec<&Named> = named.iter().filter(is_missing).collect();
        if let Some(first) = missing.first() {
            say(&format!(
                "{}: its manifest names {} ({} in all), which are not beside it; copy them there, or rewrite them too with --class-path",
                target.path().display(),
                first.relative.display(),
                missing.len()
            ));
        }
    }
}
