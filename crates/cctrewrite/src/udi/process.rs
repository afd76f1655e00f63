//! The process of a module: started, asked, and ended whatever happens.

use std::fs;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use cct_rewrite::mid::ClassHash;
use cct_rewrite::udi::wire::{self, Answer, WireError};
use cct_rewrite::udi::{Outcome, RuntimeClass};

use crate::api_command;
use crate::args::UdiArguments;

/// A running module.
#[derive(Debug)]
pub struct Process {
    module: PathBuf,
    child: Child,
    timeout: Duration,
    /// What a JVM starts from; it goes when the module has ended.
    _host: Option<tempfile::TempPath>,
}

/// A class that a module is shown.
#[derive(Debug)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// The hash of its bytes.
    pub hash: ClassHash,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What comes out of the module.
enum Said {
    Greeting(Vec<RuntimeClass>),
    Answer(Answer),
    /// Nothing any more, as it should be.
    End,
}

/// How often it is asked whether a module has ended.
const STEP: Duration = Duration::from_millis(5);

/// Answers that wait to be taken.
const WAITING: usize = 64;

impl Process {
    /// Starts a module: a jar in a JVM, anything else as a program.
    pub fn start(module: &Path, arguments: &UdiArguments) -> Result<Process> {
        let mut first = [0; 4];
        let is_jar = fs::File::open(module)
            .and_then(|mut file| file.read_exact(&mut first))
            .is_ok_and(|()| first == *b"PK\x03\x04");
        let mut host = None;
        let mut command = if is_jar {
            let jar = tempfile::Builder::new().prefix("cctrewrite-udi-").suffix(".jar").tempfile();
            let (mut file, path) = jar.context("cannot make a temporary file")?.into_parts();
            file.write_all(&api_command::jar()?).context("cannot write a temporary file")?;
            let mut command = Command::new(java(arguments)?);
            // Should that be a profiled JDK: nothing of the module is to be recorded.
            command
                .arg("-Dcctrewrite.record=off")
                .arg("-cp")
                .arg(&path)
                .arg("cctrewrite.udi.Host")
                .arg(module);
            host = Some(path);
            command
        } else {
            // A name without a folder would be looked for on the PATH.
            Command::new(
                fs::canonicalize(module).with_context(|| format!("{}: cannot find", module.display()))?,
            )
        };
        // What the user set for other JVMs.
        for variable in
            ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "CCTREWRITE_RUN"]
        {
            command.env_remove(variable);
        }
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().with_context(|| {
            let program = Path::new(command.get_program()).display().to_string();
            format!(
                "module {}: cannot start {program}; a module is a jar, for which --udi-java names the JDK, or a program",
                module.display()
            )
        })?;
        Ok(Process { module: module.to_path_buf(), child, timeout: arguments.timeout(), _host: host })
    }

    /// Shows it all classes and hands each answer to `each`, in their order. Returns the module's own classes.
    ///
    /// Nobody waits for the threads: a process that the module has started may hold the pipes open when the module itself is ended.
    pub fn converse(
        &mut self,
        classes: &Arc<Vec<Shown>>,
        each: impl FnMut(&Shown, Outcome) -> Result<()>,
    ) -> Result<Vec<RuntimeClass>> {
        let (stdin, stdout) = self.child.stdin.take().zip(self.child.stdout.take()).context("no pipes")?;
        let (sender, receiver) = sync_channel(WAITING);
        let asked = Arc::clone(classes);
        // A module that reads no more has ended, or is about to: what it says tells why.
        thread::spawn(move || drop(ask(stdin, &asked)));
        let answers = classes.len();
        thread::spawn(move || hear(stdout, answers, &sender));
        self.take_all(classes, &receiver, each)
    }

    fn take_all(
        &mut self,
        classes: &[Shown],
        receiver: &Receiver<Result<Said, WireError>>,
        mut each: impl FnMut(&Shown, Outcome) -> Result<()>,
    ) -> Result<Vec<RuntimeClass>> {
        let runtime = match self.next(receiver, "when it was started")? {
            Said::Greeting(runtime) => runtime,
            _ => bail!("module {}: it did not begin with its greeting", self.module.display()),
        };
        for class in classes {
            let at = format!("for class {}", class.name);
            match self.next(receiver, &at)? {
                Said::Answer(Answer::Outcome(outcome)) => each(class, outcome)?,
                Said::Answer(Answer::Failed(why)) => {
                    bail!("module {} failed {at}: {why}", self.module.display())
                }
                _ => bail!("module {}: it gave no answer {at}", self.module.display()),
            }
        }
        match self.next(receiver, "after the last class")? {
            Said::End => self.end()?,
            _ => bail!("module {}: it answered more than it was asked", self.module.display()),
        }
        Ok(runtime)
    }

    fn next(&mut self, receiver: &Receiver<Result<Said, WireError>>, at: &str) -> Result<Said> {
        let module = self.module.display().to_string();
        match receiver.recv_timeout(self.timeout) {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(WireError::Io(error))) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                let status = self.status()?.map_or(String::new(), |status| format!(" ({status})"));
                bail!(
                    "module {module} ended without an answer {at}{status}; if it said why, that stands above"
                )
            }
            Ok(Err(error)) => {
                Err(anyhow!(error).context(format!("module {module}: what it answered {at} is none")))
            }
            Err(RecvTimeoutError::Timeout) => bail!(
                "module {module} gave no answer {at} within {} s; let it think longer with --udi-timeout",
                self.timeout.as_secs()
            ),
            Err(RecvTimeoutError::Disconnected) => bail!("module {module}: nothing more came {at}"),
        }
    }

    /// Waits until it has ended by itself.
    fn end(&mut self) -> Result<()> {
        match self.status()? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("module {} ended with {status}", self.module.display()),
            None => bail!("module {} does not end when there are no more classes", self.module.display()),
        }
    }

    /// How it has ended, or ends soon; it may have closed its pipes and go on.
    fn status(&mut self) -> Result<Option<ExitStatus>> {
        let mut waited = Duration::ZERO;
        loop {
            let status = self.child.try_wait().context("cannot wait for the module")?;
            if status.is_some() || waited > self.timeout {
                return Ok(status);
            }
            thread::sleep(STEP);
            waited += STEP;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Of a process that has ended neither does anything.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(stdin: ChildStdin, classes: &[Shown]) -> std::io::Result<()> {
    let mut out = BufWriter::new(stdin);
    out.write_all(&wire::MAGIC)?;
    for class in classes {
        wire::write_field(&mut out, class.name.as_bytes())?;
        wire::write_field(&mut out, &class.bytes)?;
    }
    out.flush()
}

/// Hands on what comes; an error is the last.
fn hear(stdout: ChildStdout, answers: usize, to: &SyncSender<Result<Said, WireError>>) {
    let mut input = BufReader::new(stdout);
    let send = |said: Result<Said, WireError>| {
        let goes_on = said.is_ok();
        to.send(said).is_ok() && goes_on
    };
    if !send(wire::read_greeting(&mut input).map(Said::Greeting)) {
        return;
    }
    for _ in 0..answers {
        if !send(wire::read_answer(&mut input).map(Said::Answer)) {
            return;
        }
    }
    send(match input.read(&mut [0]) {
        Ok(0) => Ok(Said::End),
        Ok(_) => Ok(Said::Greeting(Vec::new())),
        Err(error) => Err(error.into()),
    });
}

/// The `java` that runs a jar.
fn java(arguments: &UdiArguments) -> Result<PathBuf> {
    let name = format!("java{}", std::env::consts::EXE_SUFFIX);
    let in_home = |home: &Path| home.join("bin").join(&name);
    if let Some(home) = &arguments.udi_java {
        let java = in_home(home);
        return match java.is_file() {
            true => Ok(java),
            false => bail!("{} has no bin/java; --udi-java names the home of a JDK", home.display()),
        };
    }
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let java = home.map(|home| in_home(Path::new(&home))).filter(|java| java.is_file());
    // Else whatever is on the PATH.
    Ok(java.unwrap_or_else(|| name.into()))
}
