//! `cctrewrite verify`: checks that rewritten classes are their originals plus probes.

mod account;
mod pairs;
mod write;

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_archive::{Input, Limits};
use cct_build::marking;
use cct_build::threads::with_threads;
use cct_build::{jdk, output};
use cct_events::file::Places;
use cct_verify::{Expectation, StaticSide, Tool};

use crate::args::{Verify, VerifyFormat};
use crate::exit::{self, Outcome};
use crate::progress::Progress;
use crate::verify_command::account::Account;

/// Runs the command.
pub fn run(arguments: &Verify) -> Result<Outcome> {
    let account = with_threads(arguments.threads, || verify(arguments))?;
    exit::to_stdout(|out| match arguments.format {
        VerifyFormat::Text => write::text(&account, arguments.limit, arguments.quiet, out),
        VerifyFormat::Json => write::json(&account, out),
    })?;
    Ok(if account.found.is_empty() { Outcome::Complete } else { Outcome::Different })
}

fn verify(arguments: &Verify) -> Result<Account> {
    let Verify { original, rewritten, .. } = arguments;
    let given = arguments.blocks.map(Into::into);
    let mut account = Account::default();
    if is_class(original)? && is_class(rewritten)? {
        let expectation =
            Expectation { rule: given, cost_model: arguments.cost_model, ..Expectation::default() };
        let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let (findings, tally) = cct_verify::check(&read(original)?, &read(rewritten)?, expectation);
        account.add(rewritten.display().to_string(), findings, tally);
        return Ok(account);
    }
    let progress = Progress::counting("checking classes", !arguments.quiet);
    let side = static_side(rewritten)?;
    for (original, rewritten) in parts(original, rewritten)? {
        let open = |path: &Path| Input::open(path, &Limits::default());
        let (original, rewritten) = (open(&original)?, open(&rewritten)?);
        let lines = output::provenance(&rewritten)?;
        if let Some(module) = lines.as_deref().and_then(|lines| output::value(lines, "udi")) {
            bail!(
                "{} was made from classes that the module {module} changed, which are not \
                 available here; check it with `instrument --verify`",
                rewritten.path().display()
            );
        }
        let mut expectation = match lines.as_deref().map(Expectation::of) {
            Some(expectation) => expectation.with_context(|| rewritten.path().display().to_string())?,
            None => Expectation::default(),
        };
        // Outputs that have markers and also count say so in their index.
        if lines.is_none() && has_markers(arguments, &rewritten)? {
            expectation.tool = Some(Tool::Markers);
        }
        expectation.rule = given.or(expectation.rule);
        expectation.cost_model = arguments.cost_model.or(expectation.cost_model);
        pairs::check(
            &original,
            &rewritten,
            expectation,
            side.as_ref().map(|(_, side)| side),
            &progress,
            &mut account,
        )?;
    }
    account.link();
    if let Some((place, side)) = side
        && side.others(&account.originals) > 0
    {
        account.alone(place.display().to_string(), "it describes classes that are not in the class library");
    }
    Ok(account)
}

/// The static side in the home of a tracing JDK, with its path; `None` for any other folder.
fn static_side(home: &Path) -> Result<Option<(PathBuf, StaticSide)>> {
    // In JDK 8 the class library is one folder deeper.
    let places = ["lib/cctrewrite/structure", "jre/lib/cctrewrite/structure"].map(|place| home.join(place));
    let Some(path) = places.into_iter().find(|path| path.is_file()) else { return Ok(None) };
    let broken = || format!("{}: not the static side of a trace", path.display());
    let cannot = || format!("cannot read {}", path.display());
    let mut file = BufReader::new(File::open(&path).with_context(cannot)?);
    let places = Places::of(&mut file).with_context(broken)?;
    let mut side = StaticSide::default();
    for place in &places.list {
        let content = place.content(&mut file).with_context(cannot)?;
        content.and_then(|content| side.add(&content)).with_context(broken)?;
    }
    if places.cut.is_some() {
        bail!(broken());
    }
    Ok(Some((path, side)))
}

/// Whether an output has markers and nothing else. An output says so itself, or belongs to a JDK
/// with rules for classes that are defined at run time.
fn has_markers(arguments: &Verify, rewritten: &Input) -> Result<bool> {
    let is_marked_jdk = || jdk::is_home(&arguments.rewritten) && marking::image::is_in(&arguments.rewritten);
    Ok(output::entry(rewritten, marking::ENTRY)?.is_some() || is_marked_jdk())
}

/// The pairs to compare. For homes of JDKs, there is one pair for each part of the class library.
fn parts(original: &Path, rewritten: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    match (jdk::is_home(original), jdk::is_home(rewritten)) {
        (false, false) => Ok(vec![(original.to_owned(), rewritten.to_owned())]),
        (true, true) => {
            let parts = jdk::class_library_of(original).into_iter().map(|part| {
                let relative = part.strip_prefix(original)?;
                let twin = rewritten.join(relative);
                Ok((part, twin))
            });
            parts.collect()
        }
        (is_home, _) => {
            let (home, other) = if is_home { (original, rewritten) } else { (rewritten, original) };
            bail!(
                "{} is the home of a JDK and {} is not; name two homes, or two parts of a class library",
                home.display(),
                other.display()
            );
        }
    }
}

/// Whether a file is a single class.
fn is_class(path: &Path) -> Result<bool> {
    use std::io::Read;
    if path.is_dir() {
        return Ok(false);
    }
    let mut magic = [0; 4];
    let mut file = fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(file.read_exact(&mut magic).is_ok() && magic == [0xCA, 0xFE, 0xBA, 0xBE])
}
