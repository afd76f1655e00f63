//! Instrumented class libraries, built once for all tests of the process.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cct_columns::Column;

use super::{Java, Jdk, copy_all, fixture, instrument, scratch};

/// The rule of counting, with further options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    Default,
    Precise,
    Exact,
    /// Exact, with activation counters: for agents that report.
    Reporting,
    /// Exact, with call sites distinguished.
    Sites,
    /// Exact, with contexts that the thread carries.
    Thread,
    /// Exact, with call sites distinguished, and contexts that the thread carries.
    ThreadSites,
    /// The cost of bytecodes by the model `unit`, by each of the rules.
    Unit,
    UnitPrecise,
    UnitDefault,
    /// The cost of bytecodes by the model `jop`.
    Jop,
    /// By tables that define where blocks end.
    LikeDefault,
    LikePrecise,
    Calls,
    /// Exact, with objects counted.
    Objects,
    /// Exact, with objects counted and call sites distinguished.
    ObjectsAndSites,
    /// Exact, with all columns.
    Columns,
    /// Exact, with all columns, objects and call sites, and contexts that the thread carries.
    ColumnsAndAll,
    /// Exact, without representing natives.
    NoNatives,
    /// Exact, without representing natives, with contexts that the thread carries.
    ThreadNoNatives,
    /// Exact, with contexts that the thread carries, and natives renamed.
    Prefix,
}

/// The rules, each tested with everything.
pub const ALL_BLOCKS: [Blocks; 3] = [Blocks::Default, Blocks::Precise, Blocks::Exact];

impl Blocks {
    /// Number of variants.
    pub const ALL: usize = Blocks::Prefix as usize + 1;

    /// The name on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Blocks::Default => "default",
            Blocks::Precise => "precise",
            Blocks::Exact => "exact",
            Blocks::Reporting => "reporting",
            Blocks::Sites => "sites",
            Blocks::Unit => "unit",
            Blocks::UnitPrecise => "unit-precise",
            Blocks::UnitDefault => "unit-default",
            Blocks::Jop => "jop",
            Blocks::LikeDefault => "like-default",
            Blocks::LikePrecise => "like-precise",
            Blocks::Calls => "calls",
            Blocks::Thread => "thread",
            Blocks::ThreadSites => "thread-sites",
            Blocks::Objects => "objects",
            Blocks::ObjectsAndSites => "objects-sites",
            Blocks::Columns => "columns",
            Blocks::ColumnsAndAll => "columns-all",
            Blocks::NoNatives => "no-natives",
            Blocks::ThreadNoNatives => "thread-no-natives",
            Blocks::Prefix => "prefix",
        }
    }

    /// The name of the rule.
    pub fn rule(self) -> &'static str {
        match self {
            Blocks::Default | Blocks::Precise => self.name(),
            Blocks::UnitDefault => "default",
            Blocks::UnitPrecise => "precise",
            _ => "exact",
        }
    }

    /// The name of the expected numbers in file names: exact ones equal the precise ones.
    pub fn numbers(self) -> &'static str {
        match self {
            Blocks::Default | Blocks::UnitDefault | Blocks::LikeDefault => "default",
            Blocks::Calls => "calls",
            Blocks::Jop => "jop",
            _ => "precise",
        }
    }

    /// The options of outputs with this rule.
    pub fn options(self) -> &'static [&'static str] {
        static COLUMNS: OnceLock<Vec<&str>> = OnceLock::new();
        static COLUMNS_AND_ALL: OnceLock<Vec<&str>> = OnceLock::new();
        match self {
            Blocks::Default => &["--blocks", "default"],
            Blocks::Precise => &["--blocks", "precise"],
            Blocks::Exact => &["--blocks", "exact"],
            Blocks::Reporting => &["--activation-counters"],
            Blocks::Sites => &["--call-sites"],
            Blocks::Thread => &["--context", "thread"],
            Blocks::ThreadSites => &["--context", "thread", "--call-sites"],
            Blocks::Unit => &["--cost-model", "unit"],
            Blocks::UnitPrecise => &["--cost-model", "unit", "--blocks", "precise"],
            Blocks::UnitDefault => &["--cost-model", "unit", "--blocks", "default"],
            Blocks::Jop => &["--cost-model", "jop"],
            Blocks::LikeDefault => &["--blocks", "like-default"],
            Blocks::LikePrecise => &["--blocks", "like-precise"],
            Blocks::Calls => &["--blocks", "calls"],
            Blocks::Objects => &["--allocations"],
            Blocks::ObjectsAndSites => &["--allocations", "--call-sites"],
            Blocks::Columns => with_columns(&COLUMNS, &[]),
            Blocks::ColumnsAndAll => {
                with_columns(&COLUMNS_AND_ALL, &["--allocations", "--call-sites", "--context", "thread"])
            }
            Blocks::NoNatives => &["--natives", "none"],
            Blocks::ThreadNoNatives => &["--natives", "none", "--context", "thread"],
            Blocks::Prefix => &["--natives", "prefix", "--context", "thread"],
        }
    }
}

/// The options that count the columns, one each, and further options.
fn with_columns(
    options: &'static OnceLock<Vec<&'static str>>,
    further: &[&'static str],
) -> &'static [&'static str] {
    options.get_or_init(|| {
        let of_columns = Column::all().map(|column| &*format!("--{}", column.name()).leak());
        of_columns.chain(further.iter().copied()).collect()
    })
}

