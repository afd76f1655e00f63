//! Runs of the runtime in the JVMs of this machine, without a rewritten class library: only
//! `Thread` gets its field.

#![allow(dead_code)]

pub mod files;
pub mod profile;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A JDK with the runtime's classes for it, and a folder for one test.
pub struct Jvm {
    prepared: &'static Prepared,
    folder: tempfile::TempDir,
}

struct Prepared {
    home: PathBuf,
    /// Whether it is JDK 9 or newer.
    modular: bool,
    /// The path that precedes the class library.
    boot: PathBuf,
    /// The compiled `java/*.java`.
    tests: PathBuf,
    _folder: tempfile::TempDir,
}

/// The JDKs that tests run on: that of `JAVA_HOME` or the `PATH`, and those in the project's cache.
pub fn jvms() -> Vec<Jvm> {
    static PREPARED: OnceLock<Vec<Prepared>> = OnceLock::new();
    let prepared = PREPARED.get_or_init(|| homes().into_iter().map(Prepared::new).collect());
    if prepared.is_empty() {
        eprintln!("skipped: no JDK on this machine");
    }
    prepared.iter().map(|prepared| Jvm { prepared, folder: tempfile::tempdir().unwrap() }).collect()
}

fn homes() -> Vec<PathBuf> {
    let mut homes = Vec::new();
    let on_path = env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("javac"))
        .find_map(|file| Some(file.canonicalize().ok()?.parent()?.parent()?.to_path_buf()));
    homes.extend(env::var_os("JAVA_HOME").map(PathBuf::from).or(on_path));
    if let Some(home) = env::home_dir()
        && let Ok(entries) = fs::read_dir(home.join(".cache/cctrewrite/jdks"))
    {
        homes.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    homes.retain(|home| home.join("bin/javac").is_file());
    homes.sort();
    homes.dedup();
    homes
}

impl Prepared {
    fn new(home: PathBuf) -> Prepared {
        let modular = home.join("lib/modules").is_file();
        let folder = tempfile::tempdir().unwrap();
        let [stock, boot, tests] = ["stock", "boot", "tests"].map(|name| folder.path().join(name));
        for folder in [&stock, &boot, &tests] {
            fs::create_dir(folder).unwrap();
        }
        let unsafe_name = if modular { "jdk/internal/misc/Unsafe" } else { "sun/misc/Unsafe" };
        for (name, bytes) in jdk_wrap::classes() {
            write_class(&stock, name, bytes);
            write_class(&boot, name, &files::rename(bytes, "sun/misc/Unsafe", unsafe_name));
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
        let mut javac = Command::new(home.join("bin/javac"));
        javac.args(["-nowarn", "-source", "8", "-target", "8", "-Xlint:-options", "-d"]).arg(&tests);
        javac.arg(format!("-Xbootclasspath/p:{}", stock.display()));
        javac.args(
            ["CopyThread", "Program", "CountingAgent", "FailingAgent", "MergingAgent"]
                .map(|c| sources.join(format!("{c}.java"))),
        );
        assert!(javac.status().unwrap().success(), "javac of {}", home.display());
        // It reads nodes through the Unsafe that the runtime uses there.
        let program = fs::read(tests.join("Program.class")).unwrap();
        write_class(&tests, "Program", &files::rename(&program, "sun/misc/Unsafe", unsafe_name));

        let thread = folder.path().join("Thread.class");
        let mut java = Command::new(home.join("bin/java"));
        assert!(java.arg("-cp").arg(&tests).arg("CopyThread").arg(&thread).status().unwrap().success());
        let patched = [("cct$context", "J"), ("cct$root", "J"), ("cct$transition", "Z")]
            .iter()
            .fold(fs::read(&thread).unwrap(), |class, (name, descriptor)| {
                files::add_field(&class, name, descriptor)
            });
        write_class(&boot, "java/lang/Thread", &patched);
        Prepared { home, modular, boot, tests, _folder: folder }
    }
}

impl Jvm {
    /// A path in this JVM's temporary folder.
    pub fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.folder.path().join(name.as_ref())
    }

    /// Temporary files that were left over instead of renamed.
    pub fn temporary_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).collect()
    }

    /// Runs a scenario of `Program.java`; the profile goes to `profile.cct` in the temporary
    /// folder, if one is written.
    pub fn run(&self, scenario: &str, options: &[String], class_path: &[PathBuf]) -> Output {
        let Prepared { home, modular, boot, tests, .. } = self.prepared;
        let mut java = Command::new(home.join("bin/java"));
        if *modular {
            java.arg(format!("--patch-module=java.base={}", boot.display()));
            for package in ["cctrewrite.runtime", "cctrewrite.agent", "jdk.internal.misc"] {
                java.arg(format!("--add-exports=java.base/{package}=ALL-UNNAMED"));
            }
        } else {
            java.arg(format!("-Xbootclasspath/p:{}", boot.display()));
        }
        let mut paths = vec![tests.clone()];
        paths.extend_from_slice(class_path);
        java.args(options).arg(format!("-Dcctrewrite.out={}", self.profile().display()));
        java.arg("-cp").arg(env::join_paths(paths).unwrap()).arg("Program").arg(scenario);
        let _ = fs::remove_file(self.profile());
        java.current_dir(self.folder.path()).output().unwrap()
    }

    /// Whether it is JDK 9 or newer.
    pub fn is_modular(&self) -> bool {
        self.prepared.modular
    }

    pub fn profile(&self) -> PathBuf {
        self.path("profile.cct")
    }

    /// Runs a scenario, as [`Jvm::run`], which must succeed silently; reads the profile.
    pub fn record(&self, scenario: &str, options: &[String], class_path: &[PathBuf]) -> profile::Profile {
        let output = self.run(scenario, options, class_path);
        assert_succeeded(&output);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        profile::read(&fs::read(self.profile()).unwrap())
    }
}

pub fn assert_succeeded(output: &Output) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
}

fn write_class(folder: &Path, name: &str, bytes: &[u8]) {
    let file = folder.join(format!("{name}.class"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}
