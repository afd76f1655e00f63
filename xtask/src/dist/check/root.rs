//! Clean root folders: Debian's smallest system with a JRE and a user, created by debootstrap in
//! the cache folder.
//!
//! The machine stays unchanged. Debootstrap's package is unpacked in the cache folder, not
//! installed. A trial has its own mount namespace and sees a root through an overlay, so the
//! overlay holds exactly what the trial wrote or removed.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use walkdir::WalkDir;
use xtask_tools::cache::{self, FolderLock};
use xtask_tools::debian::{Archive, unpack};
use xtask_tools::jdks::Fetch;
use xtask_tools::process;
use xtask_tools::workspace::target_folder;

/// A system to try packages on.
struct System {
    /// Debian's code name.
    suite: &'static str,
    /// The versions of Debian and of glibc.
    name: &'static str,
    jre: &'static str,
}

/// The machine's own release, and the oldest that Debian's mirrors have.
const SYSTEMS: [System; 2] = [
    System { suite: "bookworm", name: "Debian 12, glibc 2.36", jre: "openjdk-17-jre-headless" },
    System { suite: "bullseye", name: "Debian 11, glibc 2.31", jre: "openjdk-11-jre-headless" },
];

/// Programs that check packages.
const TOOLS: [&str; 3] = ["lintian", "skopeo", "umoci"];

/// File that marks a complete root.
const STAMP: &str = "complete";

/// The user who runs programs.
pub const USER: &str = "1000:1000";

/// The user who installs packages.
pub const ROOT: &str = "0:0";

/// A root: layers of folders. Files in earlier layers hide those in later ones.
#[derive(Debug, Clone)]
pub struct Root {
    layers: Vec<PathBuf>,
    /// The system's name in reports.
    pub name: String,
}

/// All roots.
pub struct Roots {
    clean: Vec<Root>,
    tools: Root,
}

impl Roots {
    /// Finds the roots in the cache folder, or creates them.
    ///
    /// # Errors
    /// Fails if roots are missing and downloads are turned off, or if debootstrap or apt fails.
    pub fn get(fetch: Fetch) -> Result<Roots> {
        let store = FolderLock::take(cache::folder()?.join("dist/roots"))?;
        let mut maker = Maker { folder: store.folder().to_owned(), fetch, archive: None };
        let clean = SYSTEMS.iter().map(|system| maker.clean(system)).collect::<Result<Vec<_>>>()?;
        let tools = maker.tools(&clean[0])?;
        Ok(Roots { clean, tools })
    }

    /// The roots with a JRE and no tools.
    pub fn clean(&self) -> &[Root] {
        &self.clean
    }

    /// The first of [`Roots::clean`].
    pub fn first(&self) -> &Root {
        &self.clean[0]
    }

    /// The first clean root with a layer that adds [`TOOLS`].
    pub fn tools(&self) -> &Root {
        &self.tools
    }
}

/// Creates missing roots in the folder of roots.
struct Maker {
    folder: PathBuf,
    fetch: Fetch,
    archive: Option<Archive>,
}

impl Maker {
    fn clean(&mut self, system: &System) -> Result<Root> {
        let System { suite, name, jre } = system;
        let folder = self.folder.join(suite);
        let version = jre.split('-').nth(1).unwrap_or_default();
        let root = Root { layers: vec![folder.join("root")], name: format!("{name}, JRE {version}") };
        if folder.join(STAMP).is_file() {
            return Ok(root);
        }
        let tree = folder.join("root");
        self.begin(&folder)?;
        eprintln!("  making a root of Debian {suite} with {jre}");
        let mirror = self.archive()?.mirror().to_owned();
        let mut debootstrap = self.debootstrap()?;
        debootstrap.args(["--variant=minbase", suite]).arg(&tree).arg(&mirror);
        process::output(&mut debootstrap).context("debootstrap")?;
        fs::write(tree.join("etc/apt/apt.conf.d/90downloads"), self.archive()?.download_settings())?;
        let script = format!(
            "apt-get --quiet update && apt-get --quiet --yes --no-install-recommends install {jre} && apt-get clean && \
             rm -rf /var/lib/apt/lists/* && useradd --uid 1000 --create-home user"
        );
        in_root(&tree, &script)?;
        fs::write(folder.join(STAMP), "")?;
        Ok(root)
    }

    /// The root with one more layer: the files that installing the tools changed.
    fn tools(&mut self, below: &Root) -> Result<Root> {
        let folder = self.folder.join("tools");
        let mut root = below.clone();
        root.layers.insert(0, folder.join("upper"));
        if folder.join(STAMP).is_file() {
            return Ok(root);
        }
        self.begin(&folder)?;
        eprintln!("  installing {} in a layer over it", TOOLS.join(", "));
        let trial = Trial::below(below, folder.clone())?;
        let script = format!(
            "apt-get --quiet update && apt-get --quiet --yes --no-install-recommends install {}",
            TOOLS.join(" ")
        );
        trial.run(ROOT, &script)?;
        fs::write(folder.join(STAMP), "")?;
        Ok(root)
    }

    /// Creates an empty folder. Removes what an interrupted run has left there.
    fn begin(&mut self, folder: &Path) -> Result<()> {
        ensure!(self.fetch != Fetch::Never, "{} is missing, and downloads are turned off", folder.display());
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))
    }

    fn archive(&mut self) -> Result<&mut Archive> {
        match &mut self.archive {
            Some(archive) => Ok(archive),
            none => {
                let store = FolderLock::take(self.folder.join("packages"))?;
                Ok(none.insert(Archive::of_this_machine(store)?))
            }
        }
    }

    /// A debootstrap command, unpacked from its package.
    fn debootstrap(&mut self) -> Result<Command> {
        let folder = self.folder.join("debootstrap");
        if !folder.is_dir() {
            let archive = self.archive()?;
            let package = archive.download("bookworm", &["debootstrap"])?;
            let work = archive.temporary_folder()?;
            unpack(&package, work.path())?;
            fs::rename(work.keep(), &folder)?;
        }
        let mut command = Command::new(folder.join("usr/sbin/debootstrap"));
        command.env("DEBOOTSTRAP_DIR", folder.join("usr/share/debootstrap"));
        Ok(command)
    }
}

