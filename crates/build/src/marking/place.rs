//! The JVM options for outputs of `--tool markers`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cct_archive::{Input, Limits};

use super::{BESIDE, CHECKER, ENTRY, JAR, TYPESTATE, tables_of};
use crate::output;
use crate::place::RESOLVED_NAME;

/// The JVM options for these outputs; `None` if none of them is an output of `--tool markers`.
pub fn flags(outputs: &[PathBuf]) -> Result<Option<Vec<String>>> {
    let (mut beside, mut options) = (None, Vec::new());
    let (mut others, mut has_runtime) = (0, false);
    let mut tables: Vec<PathBuf> = Vec::new();
    for path in outputs {
        let input = Input::open(path, &Limits::default())?;
        let Some(lines) = output::entry(&input, ENTRY)? else {
            others += 1;
            continue;
        };
        let lines = String::from_utf8_lossy(&lines);
        if lines.lines().any(|line| line == BESIDE) {
            others += 1;
            continue;
        }
        if lines.lines().any(|line| line == TYPESTATE) {
            tables.push(existing_tables(path)?);
        }
        match output::value(&lines, "place") {
            Some("boot") => {
                options.push(format!("-Xbootclasspath/p:{}", unicode(fs::canonicalize(path)?)?));
                has_runtime |= output::has_object(&input);
            }
            Some("patches") => {
                has_runtime = true;
                let resolved = output::lines(&input, RESOLVED_NAME)?.unwrap_or_default();
                options.extend(patches(path, &resolved.into_iter().collect())?);
            }
            _ => {
                let folder = path.parent().unwrap_or(Path::new(""));
                beside.get_or_insert(folder.join(JAR));
            }
        }
    }
    if beside.is_none() && options.is_empty() {
        return Ok(None);
    }
    if others > 0 {
        bail!(
            "some of these outputs have markers alone, and others a calling-context tree; they do not run together"
        );
    }
    if let (Some(jar), false) = (beside, has_runtime) {
        let found = fs::canonicalize(&jar).with_context(|| {
            format!("{}: not there; `cctrewrite markers jar -o {0}` writes it again", jar.display())
        })?;
        options.push(format!("-Xbootclasspath/a:{}", unicode(found)?));
    }
    options.extend(of_properties(&tables)?);
    Ok(Some(options))
}

/// The JVM options for outputs with markers and a calling-context tree. Only outputs with
/// properties need any: the client that checks properties, and its tables.
pub fn flags_beside(outputs: &[PathBuf]) -> Result<Vec<String>> {
    let mut tables = Vec::new();
    for path in outputs {
        let input = Input::open(path, &Limits::default())?;
        let Some(lines) = output::entry(&input, ENTRY)? else { continue };
        if String::from_utf8_lossy(&lines).lines().any(|line| line == TYPESTATE) {
            let file = existing_tables(path)?;
            // Class library and program may have tables of the same properties.
            let same = |other: &PathBuf| fs::read(other).ok() == fs::read(&file).ok();
            if !tables.iter().any(same) {
                tables.push(file);
            }
        }
    }
    of_properties(&tables)
}

/// The path of the tables of properties, which lie beside an output. Fails if they are missing.
fn existing_tables(output: &Path) -> Result<PathBuf> {
    let file = tables_of(output);
    fs::canonicalize(&file).with_context(|| {
        format!("{}: not there; it was written with the output, from the properties", file.display())
    })
}

fn of_properties(tables: &[PathBuf]) -> Result<Vec<String>> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let tables = std::env::join_paths(tables).context("a list of paths cannot contain this path")?;
    Ok(vec![
        format!("-Dcctrewrite.markers.clients={CHECKER}"),
        format!("-Dcctrewrite.typestate={}", unicode(PathBuf::from(tables))?),
    ])
}

/// The options for the jars of modules that a JVM resolves; it would warn of the other modules.
fn patches(folder: &Path, resolved: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut options = Vec::new();
    let cannot = || format!("cannot list {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let Some(module) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".jar")) else {
            continue;
        };
        if resolved.contains(module) {
            options.push(format!("--patch-module={module}={}", unicode(fs::canonicalize(&path)?)?));
        }
    }
    options.sort();
    // For clients, and for programs with markers.
    options.push("--add-exports=java.base/cctrewrite.markers=ALL-UNNAMED".to_owned());
    Ok(options)
}

fn unicode(path: PathBuf) -> Result<String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow!("{} is not Unicode; rename it", path.display()))
}
