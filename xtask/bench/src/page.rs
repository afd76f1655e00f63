//! docs/benchmarks.md: one section for each benchmark, between two comment lines. The text outside
//! these stays unchanged.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xtask_tools::workspace;

/// Writes the section of this name; returns the file.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write_section(name: &str, section: &str) -> Result<PathBuf> {
    write_section_of("docs/benchmarks.md", name, section)
}

/// Writes a section of another page; returns the file.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write_section_of(page: &str, name: &str, section: &str) -> Result<PathBuf> {
    let file = workspace::root().join(page);
    let old = fs::read_to_string(&file).unwrap_or_else(|_| HEAD.to_owned());
    fs::write(&file, with_section(&old, name, section))
        .with_context(|| format!("write {}", file.display()))?;
    Ok(file)
}

const HEAD: &str =
    "# Benchmarks\n\nEach section is written by the command that it names. No test depends on a time.\n";

/// `text` with the section `name` replaced, or added at the end.
fn with_section(text: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let new = format!("{begin}{section}{end}");
    match (text.find(&begin), text.find(&end)) {
        (Some(from), Some(to)) if from < to => format!("{}{new}{}", &text[..from], &text[to + end.len()..]),
        _ => format!("{}\n\n{new}", text.trim_end()),
    }
}

/// Rounds bytes to megabytes.
pub fn megabytes(bytes: u64) -> u64 {
    (bytes + 500_000) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_added_and_then_replaced() {
        let one = with_section(HEAD, "a", "first\n");
        assert_eq!(one, format!("{HEAD}\n<!-- begin a -->\nfirst\n<!-- end a -->\n"));
        let two = with_section(&one, "b", "other\n");
        let three = with_section(&two, "a", "second\n");
        assert_eq!(
            three,
            format!(
                "{HEAD}\n<!-- begin a -->\nsecond\n<!-- end a -->\n\n<!-- begin b -->\nother\n<!-- end b -->\n"
            )
        );
    }
}
