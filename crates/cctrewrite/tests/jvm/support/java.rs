//! Runs of a JVM.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cct_profile::contexts::{ContextsOptions, write_contexts};
use cct_profile::names::NameStyle;
use cct_profile::{Pattern, Profile, Selection};

use super::library::join;
use super::{Jdk, folder};

/// Time limit: no program here takes nearly as long, so a JVM that does hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// A JVM to be started, in a folder of its own.
#[derive(Debug)]
pub struct Java {
    program: PathBuf,
    version: u32,
    /// The JVM's working directory.
    pub folder: PathBuf,
    options: Vec<String>,
    class_path: Vec<PathBuf>,
    address_space: Option<u64>,
    /// A program, with its arguments, that starts it.
    through: Vec<String>,
}

impl Java {
    /// A JVM of a JDK; `name` is for the folder.
    pub fn new(jdk: &Jdk, name: &str) -> Java {
        let folder = folder(name);
        let options = vec![
            format!("-Dcctrewrite.out={}", folder.join("profile.cct").display()),
            "-Djava.awt.headless=true".to_owned(),
            "-XX:+UseSerialGC".to_owned(),
        ];
        Java {
            program: jdk.path("bin/java"),
            version: jdk.version,
            folder,
            options,
            class_path: Vec::new(),
            address_space: None,
            through: Vec::new(),
        }
    }

    /// Lets another program start it: this one, whose last arguments are then the JVM and its
    /// arguments.
    pub fn through(&mut self, program: &[&str]) -> &mut Self {
        self.through = program.iter().map(|&part| part.to_owned()).collect();
        self
    }

    /// Limits its address space, in KiB; further requests fail.
    pub fn address_space(&mut self, kib: u64) -> &mut Self {
        self.address_space = Some(kib);
        self
    }

    /// Adds an option.
    pub fn option(&mut self, option: impl Into<String>) -> &mut Self {
        self.options.push(option.into());
        self
    }

    /// Removes the options with this prefix.
    pub fn forget(&mut self, prefix: &str) -> &mut Self {
        self.options.retain(|option| !option.starts_with(prefix));
        self
    }

    /// Empties the class path.
    pub fn forget_class_path(&mut self) -> &mut Self {
        self.class_path.clear();
        self
    }

    /// Starts without an archive of classes, whose classes are partly initialised and whose strings
    /// have their hash codes.
    pub fn without_archive(&mut self) -> &mut Self {
        self.option("-Xshare:off")
    }

    /// Makes the verifier check the classes of the boot class path, too.
    pub fn verify(&mut self) -> &mut Self {
        if self.version == 8 {
            return self.option("-Xverify:all");
        }
        // The effect of -Xverify:all, which is deprecated since 13.
        self.option("-XX:+UnlockDiagnosticVMOptions")
            .option("-XX:+BytecodeVerificationLocal")
            .option("-XX:+BytecodeVerificationRemote")
    }

    /// Adds to the class path.
    pub fn class_path<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> &mut Self {
        self.class_path.extend(paths.into_iter().map(|p| p.as_ref().to_owned()));
        self
    }

    /// Starts it; `main` is a class, or `-m module/class`.
    pub fn start(&self, main: &str, arguments: &[&str]) -> RunningJvm {
        let mut command = match (self.address_space, self.through.split_first()) {
            (None, None) => Command::new(&self.program),
            (None, Some((program, arguments))) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(&self.program);
                command
            }
            (Some(kib), _) => {
                let mut shell = Command::new("sh");
                let limited = format!("ulimit -c 0 && ulimit -v {kib} && exec \"$0\" \"$@\"");
                shell.env("MALLOC_ARENA_MAX", "1").arg("-c").arg(limited).arg(&self.program);
                shell
            }
        };
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
            command.env_remove(variable);
        }
        command.current_dir(&self.folder).args(&self.options);
        if !self.class_path.is_empty() {
            command.arg("-cp").arg(join(&self.class_path));
        }
        command.args(main.split(' ')).args(arguments);
        let file = |name| File::create(self.folder.join(name)).unwrap();
        command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
        RunningJvm {
            child: command.spawn().unwrap(),
            version: self.version,
            started: Instant::now(),
            folder: self.folder.clone(),
            command: format!("{command:?}"),
        }
    }

    /// Runs it to its end, with any result.
    pub fn run(&self, main: &str, arguments: &[&str]) -> Run {
        self.start(main, arguments).wait()
    }

    /// Runs it and checks that it succeeds.
    pub fn succeed(&self, main: &str, arguments: &[&str]) -> Run {
        let run = self.run(main, arguments);
        run.assert_code(0);
        run
    }
}

