//! Arguments of `cctrewrite run`.

use std::ffi::OsString;
use std::path::PathBuf;

use cct_rewrite::marks::MethodName;
use clap::{Args, ValueEnum, value_parser};

use super::{Choices, Jdk, UdiArguments, WantedArguments};

const EXAMPLES: &str = "\
Examples:
  A program as it is, and what it did:
    cctrewrite run -- java -jar app.jar
    cctrewrite report cctrewrite.cct --top 20

  A build with all JVMs that it starts: one profile of all, and one of each in build.jvms:
    cctrewrite run -o build.cct -- mvn -o test

  Only the parts of a program that it says itself (docs/use/parts.md):
    cctrewrite run --regions -- java -cp classes:cctrewrite-api.jar Harness

  Only what one method does, whoever calls it:
    cctrewrite run --extent com.acme.Server.handle -- java -jar server.jar

  Everything, without the class library: what it calls back hangs under the program's own methods
    cctrewrite run --only 'com.acme.**' -- java -jar app.jar

  How often a program as it is comes to places of your choice (docs/research/markers.md), and whether it does with its objects what it may (docs/research/typestate.md):
    cctrewrite run --tool markers --markers rules.toml -- java -jar app.jar
    cctrewrite run --tool markers --typestate iterator -- java -jar app.jar
    cctrewrite typestate report cctrewrite.typestate

  The same beside a profile, in which violations have their nodes:
    cctrewrite run --typestate iterator -- java -jar app.jar

  Another JDK than the command would use, and the same profile each time:
    cctrewrite run --jdk $JAVA_HOME --reproducible -- java -cp classes Main

The command's exit code is passed on. If it is 0 and a JVM left no profile, the exit code is 125; 126 and 127 mean that the command
cannot be started or found, as with env(1).";

/// Run a command on a profiled JDK and collect what its JVMs leave behind
///
/// The JDK is the one that the command would use. Its profiled image is made at the first use and taken from the cache afterwards. Arguments,
/// standard streams and the exit code are those of the command; JVMs that it starts, and those that these start, are profiled.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Run {
    /// The command and its arguments, behind `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Where the profile goes. Of several JVMs it is the sum, and the profile of each goes into a folder beside it: FILE with the ending
    /// `.jvms`
    #[arg(short, long, value_name = "FILE", default_value = "cctrewrite.cct")]
    pub output: PathBuf,

    /// The JDK to use [default: the one that COMMAND belongs to, else $JAVA_HOME, else that of `java` on the PATH]
    #[arg(long, value_name = "JAVA_HOME")]
    pub jdk: Option<PathBuf>,

    #[command(flatten)]
    pub choices: Choices,

    #[command(flatten)]
    pub udi: UdiArguments,

    /// Record only what the program itself asks for: what is executed between cctrewrite.api.Recording.start() and stop()
    /// (`cctrewrite api` writes that class), of each thread or of all
    #[arg(long)]
    pub regions: bool,

    /// Record everything from the first entry of this method on, in all threads: `com.acme.Main.run`, or with a descriptor
    /// `com.acme.Main.run(I)V`. It must be a method of the program
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub start_at: Option<String>,

    /// Record only what this method executes and calls, whoever calls it (repeatable); the rest of the program runs as if nothing were
    /// recorded. It must be a method of the program that has a body, and no constructor
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub extent: Vec<String>,

    /// With a cost model, record also the threads of the JVM's own (finalization, references, cleaners), which do not run on the target
    #[arg(long, requires = "cost_model")]
    pub system_threads: bool,

    #[command(flatten)]
    pub tracing: Tracing,

    #[command(flatten)]
    pub marking: Marking,

    /// With --tool pcc: so much memory, in MiB, for the tables in which threads count; what finds no room there is counted, and said [default: 256]
    #[arg(long, value_name = "MIB", value_parser = value_parser!(u32).range(1..))]
    pub pcc_memory: Option<u32>,

    #[command(flatten)]
    pub wanted: WantedArguments,

    /// How many contexts each JVM keeps apart, those of all its threads together: the ones that come up later are added up under one marked
    /// node in each tree, so that sums stay exact, and a note says so [default: as many as memory has room for]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=i64::MAX as u64))]
    pub max_contexts: Option<u64>,

    /// How often a method may be on the stack of a context: `unbounded`, or a number; `fold` is 1. A call of one that is there so often goes back to the
    /// context that it has there, and what it calls from then on hangs below that
    #[arg(long, value_name = "TIMES", default_value = "unbounded", value_parser = recursion)]
    pub recursion: String,

    /// What makes two classes the same in the profile. `name`: their names. `loader`: their names and, of loaders of the program's, the loader, which is part of the name
    /// then: `com.acme.Task~PluginLoader#2` is of the second PluginLoader that defined a class
    #[arg(long, value_enum, default_value_t = IdentityArgument::Name)]
    pub identity: IdentityArgument,

    /// The folder of images [default: $CCTREWRITE_CACHE, else the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,

    /// How many frames the stack trace of an exception has at most; -1 for no limit. Give here what would be
    /// -XX:MaxJavaStackTraceDepth without cctrewrite
    #[arg(long, value_name = "FRAMES", default_value_t = crate::traces::DEFAULT_DEPTH, allow_negative_numbers = true,
        value_parser = value_parser!(i32).range(-1..=crate::traces::MAX_DEPTH))]
    pub stack_depth: i32,

    /// Say nothing but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// How traces are written (docs/research/trace.md).
