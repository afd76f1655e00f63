//! `cctrewrite flags`: the JVM options that put outputs in place, and those that exact numbers need.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cct_archive::{INDEX_NAME, Input, Limits};

use crate::args::Flags;
use crate::exactness;
use crate::exit;
use crate::load_time;
use crate::output;
use crate::place::{PLACE_NAME, Place};
use crate::reproducible;
use crate::traces;

/// The boot class path can be put together by options up to JDK 8 only.
const JDK: u16 = 8;

/// An output of `instrument`.
struct Output {
    /// As it was named.
    shown: PathBuf,
    /// Absolute, without `.`, `..` and links.
    path: PathBuf,
    place: Place,
    has_object: bool,
    provenance: String,
}

/// Runs the command.
pub fn run(arguments: &Flags) -> Result<()> {
    let mut outputs = Vec::new();
    for path in &arguments.outputs {
        outputs.push(Output::open(path)?);
    }
    for (i, first) in outputs.iter().enumerate() {
        for second in &outputs[..i] {
            let [(a, its), (b, others)] =
                [second, first].map(|o| (o.shown.display().to_string(), &*o.provenance));
            output::check_fit((&a, its), (&b, others))?;
        }
    }
    let mut options = placing(&outputs)?;
    let has_object = outputs.iter().any(|output| output.has_object);
    if has_object && !arguments.no_load_time {
        match load_time::library() {
            Some(path) => options.push(format!("-Dcctrewrite.loadtime={}", path_list([&*path])?)),
            None => exit::say(&format!("cctrewrite: {}", load_time::missing())),
        }
    }
    options.extend(traces::spelled(arguments.stack_depth, 8));
    // All agree in this.
    let bodies = outputs.iter().all(|o| output::value(&o.provenance, "intrinsics") != Some("native"));
    options.extend(exactness::spelled(bodies));
    if outputs.iter().any(|o| output::value(&o.provenance, "reproducible") == Some("yes")) {
        options.extend(reproducible::spelled(JDK));
    }
    if arguments.fast {
        options.extend(exactness::FAST.iter().map(|&option| option.to_owned()));
    }
    for hint in hints(&outputs)? {
        exit::say(&format!("cctrewrite: {hint}"));
    }
    let separator = if arguments.one_line { " " } else { "\n" };
    let options: Vec<String> = options.iter().map(|option| quoted(option)).collect();
    exit::to_stdout(|out| writeln!(out, "{}", options.join(separator)))
}

impl Output {
    fn open(path: &Path) -> Result<Output> {
        let input = Input::open(path, &Limits::default())?;
        let again =
            |what: String| anyhow!("{}: {what}; make it with `cctrewrite instrument`", path.display());
        let provenance = output::provenance(&input)?;
        let provenance = provenance
            .ok_or_else(|| again(format!("not an output of cctrewrite (it has no {INDEX_NAME})")))?;
        let place = output::entry(&input, PLACE_NAME)?.and_then(|text| Place::parse(&text));
        let place =
            place.ok_or_else(|| again(format!("it does not say where it belongs (in {PLACE_NAME})")))?;
        let has_object = output::has_object(&input);
        let cannot = || format!("{}: cannot find", path.display());
        let absolute = fs::canonicalize(path).with_context(cannot)?;
        Ok(Output { shown: path.to_path_buf(), path: absolute, place, has_object, provenance })
    }

    fn is(&self, place: Place) -> bool {
        self.place == place
    }
}

/// The options that put outputs in place.
fn placing(outputs: &[Output]) -> Result<Vec<String>> {
    let mut boot: Vec<&Output> = outputs.iter().filter(|output| output.is(Place::Boot)).collect();
    if let [first, second, ..] = *boot.iter().copied().filter(|output| output.has_object).collect::<Vec<_>>()
    {
        let (first, second) = (first.shown.display(), second.shown.display());
        bail!("{first} and {second} both have java.lang.Object; give one class library");
    }
    // The runtime is beside java.lang.Object. Stable: the others keep their order.
    boot.sort_by_key(|output| !output.has_object);
    let folders: BTreeSet<&Path> = outputs
        .iter()
        .filter(|output| output.is(Place::Extension))
        .filter_map(|output| output.path.parent())
        .collect();
    let mut options = Vec::new();
    if !boot.is_empty() {
        options.push(format!("-Xbootclasspath/p:{}", path_list(boot.iter().map(|output| &*output.path))?));
    }
    if !folders.is_empty() {
        options.push(format!("-Djava.ext.dirs={}", path_list(folders)?));
    }
    Ok(options)
}

fn path_list<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<String> {
    let joined = std::env::join_paths(paths).context("this path cannot stand in a list of paths")?;
    joined.into_string().map_err(|path| anyhow!("{} is not Unicode; rename it", path.display()))
}

/// What a user must know or do beside passing the options.
fn hints(outputs: &[Output]) -> Result<Vec<String>> {
    let mut hints = Vec::new();
    if !outputs.iter().any(|output| output.has_object) {
        hints.push("none of these outputs has java.lang.Object; give the instrumented rt.jar too".to_owned());
    }
    let extensions: Vec<&Output> = outputs.iter().filter(|output| output.is(Place::Extension)).collect();
    let folders: BTreeSet<&Path> = extensions.iter().filter_map(|output| output.path.parent()).collect();
    for folder in folders {
        let others = other_jars(folder, &extensions)?;
        let folder = folder.display();
        if !others.is_empty() {
            hints.push(format!(
                "all jars in {folder} will be loaded as extensions, also these, which are no outputs for that place: {}",
                others.join(", ")
            ));
        }
        hints.push(format!(
            "{folder} replaces the JDK's extension folder: what is not in it (uninstrumented extensions too) is missing"
        ));
    }
    for output in outputs {
        let path = output.shown.display();
        match output.place {
            Place::Image => hints.push(format!(
                "{path} takes the place of lib/modules in a copy of the JDK that it was made from; run that with -Xshare:off, as the JDK's class \
                 data archive does not fit it"
            )),
            Place::Jmod => hints.push(format!("{path} is for jlink, together with all other jmods of the same run")),
            _ => {}
        }
    }
    for output in outputs.iter().filter(|output| output.is(Place::Application)) {
        let (path, word) = (output.shown.display(), quoted(&output.shown.display().to_string()));
        hints.push(format!(
            "put {path} on the class path in place of what it was made from (java ... -cp {word})"
        ));
    }
    Ok(hints)
}

/// Names of the jars in a folder that are none of `known`, sorted.
fn other_jars(folder: &Path, known: &[&Output]) -> Result<Vec<String>> {
    let cannot = || format!("cannot list {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let is_jar = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar"));
        if is_jar && !known.iter().any(|output| output.path == path) {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// In single quotes, if a POSIX shell would not take it for one word otherwise.
fn quoted(option: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_+=:,./@%".contains(c);
    if option.chars().all(plain) { option.to_owned() } else { format!("'{}'", option.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_them_gets_quotes() {
        assert_eq!(quoted("-Xbootclasspath/p:/a/b-1.jar:/c"), "-Xbootclasspath/p:/a/b-1.jar:/c");
        assert_eq!(quoted("-X:/my jars/it's"), r"'-X:/my jars/it'\''s'");
        assert_eq!(quoted("-X:$HOME"), "'-X:$HOME'");
    }
}
