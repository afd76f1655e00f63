//! The links of the finished site.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use structure::pages::plain;
use walkdir::WalkDir;

/// The links between pages of a site that lead nowhere, as `page: target`. Each `href` and `src`
/// must name a file of the site, and an anchor that the page has.
///
/// # Errors
/// Fails if a page cannot be read.
pub fn dead(site: &Path) -> Result<Vec<String>> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    for file in WalkDir::new(site).sort_by_file_name() {
        let file = file?;
        if file.path().extension().is_some_and(|ending| ending == "html") {
            let text = fs::read_to_string(file.path()).with_context(|| file.path().display().to_string())?;
            pages.insert(file.path().strip_prefix(site)?.to_owned(), text);
        }
    }
    let mut dead = Vec::new();
    // All pages in one, for printing: its links are those of the pages.
    for (page, text) in pages.iter().filter(|(page, _)| !is_generated(page)) {
        let folder = page.parent().unwrap_or(Path::new(""));
        for target in targets(text).filter(|target| is_of_the_site(target)) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let mut path = if file.is_empty() { page.clone() } else { plain(&folder.join(file)) };
            if file.ends_with('/') || file == "." {
                path = path.join("index.html");
            }
            let is_there = match pages.get(&path) {
                Some(text) => anchor.is_empty() || text.contains(&format!("id=\"{anchor}\"")),
                None => site.join(&path).is_file(),
            };
            if !is_there {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    dead.sort();
    dead.dedup();
    Ok(dead)
}

/// Pages that mdBook adds.
fn is_generated(page: &Path) -> bool {
    ["print.html", "404.html", "toc.html"].map(Path::new).contains(&page)
}

fn targets(page: &str) -> impl Iterator<Item = &str> {
    let after = |attribute: &'static str| {
        page.split(attribute).skip(1).filter_map(|rest| rest.split_once('"')).map(|(target, _)| target)
    };
    after(" href=\"").chain(after(" src=\""))
}

/// Links to other sites, and what scripts write, are not checked.
fn is_of_the_site(target: &str) -> bool {
    !target.contains(':') && !target.is_empty() && !target.contains("${") && !target.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_anchors_must_exist() {
        let site = tempfile::tempdir().unwrap();
        fs::create_dir(site.path().join("use")).unwrap();
        fs::write(site.path().join("index.html"), "<h1 id=\"top\">x</h1>").unwrap();
        let page = "<a href=\"../index.html#top\"></a><a href=\"../index.html#gone\"></a>\
                    <img src=\"gone.svg\"><a href=\"https://x.org\"></a><a href=\"#here\"></a>";
        fs::write(site.path().join("use/run.html"), page).unwrap();
        let expected = ["use/run.html: #here", "use/run.html: ../index.html#gone", "use/run.html: gone.svg"];
        assert_eq!(dead(site.path()).unwrap(), expected);
    }
}
