//! The common part of all modules: the JDKs, the instrumented class libraries and images, and JVMs
//! that run on them.

pub mod assembler;
pub mod caches;
pub mod columns;
pub mod golden;
mod image;
mod java;
mod jdk;
mod library;

pub use image::{Image, profiled};
pub use java::{Java, Run, RunningJvm, mebibytes};
pub use jdk::Jdk;
pub use library::{ALL_BLOCKS, Blocks, Library, plain_programs};

use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use cct_test_classes::executable;
use walkdir::WalkDir;

/// Defines a module with a test for each of some JDKs, named after them: `jdks!(module, check,
/// 11..)`, where `check` takes the JDK. The releases are a range of [`cct_jdk::TESTED`], a list, or
/// `feature`, for what depends little on the release. `jdks!(module, check, [17, 25], all [11,
/// 21])` is for what takes long: with [`FEWER`] the test does not run on the releases after `all`.
/// A new release needs one more word in the ranges without an end, and one more test at the bottom.
macro_rules! jdks {
    ($module:ident, $check:ident, 8..) => { crate::support::jdks!($module, $check, [8, 11, 17, 21, 25, 26, 27]); };
    ($module:ident, $check:ident, 11..) => { crate::support::jdks!($module, $check, [11, 17, 21, 25, 26, 27]); };
    ($module:ident, $check:ident, 17..) => { crate::support::jdks!($module, $check, [17, 21, 25, 26, 27]); };
    ($module:ident, $check:ident, 21..) => { crate::support::jdks!($module, $check, [21, 25, 26, 27]); };
    ($module:ident, $check:ident, 25..) => { crate::support::jdks!($module, $check, [25, 26, 27]); };
    ($module:ident, $check:ident, 8..=21) => { crate::support::jdks!($module, $check, [8, 11, 17, 21]); };
    ($module:ident, $check:ident, 8..=25) => { crate::support::jdks!($module, $check, [8, 11, 17, 21, 25]); };
    ($module:ident, $check:ident, 11..=25) => { crate::support::jdks!($module, $check, [11, 17, 21, 25]); };
    ($module:ident, $check:ident, feature) => { crate::support::jdks!($module, $check, [8, 25], all [17]); };
    ($module:ident, $check:ident, [$($release:tt),+] $(, all [$($more:tt),+])?) => {
        mod $module {
            $(crate::support::jdks!(@test of_version $check $release);)+
            $($(crate::support::jdks!(@test unless_fewer $check $more);)+)?
        }
    };
    (@test $find:ident $check:ident 8) => { crate::support::jdks!(@test $find $check 8 jdk_8); };
    (@test $find:ident $check:ident 11) => { crate::support::jdks!(@test $find $check 11 jdk_11); };
    (@test $find:ident $check:ident 17) => { crate::support::jdks!(@test $find $check 17 jdk_17); };
    (@test $find:ident $check:ident 21) => { crate::support::jdks!(@test $find $check 21 jdk_21); };
    (@test $find:ident $check:ident 25) => { crate::support::jdks!(@test $find $check 25 jdk_25); };
    (@test $find:ident $check:ident 26) => { crate::support::jdks!(@test $find $check 26 jdk_26); };
    (@test $find:ident $check:ident 27) => { crate::support::jdks!(@test $find $check 27 jdk_27); };
    (@test $find:ident $check:ident $release:literal $test:ident) => {
        #[test]
        fn $test() {
            if let Some(jdk) = crate::support::Jdk::$find($release) {
                super::$check(jdk);
            }
        }
    };
}
pub(crate) use jdks;

/// The variable by which `cargo xtask test` without `--all-jdks` leaves out tests that take long on
/// some JDKs.
const FEWER: &str = "CCTREWRITE_FEWER_JDKS";

const _: () = assert!(
    matches!(cct_jdk::TESTED, [8, 11, 17, 21, 25, 26, 27]),
    "the ranges of `jdks!` lack a release that is tested"
);

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

/// A new empty folder of this test; its name begins with a number. It is removed when the test has
/// passed: together they would fill a disk.
pub fn folder(name: &str) -> PathBuf {
    let folder = lasting_folder(name);
    MADE.with_borrow_mut(|made| made.0.push(folder.clone()));
    folder
}

/// A new empty folder that other tests may use, too.
pub fn lasting_folder(name: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = scratch().join(format!("{number:03}-{name}"));
    fs::create_dir(&folder).unwrap();
    folder
}

/// The folders of the test that runs in a thread, removed at its end.
struct TestFolders(Vec<PathBuf>);

thread_local! {
    static MADE: RefCell<TestFolders> = {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                FAILED.set(true);
                report(info);
            }));
        });
        RefCell::new(TestFolders(Vec::new()))
    };
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

impl Drop for TestFolders {
    fn drop(&mut self) {
        // For diagnosis, all folders of a failed test stay.
        if FAILED.try_with(Cell::get) == Ok(false) {
            self.0.drain(..).for_each(|folder| drop(fs::remove_dir_all(folder)));
        }
    }
}

/// A file or folder of `fixtures/`.
pub fn fixture(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(below)
}

/// Copies all files of a folder, including subfolders and the targets of links.
pub fn copy_all(from: &Path, to: &Path) {
    for entry in WalkDir::new(from).follow_links(true) {
        let entry = match entry {
            // Installed JDKs have links to packages that may be missing.
            Err(error) if error.path().is_some_and(|path| path.is_symlink() && !path.exists()) => continue,
            entry => entry.unwrap(),
        };
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else if fs::metadata(entry.path()).unwrap().mode() & 0o111 != 0 {
            executable::copy(entry.path(), &target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Compiles a native library from a file of `fixtures/`, with the headers of a JDK. Returns `None`,
/// with a message, if there is no C compiler or no header.
pub fn jni_library(jdk: &Jdk, source: &str, library: &Path) -> Option<PathBuf> {
    let mut compile = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compile.args(["-shared", "-fPIC", "-pthread", "-o"]).arg(library).arg(fixture(source));
    for include in ["include", "include/linux"] {
        compile.arg("-I").arg(jdk.path(include));
    }
    if compile.output().is_err() || !jdk.path("include/jni.h").is_file() {
        eprintln!("skipped: no C compiler, or no jni.h in the JDK");
        return None;
    }
    assert_succeeded(&mut compile);
    Some(library.to_owned())
}

/// Runs `cctrewrite instrument`, which must succeed, and returns its standard error.
pub fn instrument(inputs: &[PathBuf], libraries: &[PathBuf], output: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.arg("instrument").args(inputs).arg("-o").arg(output).args(options).args(carrier(options));
    for library in libraries {
        command.arg("--library").arg(library);
    }
    assert_succeeded(&mut command)
}

/// The option `--context` with the value of the variable `CONTEXT`, unless a test sets it itself.
/// `CONTEXT=thread` runs the whole suite with contexts that the thread carries. (Tests of extended
/// signatures then fail.)
pub fn carrier(options: &[&str]) -> Vec<String> {
    match std::env::var("CONTEXT") {
        Ok(carrier) if !options.contains(&"--context") => vec!["--context".to_owned(), carrier],
        _ => Vec::new(),
    }
}

/// Runs a command, which must succeed, and returns its standard error.
pub fn assert_succeeded(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    error
}

/// Compares lines in their order. Reports lines that only one side has, or the first place where
/// the order differs.
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
