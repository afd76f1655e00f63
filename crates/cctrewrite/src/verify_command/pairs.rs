//! Pairs rewritten classes with their originals, by their locations in the containers.

use std::collections::BTreeMap;

use anyhow::Result;
use cct_archive::{Input, Layout, Location};
use cct_verify::convention::class_hash;
use cct_verify::{Expectation, Finding, Links, StaticSide, Tally, check_with_links};

use crate::progress::Progress;
use crate::verify_command::account::Account;

/// The role of a class in the output.
enum ClassRole {
    /// The counterpart of an original.
    Twin { key: String, findings: Vec<Finding>, tally: Box<Tally>, links: Option<Box<Links>> },
    /// A class of the runtime.
    Runtime,
    /// A class without an original.
    Extra,
}

/// Checks all classes of an output, in parallel.
pub fn check(
    original: &Input,
    rewritten: &Input,
    expectation: Expectation,
    side: Option<&StaticSide>,
    progress: &Progress,
    account: &mut Account,
) -> Result<()> {
    let originals = original.survey(|at, bytes| Ok::<_, anyhow::Error>((key(at, false), bytes.to_vec())))?;
    let originals: BTreeMap<String, Vec<u8>> = originals.classes.into_iter().collect();
    if side.is_some() {
        account.originals.extend(originals.values().map(|bytes| class_hash(bytes)));
    }
    // Patches for modules are jars, one for each module.
    let is_patches = original.layout() == Layout::Modules && rewritten.layout() == Layout::Plain;
    let is_patch = is_patches || original.layout() != rewritten.layout();
    let seen = rewritten.survey(|at, bytes| {
        let key = key(at, is_patches);
        progress.step();
        let seen = match originals.get(&key) {
            Some(original) => {
                let (findings, tally, links) = check_with_links(original, bytes, expectation, side);
                ClassRole::Twin { key, findings, tally: Box::new(tally), links: links.map(Box::new) }
            }
            None if is_runtime(&key) => ClassRole::Runtime,
            None => ClassRole::Extra,
        };
        Ok::<_, anyhow::Error>((at.to_string(), seen))
    })?;
    let mut left: BTreeMap<&str, ()> = originals.keys().map(|key| (&**key, ())).collect();
    for (place, seen) in seen.classes {
        match seen {
            ClassRole::Twin { key, findings, tally, links } => {
                account.links.extend(links.map(|links| *links));
                left.remove(&*key);
                account.add(place, findings, *tally);
            }
            ClassRole::Runtime => account.runtime += 1,
            ClassRole::Extra => account.alone(place, "the original has no such class"),
        }
    }
    for key in left.into_keys() {
        if is_patch {
            account.left_out += 1
        } else {
            account.alone(
                format!("{}: {key}", original.path().display()),
                "the class is missing from the output",
            )
        }
    }
    Ok(())
}

/// The location of a class in the terms of the class path: module, nested archives, path.
/// `is_patches` says whether archives at the top stand for modules.
fn key(at: &Location<'_>, is_patches: bool) -> String {
    let name = &*at.entry.name;
    if at.archive.depth() == 0 {
        return match at.archive.layout().path(name) {
            Some((Some(module), path)) => format!("{module}/{path}"),
            Some((None, path)) => path.to_owned(),
            None => name.to_owned(),
        };
    }
    // The part after the path of the input, which the user gave.
    let whole = at.to_string();
    let given = at.archive.input_path().display().to_string();
    let inside = whole.strip_prefix(&given).unwrap_or(&whole).trim_start_matches(['!', '/']);
    match inside.split_once(".jar!/") {
        Some((module, path)) if is_patches => format!("{module}/{path}"),
        _ => inside.to_owned(),
    }
}

/// Whether a class belongs to the runtime, which comes with the class library.
fn is_runtime(key: &str) -> bool {
    let path = key.split_once('/').filter(|(module, _)| module.contains('.')).map_or(key, |(_, path)| path);
    path.starts_with("java/lang/Cct") || path.starts_with("cctrewrite/")
}