#[derive(Debug, Clone, Args)]
pub struct Tracing {
    /// With --tool trace: `thread`, each thread's events for themselves; or `shared`, so that the order between threads is known too, which is slower
    #[arg(long, value_enum, default_value_t = TraceMode::Thread)]
    pub trace_mode: TraceMode,

    /// With --tool trace: only the last events of each thread, so many at least, whatever ends the JVM
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1 << 30), conflicts_with = "trace_memory")]
    pub trace_last: Option<u32>,

    /// With --tool trace: so many bytes of events (as in 500m or 4g) stay in memory until the JVM ends, and are written then
    #[arg(long, value_name = "SIZE")]
    pub trace_memory: Option<String>,

    /// With --tool trace: of which class the receiver of each method is
    #[arg(long)]
    pub trace_receivers: bool,
}

/// Who hears of markers (docs/research/markers.md).
#[derive(Debug, Clone, Args)]
pub struct Marking {
    /// With rules for markers: a class of yours that implements cctrewrite.markers.Client (repeatable). Where there is none, and no property, how often each marker was
    /// come to is counted
    #[arg(long, value_name = "CLASS")]
    pub client: Vec<String>,

    /// With rules for markers: a jar or a folder in which clients are (repeatable), as they are on no class path of the program's
    #[arg(long, value_name = "PATH")]
    pub client_path: Vec<PathBuf>,

    /// With rules for markers: a file of lines `on TOKEN` and `off TOKEN`, read whenever it changes, by which markers are switched while the program runs
    #[arg(long, value_name = "FILE")]
    pub marker_control: Option<PathBuf>,

    /// With --typestate: what part of the time, in per cent, the analysis may take; if it would be more, not all objects are followed, which the report says
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub typestate_budget: Option<f64>,
}

impl Marking {
    /// What the runtime is told. `counts` is whether nobody else hears.
    fn options(&self, counts: bool) -> Vec<(&'static str, String)> {
        // The JVM may be in another folder.
        let absolute = |path: &PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.display().to_string()
        };
        let path: Vec<String> = self.client_path.iter().map(absolute).collect();
        let mut options = Vec::new();
        if !self.client.is_empty() {
            options.push(("markers.clients", self.client.join(",")));
        }
        if !path.is_empty() {
            options.push(("markers.client-path", path.join(":")));
        }
        if counts {
            options.push(("markers.counts", "all".to_owned()));
        }
        options.extend(self.marker_control.as_ref().map(|file| ("markers.control", absolute(file))));
        options.extend(self.typestate_budget.map(|budget| ("typestate.budget", budget.to_string())));
        options
    }

    /// The option that only markers know, if one was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (!self.client.is_empty(), "--client"),
            (!self.client_path.is_empty(), "--client-path"),
            (self.marker_control.is_some(), "--marker-control"),
            (self.typestate_budget.is_some(), "--typestate-budget"),
        ];
        given.iter().find(|(given, _)| *given).map(|(_, option)| *option)
    }
}

