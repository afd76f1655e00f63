//! Packages of Debian's archive, downloaded with the machine's own `apt-get` from its configured
//! mirror, and unpacked with `dpkg-deb`. No root needed.
//!
//! The system does not change: `apt-get` runs with a configuration of its own, whose lists, caches
//! and status are in a temporary folder. Only the mirrors, the download settings (proxies,
//! certificates) and the logins in `auth.conf` come from the machine's configuration.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tempfile::TempDir;

use crate::cache::FolderLock;
use crate::key_values::entry;
use crate::process;

/// The keys that sign Debian's archive; package `debian-archive-keyring`.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Names of Debian's release in a machine's sources, besides the code name.
const STANDING_SUITES: [&str; 5] = ["oldstable", "stable", "testing", "unstable", "sid"];

/// Prefix of temporary folders in the cache folder.
const TEMPORARY: &str = ".work-";

/// Debian's archive, as configured on this machine.
pub struct Archive {
    /// Removed at the end, with all downloads. Dropped before the lock.
    work: TempDir,
    /// The folder for unpacked packages.
    store: FolderLock,
    /// The mirrors of the archive, in the order of the machine's sources.
    mirrors: Vec<String>,
    /// The machine's settings for downloads, as lines of an apt configuration.
    download_settings: String,
    /// The apt configuration of each suite and kind whose package lists were fetched.
    suites: BTreeMap<(String, Kind), PathBuf>,
}

/// The kind of a package; its value is the word in apt's sources.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// An installable package.
    Binary,
    /// A source package.
    Source,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Binary => "deb",
            Kind::Source => "deb-src",
        }
    }
}

/// A downloaded package.
pub struct Package {
    /// The package's name: `openjdk-8-jdk-headless`.
    pub name: String,
    /// The package's version: `8u482-ga-1`.
    pub version: String,
    /// The `.deb`, which lives as long as the [`Archive`].
    pub file: PathBuf,
}

impl Archive {
    /// Asks the machine's apt for its mirrors; `store` is the folder for unpacked packages.
    ///
    /// # Errors
    /// Fails if this machine has no apt and dpkg, or if apt has no mirror of Debian.
    pub fn of_this_machine(store: FolderLock) -> Result<Archive> {
        sweep(store.folder())?;
        let work = temporary_folder(store.folder())?;
        let lists = work.path().join("no-lists");
        // apt reads its sources of both formats itself, and prints what it would fetch.
        let uris = process::output(
            apt("apt-get", None)
                .args(["update", "--print-uris"])
                .arg("-o")
                .arg(setting("Dir::State::lists", &lists)),
        )
        .context("Debian's packages need apt-get and dpkg-deb (is this machine not a Debian?)")?;
        process::output(Command::new("dpkg-deb").arg("--version"))?;
        let os_release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let mirrors = mirrors(&uris, entry(&os_release, "VERSION_CODENAME"));
        if mirrors.is_empty() {
            bail!("apt on this machine is set up with no mirror of Debian");
        }
        let settings = process::output(apt("apt-config", None).arg("dump"))?;
        let download_settings = download_settings(&settings);
        Ok(Archive { work, store, mirrors, download_settings, suites: BTreeMap::new() })
    }

    /// The mirror that comes first in the machine's sources.
    pub fn mirror(&self) -> &str {
        self.mirrors.first().map_or("", String::as_str)
    }

    /// The machine's settings for downloads, as lines of an apt configuration.
    pub fn download_settings(&self) -> &str {
        &self.download_settings
    }

    /// The folder for unpacked packages.
    pub fn store(&self) -> &Path {
        self.store.folder()
    }

    /// A new temporary folder on the same file system as [`Archive::store`].
    ///
    /// # Errors
    /// Fails if it cannot be created.
    pub fn temporary_folder(&self) -> Result<TempDir> {
        temporary_folder(self.store())
    }

