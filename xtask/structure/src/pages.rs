//! What checks and the site read of a page in Markdown.

use std::path::{Component, Path, PathBuf};

/// The text of the first heading of a page.
pub fn first_heading(page: &str) -> Option<&str> {
    page.lines().find_map(|line| line.strip_prefix("# "))
}

/// The targets of the links on a line, with their anchors.
pub fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// A path without `.` and `..`.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_no_parents() {
        assert_eq!(plain(Path::new("docs/use/../../README.md")), Path::new("README.md"));
    }

    #[test]
    fn links_have_their_anchors() {
        assert_eq!(links("[a](b.md#c) and [d](e)").collect::<Vec<_>>(), ["b.md#c", "e"]);
    }
}
