//! `cargo xtask readers`: foreign programs that read the outputs of `cctrewrite export` and
//! `cctrewrite report --html`, fetched into the cache folder.
//!
//! The tests of `crates/export` compare the exports with them (docs/use/exports.md), those of
//! `crates/cctrewrite` open pages in the browser (docs/use/html.md). They come from Debian's
//! packages, npm and PyPI, each in a version that is stated here; of large packages only the
//! necessary files are kept. Nothing is installed.

mod browsers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use walkdir::WalkDir;
use xtask_programs::npm;
use xtask_tools::cache::{self, FolderLock};
use xtask_tools::debian::{Archive, unpack};
use xtask_tools::jdks::Fetch;
use xtask_tools::print::print_line;
use xtask_tools::process;

use browsers::{CHROMIUM_NEEDS, FIREFOX_NEEDS};

/// The environment variable with the readers' folder for the tests.
pub const VARIABLE: &str = "CCTREWRITE_READERS";

/// File in each reader's folder with package and version.
const STAMP: &str = "package.txt";

/// The suite of Debian for the packages. Later releases of Go lack pprof.
const SUITE: &str = "bookworm";

/// A reader, which has a folder of its name.
struct Reader {
    name: &'static str,
    source: Source,
    /// The program for the tests, relative to the folder.
    main: &'static str,
}