    /// The versions of `packages` in `suite`, in the same order.
    ///
    /// # Errors
    /// Fails if the suite's lists cannot be fetched, or if it lacks one of the packages.
    pub fn versions(&mut self, suite: &str, packages: &[&str]) -> Result<Vec<String>> {
        let configuration = self.suite(suite, Kind::Binary)?;
        let show = |package: &&str| {
            let mut show = apt("apt-cache", Some(&configuration));
            let text = process::output(show.args(["show", "--no-all-versions", package]))?;
            let version = text.lines().find_map(|line| line.strip_prefix("Version: "));
            version.map(str::to_owned).ok_or_else(|| anyhow!("package {package} has no version"))
        };
        packages.iter().map(show).collect()
    }

    /// Downloads `packages` of `suite`; returns them in the order of their names.
    ///
    /// # Errors
    /// Fails if the suite's lists or the packages cannot be fetched, or if their signatures are
    /// wrong.
    pub fn download(&mut self, suite: &str, packages: &[&str]) -> Result<Vec<Package>> {
        let configuration = self.suite(suite, Kind::Binary)?;
        let folder = tempfile::Builder::new().prefix("debs-").tempdir_in(self.work.path())?.keep();
        eprintln!("  downloading from Debian {suite}: {}", packages.join(" "));
        let mut download = apt("apt-get", Some(&configuration));
        process::output(download.args(["--quiet", "download"]).args(packages).current_dir(&folder))?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let file = entry?.path();
            let shown = process::output(
                Command::new("dpkg-deb").args(["--show", "--showformat=${Package} ${Version}"]).arg(&file),
            )?;
            let (name, version) = shown.split_once(' ').context("dpkg-deb --show: two words expected")?;
            found.push(Package { name: name.to_owned(), version: version.to_owned(), file });
        }
        ensure!(found.len() == packages.len(), "apt-get left {} of {} packages", found.len(), packages.len());
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Downloads the upstream sources of `package` of `suite`: the tar archive, without Debian's
    /// changes. The result's `name` and `version` are those of the source package.
    ///
    /// # Errors
    /// Fails if the suite's lists or the package cannot be fetched, if their signatures are wrong,
    /// or if the sources are not in one archive.
    pub fn download_source(&mut self, suite: &str, package: &str) -> Result<Package> {
        let configuration = self.suite(suite, Kind::Source)?;
        let folder = tempfile::Builder::new().prefix("source-").tempdir_in(self.work.path())?.keep();
        eprintln!("  downloading from Debian {suite}: the sources of {package}");
        let mut download = apt("apt-get", Some(&configuration));
        download.args(["--quiet", "source", "--download-only", package]).current_dir(&folder);
        process::output(&mut download)?;
        let files = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let named = |part: &str| {
            let mut found = files.iter().filter(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.contains(part) && !name.ends_with(".asc")
            });
            match (found.next(), found.next()) {
                (Some(file), None) => Ok(file.clone()),
                _ => bail!("the sources of {package} have not exactly one file named *{part}*"),
            }
        };
        let description = fs::read_to_string(named(".dsc")?)?;
        let field = |name: &str| {
            let value = description.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.map(str::to_owned).with_context(|| format!("the description of {package} has no {name}"))
        };
        Ok(Package { name: field("Source")?, version: field("Version")?, file: named(".orig.tar.")? })
    }

    /// The apt configuration for `suite`, after fetching its package lists.
    fn suite(&mut self, suite: &str, kind: Kind) -> Result<PathBuf> {
        let key = (suite.to_owned(), kind);
        if let Some(configuration) = self.suites.get(&key) {
            return Ok(configuration.clone());
        }
        let word = kind.word();
        eprintln!("  fetching the package lists of Debian {suite} ({word})");
        let mut failures = Vec::new();
        for (number, mirror) in self.mirrors.iter().enumerate() {
            let folder = self.work.path().join(format!("{suite}-{word}-{number}"));
            let configuration = configure(&folder, mirror, suite, kind, &self.download_settings)?;
            match process::output(apt("apt-get", Some(&configuration)).args(["--quiet", "update"])) {
                Ok(_) => {
                    self.suites.insert(key, configuration.clone());
                    return Ok(configuration);
                }
                Err(error) => failures.push(format!("{error:#}")),
            }
        }
        bail!("no package lists of {suite}: {}", failures.join("; "))
    }
}

