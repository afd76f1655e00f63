//! The table of contents of the site.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use structure::pages::{first_heading, links};

/// mdBook's `SUMMARY.md`: a part for each shelf of `docs/README.md`, with its pages in their order.
///
/// # Errors
/// Fails if a page is missing, or has no heading.
pub fn summary(root: &Path, list: &str) -> Result<String> {
    let mut text = "# Summary\n\n[cctrewrite](README.md)\n[All pages](docs/README.md)\n".to_owned();
    for line in list.lines() {
        if let Some(shelf) = line.strip_prefix("## ") {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n# {shelf}\n\n");
        }
        for target in links(line).map(file_of).filter(|file| file.ends_with(".md")) {
            let path = match target.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None => format!("docs/{target}"),
            };
            let page = std::fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
            let title = first_heading(&page).with_context(|| format!("{path} has no heading"))?;
            let _ = writeln!(text, "- [{title}]({path})");
        }
    }
    Ok(text)
}

/// The file of a link's target, without the anchor.
fn file_of(target: &str) -> &str {
    target.split_once('#').map_or(target, |(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shelves_become_parts_and_pages_have_their_headings() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("docs/use")).unwrap();
        std::fs::write(folder.path().join("docs/use/run.md"), "# `run`: a command\n").unwrap();
        std::fs::write(folder.path().join("MAP.md"), "text\n# The map\n").unwrap();
        let list =
            "# Documentation\n\n## Use\n\n| [run.md](use/run.md) | it |\n\n[MAP.md](../MAP.md) maps.\n";
        let expected = "# Summary\n\n[cctrewrite](README.md)\n[All pages](docs/README.md)\n\n# Use\n\n\
                        - [`run`: a command](docs/use/run.md)\n- [The map](MAP.md)\n";
        assert_eq!(summary(folder.path(), list).unwrap(), expected);
        assert!(summary(folder.path(), "[x](gone.md)").is_err());
    }
}
