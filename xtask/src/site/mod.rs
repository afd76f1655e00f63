//! `cargo xtask docs`: the pages of `docs/` as a site of static HTML with search, made by mdBook.
//!
//! [`summary`] makes the table of contents from the shelves of `docs/README.md`, [`sources`] the
//! folder that mdBook reads, [`mdbook`] finds or builds mdBook, and [`links`] checks the links of
//! what it wrote. The site needs no server and no network.

mod links;
mod mdbook;
mod sources;
mod summary;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use xtask_tools::print::print_line;
use xtask_tools::process;
use xtask_tools::workspace::{root, target_folder};

/// Options of `cargo xtask docs`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the site, which is replaced. Default: `target/site`.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Download nothing: mdBook must be installed, or in the cache folder.
    #[arg(long)]
    offline: bool,
}

/// Makes the site.
///
/// # Errors
/// Fails if mdBook is missing or fails, or if a link of the site leads nowhere.
pub fn run(arguments: &Arguments) -> Result<()> {
    let site = match &arguments.output {
        Some(folder) => std::path::absolute(folder)?,
        None => target_folder().join("site"),
    };
    if fs::read_dir(&site).is_ok_and(|mut files| files.next().is_some()) && !site.join("toc.html").exists() {
        bail!("{} has files that are no site; name another folder", site.display());
    }
    let mdbook = mdbook::find(arguments.offline)?;
    fs::create_dir_all(target_folder())?;
    let book = tempfile::Builder::new().prefix("docs-").tempdir_in(target_folder())?;
    let pages = sources::write(&root(), book.path())?;
    process::output(mdbook::command(&mdbook).arg("build").arg("--dest-dir").arg(&site).arg(book.path()))?;
    let dead = links::dead(&site)?;
    if !dead.is_empty() {
        bail!("links of the site lead nowhere:\n{}", dead.join("\n"));
    }
    let first = site.join("index.html");
    print_line(&format!("{pages} pages: {}", first.display())).context("print")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole site, where mdBook can be had without a download.
    #[test]
    fn the_site_has_all_pages_and_no_dead_link() {
        if let Err(reason) = mdbook::find(true) {
            eprintln!("skipped: {reason:#}");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site");
        run(&Arguments { output: Some(site.clone()), offline: true }).unwrap();
        for page in ["index.html", "docs/index.html", "docs/use/run.html", "ARCHITECTURE.html"] {
            assert!(site.join(page).is_file(), "{page} is missing");
        }
        let search = walkdir::WalkDir::new(&site)
            .into_iter()
            .any(|file| file.unwrap().file_name().to_string_lossy().starts_with("searchindex"));
        assert!(search, "the site has no index for its search");
    }

    #[test]
    fn a_folder_of_other_files_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "").unwrap();
        let error = run(&Arguments { output: Some(folder.path().to_owned()), offline: true }).unwrap_err();
        assert!(error.to_string().contains("no site"), "{error:#}");
        assert!(folder.path().join("mine").exists());
    }
}