/// The source of a reader.
enum Source {
    /// A file of a Debian package, by the end of its path.
    Debian { package: &'static str, file: &'static str },
    /// A whole Debian package, with others that it needs.
    DebianTree { package: &'static str, libraries: &'static [&'static str] },
    /// A package of the npm registry.
    Npm { package: &'static str },
    /// A package of PyPI.
    Python { package: &'static str },
}

const READERS: [Reader; 7] = [
    Reader {
        name: "callgrind_annotate",
        source: Source::Debian { package: "valgrind", file: "/bin/callgrind_annotate" },
        main: "callgrind_annotate",
    },
    Reader {
        name: "pprof",
        source: Source::Debian { package: "golang-1.19-go", file: "/pprof" },
        main: "pprof",
    },
    Reader { name: "speedscope", source: Source::Npm { package: "speedscope@1.25.0" }, main: "package" },
    Reader {
        name: "axe-core",
        source: Source::Npm { package: "axe-core@4.14.1" },
        main: "package/axe.min.js",
    },
    Reader { name: "duckdb", source: Source::Python { package: "duckdb==1.4.4" }, main: "duckdb" },
    Reader {
        name: "chromium",
        source: Source::DebianTree { package: "chromium-headless-shell", libraries: &CHROMIUM_NEEDS },
        main: "usr/lib/chromium/chromium-headless-shell",
    },
    Reader {
        name: "firefox",
        source: Source::DebianTree { package: "firefox-esr", libraries: &FIREFOX_NEEDS },
        main: "usr/lib/firefox-esr/firefox-esr",
    },
];

/// The result for one reader.
pub struct Answer {
    name: &'static str,
    /// Package and version, or why it is missing.
    package: Result<String>,
}

/// Finds or fetches the readers; also returns their folder.
///
/// # Errors
/// Fails if there is no usable cache folder.
pub fn get(fetch: Fetch) -> Result<(PathBuf, Vec<Answer>)> {
    let folder = cache::folder()?.join("readers");
    let mut store = Store { folder: folder.clone(), fetch, archive: None };
    let answers = READERS.iter().map(|reader| Answer { name: reader.name, package: store.get(reader) });
    Ok((folder.clone(), answers.collect()))
}

/// The line about a reader.
pub fn describe(answer: &Answer) -> String {
    let Answer { name, package } = answer;
    match package {
        Ok(package) => format!("{name:<19} {package}"),
        Err(reason) => format!("{name:<19} missing, tests that need it are skipped: {reason:#}"),
    }
}

/// Runs the task.
///
/// # Errors
/// Fails if a reader is missing.
pub fn run(offline: bool) -> Result<()> {
    let (folder, answers) = get(if offline { Fetch::Never } else { Fetch::IfMissing })?;
    for answer in &answers {
        print_line(&describe(answer))?;
    }
    print_line(&format!("{VARIABLE}={}", folder.display()))?;
    let absent: Vec<&str> = answers.iter().filter(|a| a.package.is_err()).map(|a| a.name).collect();
    if !absent.is_empty() {
        bail!("missing: {}; see the reasons above", absent.join(", "));
    }
    Ok(())
}

/// The folder of the readers, and the means to fetch more.
struct Store {
    folder: PathBuf,
    fetch: Fetch,
    /// Debian's archive with the lock on the folder, opened on first use.
    archive: Option<Archive>,
}

impl Store {
    fn get(&mut self, reader: &Reader) -> Result<String> {
        let place = self.folder.join(reader.name);
        let wanted = reader.source.package();
        let stamp = fs::read_to_string(place.join(STAMP)).unwrap_or_default();
        // A different version from the wanted one: an earlier cctrewrite fetched it.
        let is_wanted = |stamp: &str| stamp.split_whitespace().next() == Some(wanted);
        if is_wanted(&stamp) && place.join(reader.main).exists() {
            return Ok(stamp.trim_end().to_owned());
        }
        if self.fetch == Fetch::Never {
            bail!("{} is missing, and downloads are turned off", place.display());
        }
        fs::create_dir_all(&self.folder).with_context(|| format!("make {}", self.folder.display()))?;
        let work = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.folder)?;
        let root = work.path().join("root");
        fs::create_dir(&root)?;
        let stamp = format!("{wanted} {}", self.fetch(reader, work.path(), &root)?);
        ensure!(root.join(reader.main).exists(), "{wanted} has no {}", reader.main);
        fs::write(root.join(STAMP), format!("{stamp}\n"))?;
        if place.exists() {
            fs::remove_dir_all(&place).with_context(|| format!("remove {}", place.display()))?;
        }
        fs::rename(&root, &place).with_context(|| format!("move {} to its place", reader.name))?;
        Ok(stamp)
    }

    /// Puts a reader into the folder `root`; returns its version.
    fn fetch(&mut self, reader: &Reader, work: &Path, root: &Path) -> Result<String> {
        match reader.source {
            Source::Debian { package, file } => {
                let archive = self.archive()?;
                let packages = archive.download(SUITE, &[package])?;
                let unpacked = work.join("unpacked");
                unpack(&packages, &unpacked)?;
                let found = ending_with(&unpacked, file)?;
                fs::rename(found, root.join(reader.main))?;
                Ok(packages[0].version.clone())
            }
            Source::DebianTree { package, libraries } => {
                let archive = self.archive()?;
                let mut all = vec![package];
                all.extend(libraries);
                let packages = archive.download(SUITE, &all)?;
                unpack(&packages, root)?;
                let main = packages.iter().find(|found| found.name == package);
                Ok(main.map_or(String::new(), |main| main.version.clone()))
            }
            Source::Npm { package } => npm::fetch(package, root),
            Source::Python { package } => {
                eprintln!("  downloading from PyPI: {package}");
                let mut pip = Command::new("python3");
                pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
                // Wheels only: pip runs no code of the package, and builds nothing.
                pip.args(["--only-binary=:all:", "--no-deps", "--no-compile", "--root-user-action=ignore"]);
                process::output(pip.arg("--target").arg(root).arg(package))?;
                Ok(package.rsplit_once("==").map_or(package, |(_, version)| version).to_owned())
            }
        }
    }

    fn archive(&mut self) -> Result<&mut Archive> {
        match &mut self.archive {
            Some(archive) => Ok(archive),
            none => Ok(none.insert(Archive::of_this_machine(FolderLock::take(self.folder.clone())?)?)),
        }
    }
}

impl Source {
    fn package(&self) -> &'static str {
        match self {
            Source::Debian { package, .. }
            | Source::DebianTree { package, .. }
            | Source::Npm { package }
            | Source::Python { package } => package,
        }
    }
}

/// The only file below `folder` whose path ends in this way.
fn ending_with(folder: &Path, end: &str) -> Result<PathBuf> {
    let files = WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let mut found =
        files.filter(|entry| entry.file_type().is_file() && entry.path().to_string_lossy().ends_with(end));
    match (found.next(), found.next()) {
        (Some(file), None) => Ok(file.into_path()),
        _ => bail!("the package has not exactly one file *{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_found_by_its_end() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("usr/lib/tool")).unwrap();
        for file in ["usr/lib/tool/pprof", "usr/lib/other"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        assert!(ending_with(folder.path(), "/pprof").unwrap().ends_with("usr/lib/tool/pprof"));
        fs::write(folder.path().join("usr/lib/pprof"), "").unwrap();
        assert!(ending_with(folder.path(), "/pprof").is_err());
        assert!(ending_with(folder.path(), "/absent").is_err());
    }

    #[test]
    fn what_is_there_is_not_fetched_again_and_another_version_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store { folder: folder.path().to_path_buf(), fetch: Fetch::Never, archive: None };
        let reader = Reader { name: "r", source: Source::Python { package: "r==2" }, main: "main" };
        assert!(store.get(&reader).is_err());
        fs::create_dir(folder.path().join("r")).unwrap();
        fs::write(folder.path().join("r/main"), "").unwrap();
        fs::write(folder.path().join("r").join(STAMP), "r==1 1\n").unwrap();
        assert!(store.get(&reader).is_err());
        fs::write(folder.path().join("r").join(STAMP), "r==2 2\n").unwrap();
        assert_eq!(store.get(&reader).unwrap(), "r==2 2");
    }
}