/// Whether threads are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceMode {
    /// One trace for each thread
    Thread,
    /// One trace of all threads, in order
    Shared,
}

impl Tracing {
    /// What the runtime is told.
    fn options(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mode = (self.trace_mode == TraceMode::Shared).then(|| ("trace-mode", "shared".to_owned()));
        let last = self.trace_last.map(|last| ("trace-last", last.to_string()));
        let memory = self.trace_memory.clone().map(|memory| ("trace-memory", memory));
        let receivers = self.trace_receivers.then(|| ("trace-receivers", "yes".to_owned()));
        mode.into_iter().chain(last).chain(memory).chain(receivers)
    }

    /// The option that only traces know, if one was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.trace_mode != TraceMode::Thread, "--trace-mode"),
            (self.trace_last.is_some(), "--trace-last"),
            (self.trace_memory.is_some(), "--trace-memory"),
            (self.trace_receivers, "--trace-receivers"),
        ];
        given.iter().find(|(given, _)| *given).map(|(_, option)| *option)
    }
}

/// What makes two classes the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdentityArgument {
    /// Their names
    Name,
    /// Their names, and who loaded them
    Loader,
}

/// A method as the runtime takes it.
fn method(text: &str) -> Result<String, String> {
    match MethodName::parse(text) {
        Some(_) => Ok(text.to_owned()),
        None => {
            Err("a class and a method are expected, as in com.acme.Main.run or com.acme.Main.run(I)V"
                .to_owned())
        }
    }
}

/// A part of the time.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number) && *number > 0.0);
    number.ok_or_else(|| "a number of per cent is expected, above 0 and at most 100".to_owned())
}

/// A bound on recursion as the runtime takes it.
fn recursion(text: &str) -> Result<String, String> {
    let is_number = text.parse::<i32>().is_ok_and(|times| times > 0);
    match text {
        "unbounded" | "fold" => Ok(text.to_owned()),
        _ if is_number => Ok(text.to_owned()),
        _ => Err("choose unbounded, fold, or how often a method may be on a stack, 1 or more".to_owned()),
    }
}

impl Run {
    /// What the runtime in each JVM is told, as if it were given by properties `cctrewrite.KEY`.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let regions = self.regions.then(|| ("record", "regions".to_owned()));
        let start_at = self.start_at.iter().map(|method| ("start-at", method.clone()));
        let extents = (!self.extent.is_empty()).then(|| ("extent", self.extent.join(",")));
        let bound = self.max_contexts.map(|contexts| ("max-contexts", contexts.to_string()));
        let recursion = (self.recursion != "unbounded").then(|| ("recursion", self.recursion.clone()));
        let system_threads = self.system_threads.then(|| ("system-threads", "yes".to_owned()));
        let given = regions.into_iter().chain(start_at).chain(extents);
        let by_loader = self.identity == IdentityArgument::Loader;
        let identity = by_loader.then(|| ("identity", "loader".to_owned()));
        let tracing = self.tracing.options();
        let memory = self.pcc_memory.map(|mebibytes| ("pcc-memory", mebibytes.to_string()));
        let given = given.chain(self.udi.told()).chain(identity).chain(bound).chain(memory);
        let counts = self.choices.counts_markers() && self.marking.client.is_empty();
        let marking = self.marking.options(counts);
        given.chain(system_threads).chain(recursion).chain(tracing).chain(marking).collect()
    }

    /// Whether classes are told apart by their loaders.
    pub fn identity_is_by_loader(&self) -> bool {
        self.identity == IdentityArgument::Loader
    }

    /// The image that is needed of a JDK.
    pub fn image(&self, home: PathBuf) -> Jdk {
        let image =
            Jdk::for_use(home, self.choices.clone(), self.cache.clone(), self.stack_depth, self.quiet);
        Jdk { udi: self.udi.clone(), ..image }
    }
}