/// Unpacks `packages` over one another below `root`, without running their scripts.
///
/// # Errors
/// Fails if `dpkg-deb` fails.
pub fn unpack(packages: &[Package], root: &Path) -> Result<()> {
    for package in packages {
        process::output(Command::new("dpkg-deb").arg("--extract").arg(&package.file).arg(root))?;
    }
    Ok(())
}

/// Unpacks the upstream sources from [`Archive::download_source`] into `root`, without their common
/// top folder.
///
/// # Errors
/// Fails if `tar` fails.
pub fn unpack_source(source: &Package, root: &Path) -> Result<()> {
    fs::create_dir_all(root)?;
    let mut tar = Command::new("tar");
    tar.arg("--extract")
        .arg("--file")
        .arg(&source.file)
        .arg("--strip-components=1")
        .arg("--directory")
        .arg(root);
    process::output(&mut tar).map(|_| ())
}

/// One of apt's programs; with its own configuration, or that of the machine.
fn apt(program: &str, configuration: Option<&Path>) -> Command {
    let mut command = Command::new(program);
    // Messages and number formats that do not depend on the user's language.
    command.env("LC_ALL", "C.UTF-8");
    if let Some(file) = configuration {
        command.env("APT_CONFIG", file);
    }
    command
}

/// An assignment in apt's configuration language.
fn setting(name: &str, value: &Path) -> String {
    format!("{name}={}", value.display())
}

/// Writes an apt configuration in `folder` that knows packages of `kind` in `mirror`'s `suite` and
/// nothing else.
fn configure(
    folder: &Path,
    mirror: &str,
    suite: &str,
    kind: Kind,
    download_settings: &str,
) -> Result<PathBuf> {
    fs::create_dir_all(folder.join("state/lists/partial"))?;
    fs::create_dir_all(folder.join("cache/archives/partial"))?;
    let status = folder.join("status");
    fs::write(&status, "")?;

    let sources = folder.join("debian.sources");
    let mut text = format!("Types: {}\nURIs: {mirror}\nSuites: {suite}\nComponents: main\n", kind.word());
    if Path::new(KEYRING).exists() {
        text += &format!("Signed-By: {KEYRING}\n");
    }
    fs::write(&sources, text)?;

    let nothing = Path::new("/dev/null");
    let paths = [
        // apt reads $APT_CONFIG first, so this prevents it from reading the machine's
        // configuration, whose hooks (`APT::Update::Post-Invoke`) would clean the system's caches.
        ("Dir::Etc::main", nothing),
        ("Dir::Etc::parts", nothing),
        ("Dir::Etc::preferences", nothing),
        ("Dir::Etc::preferencesparts", nothing),
        ("Dir::Etc::sourceparts", nothing),
        ("Dir::Etc::sourcelist", &sources),
        ("Dir::State", &folder.join("state")),
        ("Dir::State::status", &status),
        ("Dir::Cache", &folder.join("cache")),
    ];
    let mut text = download_settings.to_owned();
    for (name, path) in paths {
        text += &format!("{name} \"{}\";\n", path.display());
    }
    text += "Acquire::Languages \"none\";\n";
    // For root, apt would download as the user `_apt`, who may not write here.
    text += "APT::Sandbox::User \"root\";\n";
    // Otherwise an unreachable mirror is only a warning.
    text += "APT::Update::Error-Mode \"any\";\n";
    let configuration = folder.join("apt.conf");
    fs::write(&configuration, text)?;
    Ok(configuration)
}