/// A running JVM.
#[derive(Debug)]
pub struct RunningJvm {
    child: Child,
    version: u32,
    started: Instant,
    folder: PathBuf,
    command: String,
}

impl RunningJvm {
    /// The JVM's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The path of the future profile.
    pub fn profile_path(&self) -> PathBuf {
        self.folder.join("profile.cct")
    }

    /// Waits until it has printed a line.
    pub fn wait_for(&mut self, line: &str) {
        let started = Instant::now();
        while !read(&self.folder.join("out")).lines().any(|l| l == line) {
            let runs = self.child.try_wait().unwrap().is_none() && started.elapsed() < LIMIT;
            assert!(runs, "{}: never said {line}: {}", self.command, read(&self.folder.join("err")));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The stacks of its threads: the JVM prints them on a signal.
    fn stacks(&self) -> String {
        let out = self.folder.join("out");
        let before = read(&out).len();
        let asked = Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status();
        std::thread::sleep(Duration::from_secs(10));
        let printed =
            read(&out).get(before..).map_or(String::new(), |text| text.chars().take(20_000).collect());
        format!("{printed} ({asked:?})")
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Run {
        let started = Instant::now();
        let status_file = format!("/proc/{}/status", self.child.id());
        let mut peak = 0;
        let status = loop {
            // Nothing can be read for an ended process: the last query counts.
            let of_process = fs::read_to_string(&status_file).unwrap_or_default();
            peak = peak.max(mebibytes(&of_process, "VmHWM:").unwrap_or(0));
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > LIMIT {
                let stacks = self.stacks();
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                let said = read(&self.folder.join("err"));
                panic!("{} hangs; it said: {said}\nIts threads: {stacks}", self.command);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // For the summary of `cargo xtask test`.
        eprintln!("JDK {}: a JVM ran for {} ms", self.version, self.started.elapsed().as_millis());
        Run {
            code: status.code(),
            out: read(&self.folder.join("out")),
            err: read(&self.folder.join("err")),
            peak,
            folder: self.folder,
            command: self.command,
        }
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

/// A line of a file in `/proc`, such as `VmHWM: 12345 kB`, in MiB.
pub fn mebibytes(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(value.split_whitespace().next()?.parse::<u64>().ok()? >> 10)
}

/// The result of a JVM.
#[derive(Debug)]
pub struct Run {
    /// The JVM's exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The JVM's peak memory, in MiB.
    pub peak: u64,
    /// The JVM's working directory.
    pub folder: PathBuf,
    command: String,
}

impl Run {
    /// Checks the exit code.
    pub fn assert_code(&self, code: i32) {
        let last = |text: &str| {
            text.lines().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        let (out, err) = (last(&self.out), last(&self.err));
        assert_eq!(self.code, Some(code), "{}\nend of out: {out}\nend of err: {err}", self.command);
    }

    /// The path of the profile, if there is one.
    pub fn profile_path(&self) -> PathBuf {
        self.folder.join("profile.cct")
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        let bytes = fs::read(self.profile_path());
        let bytes =
            bytes.unwrap_or_else(|e| panic!("{}: no profile: {e}\n{}{}", self.command, self.out, self.err));
        let profile = Profile::read(&bytes).unwrap();
        assert!(profile.damage.is_empty(), "{}: {:?}", self.command, profile.damage);
        profile
    }

    /// The lines of the list of all contexts, without comments.
    pub fn contexts(&self, per_thread: bool) -> Vec<String> {
        lines(&self.profile(), per_thread)
    }

    /// The lines of the list of contexts at and below a method, the method first.
    pub fn contexts_from(&self, method: &str) -> Vec<String> {
        let selection = Selection { root: Some(Pattern::new(method)), ..Selection::default() };
        let selected = selection.of_profile(self.profile(), NameStyle::default()).unwrap();
        lines(&selected.profile, false)
    }
}

fn lines(profile: &Profile, per_thread: bool) -> Vec<String> {
    let mut text = Vec::new();
    write_contexts(profile, ContextsOptions { per_thread, ..Default::default() }, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}