/// Fixtures in the common folder of programs; tests put the others on class paths themselves.
const PROGRAMS: &[&str] = &[
    "agents",
    "allocations",
    "calls",
    "causes",
    "control",
    "drift",
    "ending",
    "exceptions",
    "faults",
    "frames",
    "hello",
    "initialisers",
    "intrinsics",
    "lambdas",
    "link",
    "loaders",
    "monitors",
    "natives",
    "overflow",
    "recursion",
    "renamed",
    "semantics",
    "shapes",
    "swarm",
    "threads",
    "traces",
    "turns",
    "types",
];

/// An instrumented class library, with its instrumented fixtures.
#[derive(Debug)]
pub struct Library {
    jdk: &'static Jdk,
    boot: Vec<PathBuf>,
    extensions: Option<PathBuf>,
    /// The instrumented `tools.jar`.
    pub tools: Option<PathBuf>,
    /// A folder with the classes of all fixtures.
    pub programs: PathBuf,
    /// Whether natives are renamed, so that the JVM needs the agent.
    renames_natives: bool,
    /// Whether the verifier checks all classes in each JVM.
    verifies: bool,
}

impl Library {
    /// Libraries whose classes `boot::every_class_links_and_verifies` verifies completely, so that
    /// each JVM need not.
    pub const LINKED: [Blocks; 5] =
        [Blocks::Default, Blocks::Precise, Blocks::Exact, Blocks::Thread, Blocks::Prefix];

    /// The whole class library, its tools and the fixtures, instrumented in one run.
    pub fn whole(jdk: &'static Jdk, blocks: Blocks) -> &'static Library {
        static LIBRARIES: [OnceLock<Library>; Blocks::ALL] = [const { OnceLock::new() }; Blocks::ALL];
        LIBRARIES[blocks as usize].get_or_init(|| {
            let folder = scratch().join(format!("whole-{}", blocks.name()));
            let (boot, extensions) = (jdk.boot_jars(), jdk.extension_jars());
            let mut inputs = [boot.clone(), extensions.clone(), vec![jdk.tools_jar()]].concat();
            inputs.push(plain_programs().to_owned());
            instrument(&inputs, &[], &folder, blocks.options());
            let extension_folder = folder.join("ext");
            fs::create_dir(&extension_folder).unwrap();
            for jar in &extensions {
                let name = jar.file_name().unwrap();
                fs::rename(folder.join(name), extension_folder.join(name)).unwrap();
            }
            Library {
                jdk,
                boot: boot.iter().map(|jar| folder.join(jar.file_name().unwrap())).collect(),
                extensions: Some(extension_folder),
                tools: Some(folder.join("tools.jar")),
                programs: folder.join("programs"),
                renames_natives: blocks == Blocks::Prefix,
                verifies: !Library::LINKED.contains(&blocks),
            }
        })
    }

    /// `rt.jar` alone, as from `cctrewrite instrument rt.jar -o inst_rt.jar`; the fixtures in a run
    /// of their own.
    pub fn rt_alone(jdk: &'static Jdk) -> &'static Library {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY.get_or_init(|| {
            let folder = scratch().join("alone");
            fs::create_dir(&folder).unwrap();
            let boot = folder.join("inst_rt.jar");
            instrument(&[jdk.rt_jar()], &[], &boot, &[]);
            let programs = folder.join("programs");
            instrument(&[plain_programs().to_owned()], &[jdk.rt_jar()], &programs, &[]);
            Library {
                jdk,
                boot: vec![boot],
                extensions: None,
                tools: None,
                programs,
                renames_natives: false,
                verifies: true,
            }
        })
    }

    /// A library from jars of a test.
    pub fn of(jdk: &'static Jdk, boot: Vec<PathBuf>, programs: PathBuf) -> Library {
        Library { jdk, boot, extensions: None, tools: None, programs, renames_natives: false, verifies: true }
    }

    /// A JVM on this library, with the instrumented fixtures on its class path.
    pub fn java(&self, name: &str) -> Java {
        let mut java = self.java_without_load_time(name);
        java.option(format!("-Dcctrewrite.loadtime={}", load_time_library().display()));
        java
    }

    /// A JVM on this library without the load-time library.
    pub fn java_without_load_time(&self, name: &str) -> Java {
        let mut java = Java::new(self.jdk, name);
        java.option(format!("-Xbootclasspath/p:{}", join(&self.boot)));
        if let Some(folder) = &self.extensions {
            java.option(format!("-Djava.ext.dirs={}", folder.display()));
        }
        java.class_path([&self.programs]);
        if self.verifies {
            java.verify();
        }
        if self.renames_natives {
            java.option(format!("-agentpath:{}", beside_the_tests("cctrewrite_prefix").display()));
        }
        java
    }
}

/// The path of the load-time library, which cargo builds next to the tests.
pub fn load_time_library() -> PathBuf {
    beside_the_tests("cctrewrite_loadtime")
}

/// The path of a library that cargo builds next to the tests.
fn beside_the_tests(name: &str) -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let library = folder.join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"));
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// The fixtures' classes in one folder.
pub fn plain_programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch().join("programs");
        for name in PROGRAMS {
            copy_all(&fixture(name).join("classes"), &folder);
        }
        folder
    })
}

/// A class path.
pub fn join<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> String {
    let paths = paths.into_iter().map(|p| p.as_ref().display().to_string());
    paths.collect::<Vec<_>>().join(":")
}
