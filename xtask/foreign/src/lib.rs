//! `cargo xtask foreign`: hundreds of jars from other compilers and an obfuscator, rewritten,
//! checked, and linked by JVMs.
//!
//! [`sets`] lists the jars, [`obtain`] fetches them, [`obfuscate`] creates some. [`survey`] reads
//! their classes with several readers, [`steps`] runs `cctrewrite`, [`link`] links every class in
//! JVMs. [`known`] has the differences with known causes, and [`table`] prints the results.
//! docs/internals/foreign.md is for readers.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

mod jars;
mod known_causes;
mod link;
mod obfuscate;
mod outcome;
mod sets;
mod steps;
mod survey;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use xtask_programs::packages::Packages;
use xtask_programs::place::fresh;
use xtask_programs::stage::ProfiledJdk;
use xtask_tools::jdks::{self, Fetch, Jdk, tool};
use xtask_tools::process;
use xtask_tools::workspace::{self, ReleaseBuild};

use jars::{SetJars, list, obtain};
use link::Linker;
use outcome::{OnJdk, ProfiledRun, SetResult, Way};
use sets::{SETS, Set};
use survey::Survey;

/// The JDK whose reader of class files is used: the first with a public one.
const READING_JDK: u32 = 25;

/// What to try.
#[derive(Args)]
pub struct Arguments {
    /// Sets of jars, for instance `languages`. Default: all, and docs/internals/foreign.md gets the
    /// figures
    #[arg(value_name = "SET")]
    names: Vec<String>,
    /// The JDKs, for instance `--jdk 17`. Default: all JDKs of each set
    #[arg(long, value_name = "VERSION", value_parser = jdks::supported)]
    jdk: Vec<u32>,
    /// How classes are rewritten; may be given twice
    #[arg(long, value_enum, default_values_t = [Way::Offline, Way::LoadTime])]
    way: Vec<Way>,
    /// Only list the sets
    #[arg(long)]
    list: bool,
    /// Download nothing; sets that are not in the cache folder count as skipped
    #[arg(long)]
    offline: bool,
}

