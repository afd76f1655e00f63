//! Faults around the command: kills, full disks, read-only folders, two runs with one output
//! (docs/internals/faults.md).

mod full;
mod killed;
mod places;
mod surroundings;
mod together;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::profiles::{RUN, WORKER, profile, usual};
use super::support::{Run, command, jar, plain, put, run, sample};

/// A command that writes an output, in a folder from [`stored`].
pub struct Work {
    /// The output, relative to the folder.
    pub output: &'static str,
    pub arguments: &'static [&'static str],
    /// The same command on other inputs, which writes another output to the same place.
    pub earlier: &'static [&'static str],
}

/// One for each way in which the command writes files: jars, folders, several jars, profiles,
/// pages, exports, reports.
pub const WORKS: [Work; 7] = [
    Work {
        output: "out.jar",
        arguments: &["instrument", "app.jar", "-o", "out.jar", "--threads=2"],
        earlier: &["instrument", "old.jar", "-o", "out.jar"],
    },
    Work {
        output: "out",
        arguments: &["instrument", "classes", "-o", "out", "--threads=2"],
        earlier: &["instrument", "old-classes", "-o", "out"],
    },
    Work {
        output: "report.json",
        arguments: &["instrument", "app.jar", "-o", "beside.jar", "--report", "report.json", "--threads=2"],
        earlier: &["instrument", "old.jar", "-o", "beside.jar", "--report", "report.json"],
    },
    Work {
        output: "sum.cct",
        arguments: &["merge", "a.cct", "b.cct", "-o", "sum.cct"],
        earlier: &["merge", "b.cct", "-o", "sum.cct"],
    },
    Work {
        output: "page.html",
        arguments: &["report", "a.cct", "--html", "page.html"],
        earlier: &["report", "b.cct", "--html", "page.html"],
    },
    Work {
        output: "contexts.parquet",
        arguments: &["export", "a.cct", "--format", "parquet", "--per-thread", "-o", "contexts.parquet"],
        earlier: &["export", "b.cct", "--format", "parquet", "--per-thread", "-o", "contexts.parquet"],
    },
    Work {
        output: "run.svg",
        arguments: &[
            "export",
            "a.cct",
            "--format",
            "svg",
            "--per-thread",
            "--min-percent=0",
            "-o",
            "run.svg",
        ],
        earlier: &["export", "b.cct", "--format", "svg", "--per-thread", "--min-percent=0", "-o", "run.svg"],
    },
];

/// Inputs for all of [`WORKS`].
pub fn stored() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let names: Vec<String> = (0..100).map(|i| format!("p/C{i}")).collect();
    let classes: Vec<(String, Vec<u8>)> = std::iter::once(("Sample.class".to_owned(), sample()))
        .chain(names.iter().map(|name| (format!("{name}.class"), plain(name))))
        .collect();
    for (name, bytes) in &classes {
        put(home, &format!("classes/{name}"), bytes);
    }
    let entries: Vec<(&str, &[u8])> = classes.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
    put(home, "app.jar", &jar(&entries));
    put(home, "old.jar", &jar(&[("p/Old.class", &plain("p/Old"))]));
    put(home, "old-classes/p/Old.class", &plain("p/Old"));
    put(home, "a.cct", &usual());
    put(home, "b.cct", &profile(&[], &[("main", &RUN), ("other", &WORKER)]));
    folder
}

/// The contents of a path: nothing, a file's contents, or those of all files below a folder.
pub type Contents = Option<Vec<(PathBuf, Option<Vec<u8>>)>>;

pub fn contents(path: &Path) -> Contents {
    match fs::metadata(path) {
        Err(_) => None,
        Ok(there) if there.is_dir() => Some(super::support::files(path)),
        Ok(_) => Some(vec![(path.to_path_buf(), fs::read(path).ok())]),
    }
}

impl Work {
    /// The command in a folder.
    pub fn command(&self, home: &Path) -> Command {
        let mut command = command();
        command.current_dir(home).args(self.arguments);
        command
    }

    /// The output of the earlier command, and of this one, which runs with the earlier output in
    /// place.
    pub fn outputs(&self, home: &Path) -> [Contents; 2] {
        let place = home.join(self.output);
        run(home, self.arguments).succeeds();
        let new = contents(&place);
        run(home, self.earlier).succeeds();
        let old = contents(&place);
        assert!(old.is_some() && new.is_some() && old != new, "{}", self.output);
        [old, new]
    }

    /// Restores the earlier output.
    pub fn restore(&self, home: &Path, old: &Contents) {
        let place = home.join(self.output);
        if contents(&place) != *old {
            run(home, self.earlier).succeeds();
            assert!(contents(&place) == *old, "{}", self.output);
        }
    }
}

/// The names in a folder, sorted.
pub fn names(home: &Path) -> Vec<String> {
    let entries = fs::read_dir(home).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether a name is that of a temporary file or folder of cctrewrite.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(".cctrewrite-") && name.ends_with(".tmp")
}

/// The result of a command that was made to fail.
pub fn ended(output: std::process::Output) -> Run {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A number from the environment, for more cases than a test normally has time for.
pub fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Pseudorandom numbers from a seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end.max(1)
    }
}

/// Whether a program exists and may do its work; otherwise prints that the test is skipped.
pub fn can(program: &str, arguments: &[&str]) -> bool {
    let tried = Command::new(program).args(arguments).output();
    let can = tried.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: {program} {} does not work here", arguments.join(" "));
    }
    can
}

/// Runs a shell script in a mount namespace of its own. A small tmpfs of these options is at
/// `mount`, the script's first argument; the command follows.
pub fn on_tmpfs(options: &str, mount: &Path, command: &Command) -> Command {
    let mut shell = Command::new("unshare");
    let script = format!("mount -t tmpfs -o {options} tmpfs \"$0\" && exec \"$@\"");
    shell.args(["-m", "sh", "-c", &script]).arg(mount);
    shell.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.env_remove("COLUMNS").stdin(std::process::Stdio::null());
    shell
}