/// Runs a script as the user `root` in a root folder, without an overlay: the script changes the
/// folder.
fn in_root(folder: &Path, script: &str) -> Result<String> {
    const MOUNTS: &str = "mount -t proc proc \"$1/proc\" && mount --rbind /dev \"$1/dev\" && exec chroot \"$1\" /bin/sh -euc \"$2\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", MOUNTS, "sh"]);
    command.arg(folder).arg(script).env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C.UTF-8");
    process::output(&mut command)
}

/// The use of a root with an overlay, which receives all changes.
pub struct Trial {
    lower: Vec<PathBuf>,
    folder: PathBuf,
    /// Removed at the end of the trial; `None` for a layer that is kept.
    _temporary: Option<TempDir>,
}

/// The folder for files that the check puts into a trial.
const GIVEN: &str = "srv";

impl Trial {
    /// A trial that leaves the root unchanged.
    ///
    /// # Errors
    /// Fails if the folder for the changes cannot be created.
    pub fn of(root: &Root) -> Result<Trial> {
        let temporary = tempfile::Builder::new().prefix("dist-trial-").tempdir_in(target_folder())?;
        let mut trial = Trial::below(root, fs::canonicalize(temporary.path())?)?;
        trial._temporary = Some(temporary);
        Ok(trial)
    }

    /// A trial whose changes are kept in a folder.
    fn below(root: &Root, folder: PathBuf) -> Result<Trial> {
        for part in ["upper", "work", "merged"] {
            let path = folder.join(part);
            fs::create_dir_all(&path).with_context(|| format!("make {}", path.display()))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        Ok(Trial { lower: root.layers.clone(), folder, _temporary: None })
    }

    fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }

    /// Puts a file into the trial, as `/srv/<name>`.
    ///
    /// # Errors
    /// Fails if the file cannot be copied.
    pub fn give(&self, file: &Path, name: &str) -> Result<()> {
        let folder = self.upper().join(GIVEN);
        fs::create_dir_all(&folder)?;
        let to = folder.join(name);
        fs::copy(file, &to).with_context(|| format!("copy {}", file.display()))?;
        Ok(fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?)
    }

    /// The file `/srv/<name>` of the trial.
    pub fn given(&self, name: &str) -> PathBuf {
        self.upper().join(GIVEN).join(name)
    }

    /// Runs a script as this user (`uid:gid`). Returns its output.
    ///
    /// # Errors
    /// Fails if the script fails. The error has the end of its output.
    pub fn run(&self, user: &str, script: &str) -> Result<String> {
        const MOUNTS: &str = "\
            mount -t overlay overlay -o \"lowerdir=$1,upperdir=$2/upper,workdir=$2/work\" \"$2/merged\"\n\
            root=$2/merged\n\
            mount -t proc proc \"$root/proc\"\n\
            mount --rbind /dev \"$root/dev\"\n\
            mount -t tmpfs -o mode=1777 tmpfs \"$root/tmp\"\n\
            home=/root\n\
            [ \"$3\" = 0:0 ] || home=/home/user\n\
            exec chroot --userspec=\"$3\" \"$root\" /usr/bin/env -i HOME=$home LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -euc \"$4\"";
        let lower: Vec<String> = self.lower.iter().map(|layer| layer.display().to_string()).collect();
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", MOUNTS, "sh"]);
        command.arg(lower.join(":")).arg(&self.folder).arg(user).arg(script);
        process::output(&mut command)
    }

    /// The paths that the trial added, changed or removed, relative to the root and sorted. Removed
    /// paths have a `-` in front. Omits the files from [`Trial::give`], and folders that the root
    /// has.
    ///
    /// # Errors
    /// Fails if the overlay cannot be listed.
    pub fn changes(&self) -> Result<Vec<String>> {
        let upper = self.upper();
        let mut changes = Vec::new();
        for entry in WalkDir::new(&upper).min_depth(1).sort_by_file_name() {
            let entry = entry?;
            let path = entry.path().strip_prefix(&upper)?;
            if path.starts_with(GIVEN) {
                continue;
            }
            let is_in_root = self.lower.iter().any(|layer| layer.join(path).symlink_metadata().is_ok());
            if entry.file_type().is_dir() && is_in_root {
                continue;
            }
            let its = entry.metadata()?;
            let is_removed = its.file_type().is_char_device() && its.rdev() == 0;
            changes.push(format!("{}{}", if is_removed { "-" } else { "" }, path.display()));
        }
        Ok(changes)
    }

    /// Checks that all changes are below these paths.
    ///
    /// # Errors
    /// Fails with the other changed paths, if there are any.
    pub fn check_left(&self, may_be_left: &[&str]) -> Result<()> {
        let is_allowed = |path: &String| {
            let path = Path::new(path.trim_start_matches('-'));
            may_be_left.iter().any(|allowed| path.starts_with(allowed))
        };
        let left: Vec<String> = self.changes()?.into_iter().filter(|path| !is_allowed(path)).collect();
        if !left.is_empty() {
            bail!("left after removal: {}", left.join(", "));
        }
        Ok(())
    }
}
