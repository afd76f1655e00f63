//! Programs described by a folder below `fixtures/programs/maven`: `program.toml`, the lock file of
//! their jars, and their sources.
//!
//! To add a program, create a folder and run `cargo xtask programs --lock NAME`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};
use xtask_tools::workspace;

use super::maven::{self, CENTRAL};
use super::program::{Before, Mask, MaskedParts, NOTHING, Program};

/// The description of a program, in its folder.
const DESCRIPTION: &str = "program.toml";

/// The names and hashes of its jars, in its folder.
const LOCK: &str = "jars.lock";

/// The keys of a description.
const KEYS: [&str; 9] =
    ["about", "jdks", "maven", "input", "main", "options", "arguments", "before", "masks"];

/// All programs, by name.
///
/// # Errors
/// Fails if a description does not follow docs/internals/programs.md.
pub fn read() -> Result<&'static [Program]> {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    if let Some(programs) = PROGRAMS.get() {
        return Ok(programs);
    }
    let programs = read_from(&folder())?;
    Ok(PROGRAMS.get_or_init(|| programs))
}

/// The file with the names and hashes of a program's jars.
pub fn lock_file(program: &str) -> PathBuf {
    folder().join(program).join(LOCK)
}

fn folder() -> PathBuf {
    workspace::root().join("fixtures/programs").join(CENTRAL)
}

fn read_from(folder: &Path) -> Result<Vec<Program>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let entry = entry?;
        if entry.path().join(DESCRIPTION).is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    names.iter().map(|name| program(folder, name).with_context(|| format!("{name}/{DESCRIPTION}"))).collect()
}

/// A text that lives as long as the task: there is one catalogue.
fn forever(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn list_forever<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

fn program(folder: &Path, name: &str) -> Result<Program> {
    let folder = folder.join(name);
    let table: Table = fs::read_to_string(folder.join(DESCRIPTION))?.parse()?;
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        bail!("unknown key {key}; the keys are {}", KEYS.join(", "));
    }
    let lock = folder.join(LOCK);
    // Without a lock file there are no jars yet: `--lock` must be run.
    let locked = if lock.is_file() { maven::parse_lock(&fs::read_to_string(&lock)?)? } else { Vec::new() };
    let jars = locked.iter().map(|jar| forever(&jar.name)).collect();
    let jdks = match table.get("jdks") {
        Some(Value::Array(versions)) => versions
            .iter()
            .map(|version| version.as_integer().and_then(|v| u32::try_from(v).ok()).context("jdks: numbers"))
            .collect::<Result<Vec<u32>>>()?,
        _ => bail!("jdks: a list of versions is missing"),
    };
    Ok(Program {
        name: forever(name),
        about: text(&table, "about")?,
        jdks: list_forever(jdks),
        suite: CENTRAL,
        packages: list_forever(texts(&table, "maven")?),
        jars: list_forever(jars),
        input: list_forever(inputs(&folder, name, &texts(&table, "input")?)?),
        before: before(&table)?,
        options: list_forever(texts(&table, "options")?),
        main: text(&table, "main")?,
        arguments: list_forever(texts(&table, "arguments")?),
        masks: list_forever(masks(&table)?),
        ..NOTHING
    })
}

fn text(table: &Table, key: &str) -> Result<&'static str> {
    table.get(key).and_then(Value::as_str).map(forever).with_context(|| format!("{key}: a text is missing"))
}

fn texts(table: &Table, key: &str) -> Result<Vec<&'static str>> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let list = value.as_array().with_context(|| format!("{key}: must be a list of texts"))?;
    let text = |value: &Value| value.as_str().map(forever);
    list.iter().map(text).collect::<Option<_>>().with_context(|| format!("{key}: must be a list of texts"))
}

fn before(table: &Table) -> Result<Option<Before>> {
    let Some(value) = table.get("before") else { return Ok(None) };
    let table = value.as_table().context("before: must be a table with main and arguments")?;
    Ok(Some(Before { main: text(table, "main")?, arguments: list_forever(texts(table, "arguments")?) }))
}

fn masks(table: &Table) -> Result<Vec<Mask>> {
    let Some(value) = table.get("masks") else { return Ok(Vec::new()) };
    let list = value.as_array().context("masks: must be a list of tables")?;
    let mask = |value: &Value| {
        let table = value.as_table().context("masks: must be a list of tables")?;
        let lines = texts(table, "lines")?;
        let what =
            if lines.is_empty() { MaskedParts::Content } else { MaskedParts::Lines(list_forever(lines)) };
        Ok(Mask { file: text(table, "file")?, what })
    };
    list.iter().map(mask).collect()
}

/// All other files of the folder, and those of other programs' folders that the description names.
/// They are copied to the folder in which the program runs.
fn inputs(folder: &Path, name: &str, of_others: &[&str]) -> Result<Vec<&'static str>> {
    let mut inputs: Vec<String> = of_others.iter().map(|file| format!("{CENTRAL}/{file}")).collect();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        if ![DESCRIPTION, LOCK].contains(&&*file) && entry.file_type()?.is_file() {
            inputs.push(format!("{CENTRAL}/{name}/{file}"));
        }
    }
    inputs.sort();
    Ok(inputs.iter().map(|input| forever(input)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_its_lock_and_its_sources() {
        for program in read().unwrap() {
            assert!(!program.packages.is_empty(), "{}: no coordinates", program.name);
            assert!(!program.jars.is_empty(), "{}: cargo xtask programs --lock {0}", program.name);
        }
    }

    #[test]
    fn a_mistyped_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("p")).unwrap();
        fs::write(folder.path().join("p").join(DESCRIPTION), "about = \"x\"\njdk = [17]\n").unwrap();
        let error = format!("{:#}", read_from(folder.path()).err().unwrap());
        assert!(error.contains("p/program.toml: unknown key jdk"), "{error}");
    }
}