/// Runs the task. The exit code is 1 if anything is found.
///
/// # Errors
/// Fails if a set or JDK named on the command line is missing, or a step fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = chosen(&arguments.names)?;
    if arguments.list {
        for set in chosen {
            let jdks = set.jdks.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            xtask_tools::print::print_line(&format!("{:<12} {:<8} {}", set.name, jdks, set.about))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let bench = Bench::prepare(fetch)?;
    let mut packages = Packages::new(fetch)?;
    let (mut tried, mut skipped) = (Vec::new(), Vec::new());
    for set in chosen {
        eprintln!("{}", set.name);
        let folder = bench.folder.join(set.name);
        fresh(&folder)?;
        match obtain(set, &mut packages, fetch, bench.jdk(8)?, &folder.join("jars")) {
            Ok(obtained) => tried.push(bench.try_set(set, &obtained, arguments, &folder, &mut skipped)?),
            Err(reason) => {
                eprintln!("skipped: {}: {reason:#}", set.name);
                skipped.push(set.name.to_owned());
            }
        }
    }
    let section = table::section(&tried, &skipped);
    xtask_tools::print::print_line(&section.trim_end())?;
    if !arguments.names.is_empty() && !skipped.is_empty() {
        bail!("missing: {}; see the reasons above", skipped.join(", "));
    }
    let is_whole = arguments.names.is_empty() && arguments.jdk.is_empty() && arguments.way.len() > 1;
    if is_whole && skipped.is_empty() {
        let file = xtask_bench::page::write_section_of("docs/internals/foreign.md", "foreign", &section)?;
        eprintln!("written: {}", file.display());
    }
    Ok(if tried.iter().all(SetResult::is_clean) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The sets of these names; all, if there are no names.
fn chosen(names: &[String]) -> Result<Vec<&'static Set>> {
    if let Some(name) = names.iter().find(|name| !SETS.iter().any(|set| set.name == **name)) {
        let all: Vec<_> = SETS.iter().map(|set| set.name).collect();
        bail!("unknown set {name}; known are {}", all.join(", "));
    }
    Ok(SETS.iter().filter(|set| names.is_empty() || names.iter().any(|name| name == set.name)).collect())
}

impl SetResult {
    /// Whether no fault was found.
    fn is_clean(&self) -> bool {
        self.survey.changed.is_empty()
            && self.on.iter().all(|on| {
                on.checked.findings.is_empty() && on.profiled.iter().all(|run| run.unknown.is_empty())
            })
    }
}

/// The programs, and the JDKs.
struct Bench {
    cctrewrite: PathBuf,
    copier: PathBuf,
    /// The folder of the compiled programs of `xtask/foreign`.
    programs: PathBuf,
    folder: PathBuf,
    jdks: Vec<jdks::Answer>,
}

impl Bench {
    /// Builds everything. JDK 8 is necessary: it compiles and obfuscates.
    fn prepare(fetch: Fetch) -> Result<Bench> {
        let jdks = jdks::get(&[8, 17, READING_JDK], fetch)?;
        let jdk = of(&jdks, 8)?;
        let ReleaseBuild { program: cctrewrite, target } = workspace::build_release(jdk)?;
        let copier = workspace::build_release_of(jdk, "copier")?.program;
        let folder = target.join("foreign");
        let programs = folder.join("programs");
        fresh(&programs)?;
        compile(jdk, "LinkJars", &programs)?;
        if let Ok(jdk) = of(&jdks, READING_JDK) {
            compile(jdk, "ReadJars", &programs)?;
        }
        Ok(Bench { cctrewrite, copier, programs, folder, jdks })
    }

    fn jdk(&self, version: u32) -> Result<&Jdk> {
        of(&self.jdks, version)
    }

    /// Runs a set on all its JDKs.
    fn try_set(
        &self,
        set: &'static Set,
        obtained: &SetJars,
        arguments: &Arguments,
        folder: &Path,
        skipped: &mut Vec<String>,
    ) -> Result<SetResult> {
        let SetJars { jars, versions, .. } = obtained;
        let names = folder.join("jars.txt");
        list(jars, &names)?;
        eprintln!("  reading {} jars", jars.len());
        let mut survey = Survey::of(&self.copier, jars)?;
        match self.jdk(READING_JDK) {
            Ok(jdk) => survey.ask_jdk(jdk, &self.programs, &names, folder)?,
            Err(reason) => {
                eprintln!("skipped: the reader of JDK {READING_JDK}: {reason:#}");
                skipped.push(format!("{}: the reader of JDK {READING_JDK}", set.name));
            }
        }
        let mut on = Vec::new();
        let is_wanted = |version: &&u32| arguments.jdk.is_empty() || arguments.jdk.contains(version);
        for &version in set.jdks.iter().filter(is_wanted) {
            match self.jdk(version) {
                Ok(jdk) => on.push(self.on(version, jdk, obtained, &arguments.way, folder)?),
                Err(reason) => {
                    eprintln!("skipped: {} on JDK {version}: {reason:#}", set.name);
                    skipped.push(format!("{} on JDK {version}", set.name));
                }
            }
        }
        Ok(SetResult { set, versions: versions.clone(), jars: jars.len(), survey, on })
    }

    /// Rewrites, checks and links jars on a JDK.
    fn on(&self, version: u32, jdk: &Jdk, obtained: &SetJars, ways: &[Way], folder: &Path) -> Result<OnJdk> {
        let folder = folder.join(version.to_string());
        fs::create_dir_all(&folder)?;
        let SetJars { jars, besides, .. } = obtained;
        let profiled_jdk = self.profiled(version, jdk)?;
        eprintln!("  JDK {version}: instrumenting");
        let library = [profiled_jdk.library(), besides.as_slice()].concat();
        let instrumented = steps::instrument(&self.cctrewrite, jars, &library, &folder.join("rewritten"))?;
        eprintln!("  JDK {version}: checking");
        let checked = steps::verify(&self.cctrewrite, jars, &instrumented.jars)?;
        let names = |jars: &[PathBuf], name: &str| {
            let file = folder.join(name);
            list(jars, &file).map(|()| file)
        };
        let (raw, rewritten) = (names(jars, "raw.txt")?, names(&instrumented.jars, "rewritten.txt")?);
        let path = |jars: &[PathBuf]| [jars, besides.as_slice()].concat();
        eprintln!("  JDK {version}: linking, plain");
        let linker = Linker { home: &jdk.home, version, options: Vec::new(), program: &self.programs };
        let plain = linker.link("plain", &raw, &path(jars), &folder)?;
        let there = plain.names();
        let mut profiled = Vec::new();
        for &way in ways {
            eprintln!("  JDK {version}: linking, {}", way.word());
            let (home, options) = profiled_jdk.start();
            let mut options = options.to_vec();
            let name = way.word().replace(' ', "-");
            options.push(format!("-Dcctrewrite.out={}", folder.join(format!("{name}.cct")).display()));
            let home = home.unwrap_or(&jdk.home);
            let linker = Linker { home, version, options, program: &self.programs };
            let (names, jars) = match way {
                Way::Offline => (&rewritten, &instrumented.jars),
                Way::LoadTime => (&raw, jars),
            };
            let linked = linker.link(&name, names, &path(jars), &folder)?;
            let (mut known, mut unknown) = (Vec::new(), Vec::new());
            for difference in plain.differences(&linked) {
                match known_causes::cause(&difference, |name| there.contains(name)) {
                    Some(cause) => known.push((difference.to_string(), cause)),
                    None => unknown.push(difference.to_string()),
                }
            }
            profiled.push(ProfiledRun { way, linked, unknown, known });
        }
        drop(there);
        Ok(OnJdk { version, full_version: jdk.full_version.clone(), instrumented, checked, plain, profiled })
    }

    /// The profiled JDK of a version, created once for all sets.
    fn profiled(&self, version: u32, jdk: &Jdk) -> Result<ProfiledJdk> {
        let folder = self.folder.join(format!("jdk-{version}"));
        ProfiledJdk::make(version, jdk, &self.cctrewrite, folder)
    }
}

fn of(jdks: &[jdks::Answer], version: u32) -> Result<&Jdk> {
    let answer = jdks.iter().find(|answer| answer.version == version);
    let answer = answer.with_context(|| format!("no answer about JDK {version}"))?;
    answer.jdk.as_ref().map_err(|reason| anyhow!("{reason:#}"))
}

/// Compiles a program of `xtask/foreign`.
fn compile(jdk: &Jdk, name: &str, into: &Path) -> Result<()> {
    let source = workspace::root().join(format!("xtask/foreign/{name}.java"));
    process::output(tool(&jdk.home, "javac").args(["-encoding", "UTF-8", "-d"]).arg(into).arg(source))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_chosen_by_name() {
        assert_eq!(chosen(&[]).unwrap().len(), SETS.len());
        assert_eq!(chosen(&["languages".to_owned()]).unwrap().len(), 1);
        assert!(chosen(&["no-such".to_owned()]).is_err());
    }

    #[test]
    fn every_set_is_for_jdks_that_are_asked_for() {
        for set in SETS {
            assert!(
                !set.jdks.is_empty() && set.jdks.iter().all(|jdk| [8, 17, READING_JDK].contains(jdk)),
                "{}",
                set.name
            );
        }
    }
}
