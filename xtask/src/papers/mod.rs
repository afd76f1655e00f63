//! `cargo xtask papers`: computes the tables of the papers for programs of today.
//!
//! Each program of the catalogue runs twice, with natives represented and without; [`tables`] gets
//! the rows from `cctrewrite report` and formats them. The result is docs/research/papers.md.

mod tables;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use xtask_bench::ground::Ground;
use xtask_bench::machine;
use xtask_bench::page::write_section_of;
use xtask_programs::catalogue::programs;
use xtask_programs::packages::Packages;
use xtask_programs::place::{self, Place, Start};
use xtask_programs::program::Program;
use xtask_tools::jdks::{self, Fetch, Jdk};
use xtask_tools::print::print_line;
use xtask_tools::process;
use xtask_tools::watch::Limits;

use tables::{Row, Tables};

/// Options of `cargo xtask papers`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [17], value_parser = jdks::supported)]
    jdks: Vec<u32>,
    /// Only these programs (repeatable). Prints the tables and leaves docs/research/papers.md
    /// unchanged.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Longer than any of them takes; a run that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// The two representations of natives, as values of `--natives`: CCCP's, and JP's.
const NATIVES: [&str; 2] = ["wrap", "none"];

/// Computes the tables.
///
/// # Errors
/// Fails if a JDK is missing, or `--only` names no program.
pub fn run(arguments: &Arguments) -> Result<()> {
    for name in &arguments.only {
        ensure!(
            programs().any(|program| program.name == name),
            "unknown program {name}; `cargo xtask programs --list` names them"
        );
    }
    let ground = Ground::new(&arguments.jdks)?;
    let mut packages = Packages::new(Fetch::IfMissing)?;
    let mut text = String::new();
    for (&version, jdk) in arguments.jdks.iter().zip(&ground.jdks) {
        let stage = Stage::new(&ground, version, jdk)?;
        let mut tables = Tables::default();
        let chosen = programs().filter(|program| {
            program.jdks.contains(&version)
                && (arguments.only.is_empty() || arguments.only.iter().any(|name| name == program.name))
        });
        for program in chosen {
            eprintln!("{} on JDK {version}", program.name);
            match stage.row(program, &mut packages) {
                Ok(row) => tables.rows.push(row),
                Err(error) => tables.left_out.push(format!("{} ({error:#})", program.name)),
            }
        }
        text += &format!("## JDK {}\n\n{tables}\n", jdk.full_version);
    }
    text += &format!(
        "Machine: {}. {}, commit {} (`+`: with changes).\n",
        machine::describe(),
        machine::date(),
        machine::commit()
    );
    if arguments.only.is_empty() {
        let file = write_section_of("docs/research/papers.md", "tables", &text)?;
        eprintln!("written: {}", file.display());
        Ok(())
    } else {
        print_line(&text)
    }
}

/// A JDK with its images.
struct Stage<'a> {
    version: u32,
    jdk: &'a Jdk,
    cctrewrite: &'a Path,
    folder: PathBuf,
    images: Vec<PathBuf>,
}

impl<'a> Stage<'a> {
    fn new(ground: &'a Ground, version: u32, jdk: &'a Jdk) -> Result<Self> {
        let folder = ground.work().join(version.to_string());
        fs::create_dir(&folder)?;
        let mut images = Vec::new();
        for natives in NATIVES {
            let image = folder.join(format!("jdk-{natives}"));
            let mut make = Command::new(&ground.cctrewrite);
            make.args(["jdk", "--link", "--natives", natives]).arg(&jdk.home).arg("-o").arg(&image);
            process::output(&mut make)?;
            images.push(image);
        }
        Ok(Stage { version, jdk, cctrewrite: &ground.cctrewrite, folder, images })
    }

    /// Runs a program in both ways, and reads its rows.
    fn row(&self, program: &Program, packages: &mut Packages) -> Result<Row> {
        let fetched = packages.get(program)?;
        let folder = self.folder.join(program.name);
        let place = Place::prepare(*program, self.version, self.jdk, &folder, &fetched)?;
        let mut profiles = Vec::new();
        let mut ends = Vec::new();
        for (natives, image) in NATIVES.iter().zip(&self.images) {
            let profile = self.folder.join(format!("{natives}.cct"));
            // A profile of another run must not be taken for this one's.
            if profile.exists() {
                fs::remove_file(&profile)?;
            }
            let outcome = place.run(&Start {
                name: natives,
                home: image,
                through: &[],
                options: &[format!("-Dcctrewrite.out={}", profile.display())],
                jars: place::RAW,
                limits: Limits::of(TIME_LIMIT),
            })?;
            ensure!(!outcome.is_cut_off, "it had not ended after {} s", TIME_LIMIT.as_secs());
            ensure!(profile.is_file(), "it left no profile: {}", outcome.last_words());
            ends.push(outcome.exit);
            profiles.push(profile);
        }
        ensure!(ends[0] == ends[1], "it ended with {:?} and with {:?}", ends[0], ends[1]);
        let row = self.report(program, &profiles).context("its profiles");
        fs::remove_dir_all(&folder)?;
        row
    }

    fn report(&self, program: &Program, profiles: &[PathBuf]) -> Result<Row> {
        let table = |name: &str, profiles: &[PathBuf]| -> Result<Vec<String>> {
            let mut report = Command::new(self.cctrewrite);
            report.args(["report", "--format", "csv", "--table", name]);
            if name == "library" {
                report.arg("--classes").arg(&self.jdk.home);
            }
            let csv = process::output(report.args(profiles))?;
            let line = csv.lines().nth(1).with_context(|| format!("the table {name} has no row"))?;
            Ok(line.split(',').map(str::to_owned).collect())
        };
        let represented = &profiles[..1];
        Row::new(
            program.name,
            &table("natives", represented)?,
            &table("overlap", profiles)?,
            &table("library", represented)?,
            &table("shape", represented)?,
        )
    }
}
