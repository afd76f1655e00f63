//! What all modules use: the JDK, the instrumented class libraries, and JVMs that run on them.

pub mod assembler;
pub mod golden;
mod java;
mod library;

pub use java::{Java, Run};
pub use library::{ALL_BLOCKS, Blocks, Library, plain_programs};

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The home of a JDK 8.
#[derive(Debug)]
pub struct Jdk {
    home: PathBuf,
}

impl Jdk {
    /// The JDK of `JAVA8_HOME`. Without it the test that asks is skipped, and this says so.
    ///
    /// # Panics
    /// When the variable names anything but the home of a JDK 8.
    pub fn find() -> Option<&'static Jdk> {
        static JDK: OnceLock<Option<Jdk>> = OnceLock::new();
        let jdk = JDK.get_or_init(|| {
            let home = PathBuf::from(std::env::var_os("JAVA8_HOME")?);
            let jdk = Jdk { home };
            assert!(jdk.rt_jar().is_file(), "JAVA8_HOME={} is no JDK 8", jdk.home.display());
            Some(jdk)
        });
        if jdk.is_none() {
            eprintln!("skipped: JAVA8_HOME is not set");
        }
        jdk.as_ref()
    }

    /// A file or folder of the JDK.
    pub fn path(&self, below: &str) -> PathBuf {
        self.home.join(below)
    }

    /// The largest part of the class library.
    pub fn rt_jar(&self) -> PathBuf {
        self.path("jre/lib/rt.jar")
    }

    /// The jars that the boot class path has, in its order.
    pub fn boot_jars(&self) -> Vec<PathBuf> {
        let names = ["resources", "rt", "jsse", "jce", "charsets", "jfr"];
        let jars = names.map(|name| self.path(&format!("jre/lib/{name}.jar")));
        jars.into_iter().filter(|jar| jar.is_file()).collect()
    }

    /// The jars of the extension folder, by name.
    pub fn extension_jars(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path("jre/lib/ext")).unwrap().map(|entry| entry.unwrap().path());
        let mut jars: Vec<PathBuf> = files.filter(|f| f.extension() == Some(OsStr::new("jar"))).collect();
        jars.sort();
        jars
    }

    /// The compiler and other tools.
    pub fn tools_jar(&self) -> PathBuf {
        self.path("lib/tools.jar")
    }

    /// A JVM of the plain JDK.
    pub fn java(&self, name: &str) -> Java {
        Java::new(self, name)
    }

    /// Packs folders into a jar, one after another.
    pub fn pack(&self, jar: &Path, folders: &[PathBuf]) {
        let mut command = Command::new(self.path("bin/jar"));
        command.arg("cf").arg(jar);
        for folder in folders {
            command.arg("-C").arg(folder).arg(".");
        }
        assert_succeeded(&mut command);
    }
}

/// A folder of this test process, empty at the start.
pub fn scratch() -> &'static Path {
    static SCRATCH: OnceLock<PathBuf> = OnceLock::new();
    SCRATCH.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jvm");
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// A new empty folder; its name begins with a number.
pub fn folder(name: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = scratch().join(format!("{number:03}-{name}"));
    fs::create_dir(&folder).unwrap();
    folder
}

/// A file or folder of `fixtures/`.
pub fn fixture(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(below)
}

/// Copies all files of a folder, subfolders included.
pub fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs `cctrewrite instrument`, which must succeed, and returns what it said on standard error.
pub fn instrument(inputs: &[PathBuf], libraries: &[PathBuf], output: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.arg("instrument").args(inputs).arg("-o").arg(output).args(options);
    for library in libraries {
        command.arg("--library").arg(library);
    }
    assert_succeeded(&mut command)
}

/// Runs a command, which must succeed, and returns its standard error.
pub fn assert_succeeded(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    error
}

/// Compares lines in their order. Tells those that only one side has, or the first place where the order differs.
pub fn assert_same_lines<S: AsRef<str>>(expected: &[S], found: &[S], what: &str) {
    let text = |lines: &[S]| lines.iter().map(|line| line.as_ref().to_owned()).collect::<Vec<String>>();
    let (expected, found) = (text(expected), text(found));
    let only = |a: &[String], b: &[String]| {
        a.iter().filter(|line| !b.contains(line)).cloned().collect::<Vec<_>>().join("\n  ")
    };
    let (missing, new) = (only(&expected, &found), only(&found, &expected));
    assert!(missing.is_empty() && new.is_empty(), "{what}\nmissing:\n  {missing}\nnew:\n  {new}");
    assert_eq!(expected, found, "{what}: the order");
}