/// The mirrors of Debian's archive in the output of `apt-get update --print-uris`, whose lines are
/// ```text
/// 'http://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' file-name size
/// ```
///
/// Sources of other suites than the machine's release are not the archive but security updates or
/// packages of others. (Packages of others under Debian's suite names are tried without success:
/// their lists lack the suite, or Debian's signature.)
fn mirrors(print_uris: &str, release: Option<&str>) -> Vec<String> {
    let mut mirrors = Vec::new();
    for line in print_uris.lines() {
        let Some((mirror, path)) = line.strip_prefix('\'').and_then(|line| line.split_once("/dists/")) else {
            continue;
        };
        let Some((suite, _)) = path.split_once("/main/binary-") else { continue };
        let known = release == Some(suite) || STANDING_SUITES.contains(&suite);
        if known && !mirrors.iter().any(|seen| seen == mirror) {
            mirrors.push(mirror.to_owned());
        }
    }
    mirrors
}

/// The lines of `apt-config dump` about downloads: proxies, certificates, time limits.
fn download_settings(dump: &str) -> String {
    // apt itself and `configure` decide which files to download.
    const NOT: [&str; 3] = ["Acquire::IndexTargets", "Acquire::Languages", "Acquire::Changelogs"];
    let wanted = |line: &&str| line.starts_with("Acquire::") && !NOT.iter().any(|not| line.starts_with(not));
    dump.lines().filter(wanted).map(|line| format!("{line}\n")).collect()
}

/// A new temporary folder in `folder`, readable for its owner only: apt's settings may contain
/// secrets.
fn temporary_folder(folder: &Path) -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempdir_in(folder)
        .with_context(|| format!("make a folder in {}", folder.display()))
}

/// Removes the temporary folders of killed runs. Only the holder of the lock may call it.
fn sweep(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            fs::remove_dir_all(entry.path()).with_context(|| format!("remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URIS: &str = "\
'http://mirror.example/debian/dists/bookworm/InRelease' a 0 
'http://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' b 0 
'http://mirror.example/debian/dists/bookworm/main/binary-all/Packages.xz' c 0 
'http://mirror.example/debian/dists/bookworm-updates/main/binary-amd64/Packages.xz' d 0 
'http://mirror.example/debian-security/dists/bookworm-security/main/binary-amd64/Packages.xz' e 0 
'https://other.example/node/dists/nodistro/main/binary-amd64/Packages.xz' f 0 
'mirror+file:/etc/apt/mirrors.list/dists/stable/main/binary-amd64/Packages.xz' g 0 
";

    #[test]
    fn mirrors_are_those_with_the_machines_release() {
        assert_eq!(
            mirrors(URIS, Some("bookworm")),
            ["http://mirror.example/debian", "mirror+file:/etc/apt/mirrors.list"]
        );
    }

    #[test]
    fn without_a_code_name_the_standing_suites_count() {
        assert_eq!(mirrors(URIS, None), ["mirror+file:/etc/apt/mirrors.list"]);
        assert_eq!(mirrors("", Some("bookworm")), [""; 0]);
    }

    #[test]
    fn only_settings_of_the_download_are_taken_over() {
        let dump = "APT \"\";\nAPT::Update::Post-Invoke:: \"rm -f x\";\nAcquire \"\";\n\
                    Acquire::http::Proxy \"http://proxy.example:3128\";\nAcquire::Languages:: \"en\";\n\
                    Acquire::IndexTargets::deb::Contents \"\";\nDir::State \"var/lib/apt\";\n";
        assert_eq!(download_settings(dump), "Acquire::http::Proxy \"http://proxy.example:3128\";\n");
    }

    #[test]
    fn leftovers_are_swept_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(format!("{TEMPORARY}abc/deep"))).unwrap();
        fs::create_dir(folder.path().join("jdk-8")).unwrap();
        sweep(folder.path()).unwrap();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["jdk-8"]);
    }
}
