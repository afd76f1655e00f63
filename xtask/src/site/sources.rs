//! The folder that mdBook reads.
//!
//! Pages keep their paths from the root of the repository, so that links between them stay as they
//! are. Links to other files of the repository lose their target.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use structure::pages::{first_heading, plain};
use walkdir::WalkDir;

use super::summary::summary;

/// Pages outside of `docs/`.
const OTHERS: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "fixtures/README.md"];

/// Endings of the files that pages show.
const PICTURES: [&str; 2] = ["svg", "png"];

const CONFIGURATION: &str = r#"[book]
title = "cctrewrite"
description = "Exact calling-context trees of Java programs"
language = "en"
src = "src"

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true
"#;

/// Writes mdBook's configuration, table of contents and pages into `book`; returns the number of
/// pages.
///
/// # Errors
/// Fails if a page cannot be read, or a file not be written.
pub fn write(root: &Path, book: &Path) -> Result<usize> {
    let list = fs::read_to_string(root.join("docs/README.md")).context("docs/README.md")?;
    let mut contents = summary(root, &list)?;
    let mut pages: BTreeSet<PathBuf> = OTHERS.map(PathBuf::from).into();
    let mut pictures = BTreeSet::new();
    for file in WalkDir::new(root.join("docs")).sort_by_file_name() {
        let file = file?;
        let path = file.path().strip_prefix(root)?.to_owned();
        match file.path().extension().and_then(|ending| ending.to_str()) {
            Some("md") => drop(pages.insert(path)),
            Some(ending) if PICTURES.contains(&ending) => drop(pictures.insert(path)),
            _ => {}
        }
    }
    // mdBook makes only the pages of its table of contents.
    for page in OTHERS {
        if contents.contains(&format!("]({page})")) {
            continue;
        }
        let text = fs::read_to_string(root.join(page)).with_context(|| page.to_owned())?;
        let title = first_heading(&text).with_context(|| format!("{page} has no heading"))?;
        contents += &format!("- [{title}]({page})\n");
    }
    let there = |path: &Path| pages.contains(path) || pictures.contains(path);
    let source = book.join("src");
    for page in &pages {
        let text = fs::read_to_string(root.join(page)).with_context(|| page.display().to_string())?;
        let folder = page.parent().unwrap_or(Path::new(""));
        let text = adapted(&text, |target| there(&plain(&folder.join(target))));
        put(&source.join(in_site(&page.to_string_lossy())), text.as_bytes())?;
    }
    for picture in &pictures {
        put(&source.join(picture), &fs::read(root.join(picture))?)?;
    }
    put(&source.join("SUMMARY.md"), adapted(&contents, |_| true).as_bytes())?;
    put(&book.join("book.toml"), CONFIGURATION.as_bytes())?;
    Ok(pages.len())
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
}

/// A page in which links to files that are not `there` are only their text, and links to the first
/// page of a folder have its name in the site.
fn adapted(page: &str, there: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(page.len());
    let mut code = false;
    for line in page.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code || line.starts_with("    ") {
            kept.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some((label, after)) = rest.split_once("](") {
            let Some((target, end)) = after.split_once(')') else { break };
            kept.push_str(label);
            let (file, anchor) =
                target.split_once('#').map_or((target, None), |(file, name)| (file, Some(name)));
            if file.is_empty() || file.contains("://") || there(file) {
                let anchor = anchor.map(|name| format!("#{name}")).unwrap_or_default();
                kept.extend(["](", &in_site(file), &anchor, ")"]);
            } else if let Some(opening) = kept.rfind('[') {
                kept.remove(opening);
            }
            rest = end;
        }
        kept.push_str(rest);
    }
    kept
}

/// The path of a page among mdBook's sources: mdBook makes `index.html` of a README, but leaves
/// links to it as they are.
pub fn in_site(path: &str) -> String {
    match path.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_outside_are_text() {
        let page =
            "See [a](a.md#x), [the\nmodel](../m.toml) and [it](https://x.org).\n    [code](../m.toml)\n";
        let expected = "See [a](a.md#x), the\nmodel and [it](https://x.org).\n    [code](../m.toml)\n";
        assert_eq!(adapted(page, |target| target == "a.md"), expected);
    }

    #[test]
    fn first_pages_of_folders_have_another_name() {
        assert_eq!(adapted("[x](../README.md#y)", |_| true), "[x](../index.md#y)");
    }
}
