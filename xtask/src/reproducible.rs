//! `cargo xtask reproducible`: the tool built twice, in two folders, and what the two make, byte for byte (docs/reproducible.md).

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::jdks::{self, Fetch, Jdk};
use crate::workspace::{cargo, root};
use crate::{print_line, process};

/// Options of `cargo xtask reproducible`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The profile of cargo with which both are built.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Download nothing.
    #[arg(long)]
    offline: bool,
}

/// Where the two are built, below the target folder. Their names have different lengths.
const PLACES: [&str; 2] = ["a", "another-folder/with-a-longer-name"];

/// What is built: the command, and the libraries that go into images.
const BUILT: [&str; 3] = ["cctrewrite", "libcctrewrite_loadtime.so", "libcctrewrite_vm.so"];

/// What a build is to know of the folder in which it happens, in place of the folder's name.
const KNOWN_AS: &str = "/cctrewrite";

/// Builds both, has both work, and compares.
///
/// # Errors
/// If something does not compile, or differs.
pub fn run(arguments: &Arguments) -> Result<()> {
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let mut answers = jdks::get(&[8], fetch)?;
    let jdk = answers.pop().context("JDK 8")?.jdk?;
    let below = target_folder().join("reproducible");
    let mut sides = Vec::new();
    for (number, place) in PLACES.iter().enumerate() {
        let place = below.join(place);
        let built = build(&place, number, arguments, &jdk)?;
        let made = work(&built, &place, number, &jdk)?;
        sides.push(BUILT.iter().map(|name| built.join(name)).chain(made).collect::<Vec<_>>());
    }
    let mut different = 0;
    for (a, b) in sides[0].iter().zip(&sides[1]) {
        different += u32::from(!compare(a, b)?);
    }
    if different > 0 {
        bail!("{different} of {} files differ", sides[0].len());
    }
    print_line(&format!("{} files are the same", sides[0].len()))
}

fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Copies the sources and builds there; the folder of the results. The second build has another time zone, language and number of jobs.
fn build(place: &Path, number: usize, arguments: &Arguments, jdk: &Jdk) -> Result<PathBuf> {
    let (sources, target) = (place.join("sources"), place.join("target"));
    copy_sources(&sources)?;
    let home = cargo_home()?;
    let known: Vec<(PathBuf, String)> = vec![
        (sources.clone(), KNOWN_AS.to_owned()),
        (target.clone(), format!("{KNOWN_AS}/target")),
        (home, "/cargo".to_owned()),
    ];
    let option = |name: &str| {
        let options = known.iter().map(|(folder, as_what)| format!("{name}={}={as_what}", folder.display()));
        options.collect::<Vec<_>>()
    };
    let mut command = cargo(jdk);
    command.current_dir(&sources).args(["build", "--locked", "--profile", &arguments.profile]);
    if arguments.offline {
        command.arg("--offline");
    }
    command.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS");
    // Separated in a way that lets paths have spaces.
    command.env("CARGO_ENCODED_RUSTFLAGS", option("--remap-path-prefix").join("\u{1f}"));
    command.env("CFLAGS", option("-ffile-prefix-map").join(" "));
    command.env("TZ", ["UTC", "Pacific/Kiritimati"][number]).env("LC_ALL", ["C", "C.UTF-8"][number]);
    command.arg(["-j1", "-j2"][number]);
    print_line(&format!("building in {}", sources.display()))?;
    if !command.status().context("cargo cannot be started")?.success() {
        bail!("it does not compile in {}", sources.display());
    }
    Ok(target.join(if arguments.profile == "dev" { "debug" } else { &*arguments.profile }))
}

fn cargo_home() -> Result<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || env::home_dir().map(|home| home.join(".cargo"));
    named.or_else(usual).context("there is no home folder in which cargo could have one")
}

/// The files that git knows, as they are now.
fn copy_sources(to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    let root = root();
    let mut list = Command::new("git");
    list.current_dir(&root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    for name in process::output(&mut list)?.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), to.join(name));
        if !from.is_file() {
            continue;
        }
        let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&from, &to));
        copied.with_context(|| format!("cannot copy {name}"))?;
    }
    Ok(())
}

/// Has one of the two make things; where they are.
fn work(built: &Path, place: &Path, number: usize, jdk: &Jdk) -> Result<Vec<PathBuf>> {
    let out = place.join("made");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let sources = place.join("sources");
    let path = |name: &str| out.join(name);
    // Each has its own copies of the class files, in folders of different names.
    let library = jdk.home.join("jre/lib/rt.jar");
    let works: [(Vec<OsString>, PathBuf); 5] = [
        // The class library with the runtime in it, and the index.
        (vec!["instrument".into(), library.clone().into()], path("rt.jar")),
        (
            vec!["instrument".into(), library.clone().into(), "--reproducible".into(), "--patches".into()],
            path("patches.jar"),
        ),
        (
            vec![
                "instrument".into(),
                sources.join("fixtures/semantics/classes").into(),
                "--library".into(),
                library.clone().into(),
            ],
            path("semantics"),
        ),
        (
            vec!["instrument".into(), sources.join("fixtures/calls/classes").into(), "--manifest".into()],
            path("calls"),
        ),
        (vec!["api".into()], path("api.jar")),
    ];
    let mut made = Vec::new();
    for (arguments, output) in works {
        let mut command = Command::new(built.join("cctrewrite"));
        command.args(&arguments).arg("-o").arg(&output).stdin(Stdio::null());
        command.env("TZ", ["UTC", "Pacific/Kiritimati"][number]).env("LC_ALL", ["C", "tr_TR.UTF-8"][number]);
        if arguments[0] == "instrument" {
            command.arg(["--threads=1", "--threads=7"][number]);
        }
        process::output(&mut command)?;
        made.extend(files_below(&output)?);
    }
    Ok(made)
}

/// The file itself, or all files below a folder, sorted.
fn files_below(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("list {}", path.display()))? {
        found.extend(files_below(&entry?.path())?);
    }
    found.sort();
    Ok(found)
}

/// Says whether two files are the same, and how they differ if not.
fn compare(a: &Path, b: &Path) -> Result<bool> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let (left, right) = (read(a)?, read(b)?);
    let name = a.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if left == right {
        print_line(&format!("same       {name}: {} bytes", left.len()))?;
        return Ok(true);
    }
    let places = left.iter().zip(&right).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
    let first = places.clone().next().unwrap_or(left.len().min(right.len()));
    print_line(&format!(
        "DIFFERENT  {name}: {} and {} bytes, {} of them differ, from byte {first} on",
        left.len(),
        right.len(),
        places.count()
    ))?;
    Ok(false)
}
