//! `cargo xtask reproducible`: the tool built twice, in two folders, and the outputs of both
//! compared byte for byte (docs/ci/reproducible.md).

use std::env;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use walkdir::WalkDir;
use xtask_tools::jdks::{self, Fetch, Jdk};
use xtask_tools::print::print_line;
use xtask_tools::workspace::{cargo, root, target_folder};

use xtask_tools::{paths, process};

/// Options of `cargo xtask reproducible`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The cargo profile of both builds.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Download nothing.
    #[arg(long)]
    offline: bool,
}

/// The folders of the two builds, below the target folder. Their names have different lengths.
const PLACES: [&str; 2] = ["a", "another-folder/with-a-longer-name"];

/// The compared results: the command, and the libraries for images.
const BUILT: [&str; 4] =
    ["cctrewrite", "libcctrewrite_loadtime.so", "libcctrewrite_prefix.so", "libcctrewrite_vm.so"];

/// Builds both, runs both, and compares.
///
/// # Errors
/// Fails if something does not compile, or differs.
pub fn run(arguments: &Arguments) -> Result<()> {
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let mut answers = jdks::get(&[8], fetch)?;
    let jdk = answers.pop().context("JDK 8")?.jdk?;
    let below = target_folder().join("reproducible");
    let places = PLACES.map(|place| below.join(place));
    // All at once: a developer may go on editing while the first is built.
    places.iter().try_for_each(|place| copy_sources(&sources(place)))?;
    let mut sides = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let built = build(place, number, arguments, &jdk)?;
        let made = work(&built, place, number, &jdk)?;
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

/// The folder of the copied sources.
fn sources(place: &Path) -> PathBuf {
    place.join("sources")
}

/// Builds the copied sources; returns the folder of the results. The second build has another time
/// zone, language and number of jobs. It also has a JDK, while the first finds only a `javac` that
/// fails: a build of the tool does not compile the runtime (docs/internals/runtime.md).
fn build(place: &Path, number: usize, arguments: &Arguments, jdk: &Jdk) -> Result<PathBuf> {
    let (sources, target) = (sources(place), place.join("target"));
    let mut command = cargo(jdk);
    command.current_dir(&sources).args(["build", "--locked", "--profile", &arguments.profile]);
    if arguments.offline {
        command.arg("--offline");
    }
    command.env("CARGO_TARGET_DIR", &target);
    // Flags and times that are not part of the project.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "SOURCE_DATE_EPOCH"] {
        command.env_remove(variable);
    }
    paths::forget(&mut command, &sources, &target);
    command.env("TZ", ["UTC", "Pacific/Kiritimati"][number]).env("LC_ALL", ["C", "C.UTF-8"][number]);
    command.arg(["-j1", "-j2"][number]);
    let home = if number == 0 { without_a_compiler(place)? } else { jdk.home.clone() };
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([home.join("bin")].into_iter().chain(env::split_paths(&path)))?;
    command.env("JAVA_HOME", home).env("PATH", path);
    print_line(&format!("building in {}", sources.display()))?;
    if !command.status().context("cargo cannot be started")?.success() {
        bail!("it does not compile in {}", sources.display());
    }
    Ok(target.join(if arguments.profile == "dev" { "debug" } else { &*arguments.profile }))
}

/// A JDK whose `javac` always fails.
fn without_a_compiler(place: &Path) -> Result<PathBuf> {
    let home = place.join("no-jdk");
    let javac = home.join("bin/javac");
    fs::create_dir_all(home.join("bin"))
        .and_then(|()| fs::write(&javac, "#!/bin/sh\nexit 1\n"))
        .and_then(|()| fs::set_permissions(&javac, Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot make {}", javac.display()))?;
    Ok(home)
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

/// Runs one of the two builds; returns the paths of its outputs.
fn work(built: &Path, place: &Path, number: usize, jdk: &Jdk) -> Result<Vec<PathBuf>> {
    let out = place.join("made");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let sources = sources(place);
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
    let mut found = Vec::new();
    for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
        let entry = entry.with_context(|| format!("list {}", path.display()))?;
        if !entry.file_type().is_dir() {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

/// Whether two files are equal; prints how they differ if not.
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
