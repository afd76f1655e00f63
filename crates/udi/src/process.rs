//! The process of a module.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use cct_index::mid::ClassHash;

use crate::error::Error;
use crate::hearing::{ModuleOutput, WAITING, hear};
use crate::module::{Outcome, RuntimeClass};
use crate::wire::{self, Answer, WireError};

/// The parameters for starting a module.
#[derive(Debug)]
pub struct Launch<'l> {
    /// A jar, which runs in a JVM, or a program.
    pub module: &'l Path,
    /// The home of the JDK for a jar; `None` for that of `JAVA_HOME`, or the `java` on the `PATH`.
    pub java: Option<&'l Path>,
    /// The jar with `cctrewrite.udi.Host`, from which the JVM for a jar starts; a program needs
    /// none.
    pub host: Option<&'l Path>,
    /// The time limit for each class.
    pub timeout: Duration,
}

/// A class to show to a module.
#[derive(Debug)]
pub struct ClassToTransform {
    /// Name of the class.
    pub name: String,
    /// The hash of its bytes.
    pub hash: ClassHash,
    /// Bytes of the class file.
    pub bytes: Vec<u8>,
}

/// A running module. Dropping the value ends the process.
#[derive(Debug)]
pub struct Process {
    module: String,
    child: Child,
    timeout: Duration,
}

/// Interval between checks whether a module has ended.
const STEP: Duration = Duration::from_millis(5);

/// Environment variables that the user set for other JVMs.
const OF_OTHERS: [&str; 5] =
    ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "CCTREWRITE_RUN"];

impl Process {
    /// Starts a module.
    ///
    /// # Errors
    /// If it cannot be found or does not start.
    pub fn start(launch: &Launch<'_>) -> Result<Process, Error> {
        let Launch { module: path, java: home, .. } = *launch;
        let module = path.display().to_string();
        let mut first = [0; 4];
        let is_jar = fs::File::open(path)
            .and_then(|mut file| file.read_exact(&mut first))
            .is_ok_and(|()| first == *b"PK\x03\x04");
        let mut command = if is_jar {
            let host = launch.host.ok_or_else(|| Error::NoHost(module.clone()))?;
            let mut command = Command::new(java(home)?);
            // If that is a profiled JDK, it must record nothing of the module.
            command.arg("-Dcctrewrite.record=off").arg("-cp").arg(host);
            command.arg("cctrewrite.udi.Host").arg(path);
            command
        } else {
            // A name without a folder would be searched on the PATH.
            let found = fs::canonicalize(path);
            Command::new(found.map_err(|error| Error::NotFound { path: path.to_path_buf(), error })?)
        };
        for variable in OF_OTHERS {
            command.env_remove(variable);
        }
        match command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
            Ok(child) => Ok(Process { module, child, timeout: launch.timeout }),
            Err(error) => {
                let program = Path::new(command.get_program()).display().to_string();
                Err(Error::NotStarted { module, program, error })
            }
        }
    }

    /// Shows the module all classes and passes each answer to `each`, in order. Returns the
    /// module's own classes.
    ///
    /// The threads are not joined: a process that the module has started may hold the pipes open
    /// after the module itself has ended.
    ///
    /// # Errors
    /// If the module fails, or violates the protocol; the errors of `each`.
    pub fn converse<E: From<Error>>(
        &mut self,
        classes: &Arc<Vec<ClassToTransform>>,
        each: impl FnMut(&ClassToTransform, Outcome) -> Result<(), E>,
    ) -> Result<Vec<RuntimeClass>, E> {
        let (stdin, stdout) = self.pipes()?;
        let (sender, receiver) = sync_channel(WAITING);
        let asked = Arc::clone(classes);
        // A module that stops reading has ended, or is about to: its output says why.
        thread::spawn(move || drop(ask(stdin, &asked)));
        let answers = classes.len();
        thread::spawn(move || hear(stdout, answers, &sender));
        self.take_all(classes, &receiver, each)
    }

    fn take_all<E: From<Error>>(
        &mut self,
        classes: &[ClassToTransform],
        receiver: &Receiver<Result<ModuleOutput, WireError>>,
        mut each: impl FnMut(&ClassToTransform, Outcome) -> Result<(), E>,
    ) -> Result<Vec<RuntimeClass>, E> {
        let runtime = match self.next(receiver, "when it was started")? {
            ModuleOutput::Greeting(runtime) => runtime,
            _ => return Err(self.out_of_turn("it did not begin with the greeting of a module").into()),
        };
        for class in classes {
            let at = format!("for class {}", class.name);
            match self.next(receiver, &at)? {
                ModuleOutput::Answer(Answer::Outcome(outcome)) => each(class, outcome)?,
                ModuleOutput::Answer(Answer::Failed(why)) => return Err(self.failed(at, why).into()),
                _ => return Err(self.out_of_turn(&format!("it gave no answer {at}")).into()),
            }
        }
        match self.next(receiver, "after the last class")? {
            ModuleOutput::End => self.end()?,
            _ => return Err(self.out_of_turn("it answered more than it was asked").into()),
        }
        Ok(runtime)
    }

    /// The ends of its pipes; only once.
    pub(crate) fn pipes(&mut self) -> Result<(ChildStdin, ChildStdout), Error> {
        let pipes = self.child.stdin.take().zip(self.child.stdout.take());
        pipes.ok_or_else(|| self.out_of_turn("it has been asked already"))
    }

    /// The module's next output.
    pub(crate) fn next(
        &mut self,
        receiver: &Receiver<Result<ModuleOutput, WireError>>,
        at: &str,
    ) -> Result<ModuleOutput, Error> {
        let (module, at) = (self.module.clone(), at.to_owned());
        match receiver.recv_timeout(self.timeout) {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(WireError::Io(error))) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(Error::Ended { module, at, status: self.status()? })
            }
            Ok(Err(error)) => Err(Error::NoAnswer { module, at, error }),
            Err(RecvTimeoutError::Timeout) => {
                Err(Error::TooSlow { module, at, seconds: self.timeout.as_secs() })
            }
            Err(RecvTimeoutError::Disconnected) => Err(Error::Ended { module, at, status: None }),
        }
    }

    /// Waits until the module has ended by itself.
    fn end(&mut self) -> Result<(), Error> {
        match self.status()? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(Error::EndedBadly { module: self.module.clone(), status }),
            None => Err(self.out_of_turn("it does not end when there are no more classes")),
        }
    }

    /// The exit status of a module that has ended or ends soon. It may have closed its pipes and
    /// still run.
    fn status(&mut self) -> Result<Option<ExitStatus>, Error> {
        let mut waited = Duration::ZERO;
        loop {
            let status = self.child.try_wait().map_err(|error| self.system("cannot wait for it", error))?;
            if status.is_some() || waited > self.timeout {
                return Ok(status);
            }
            thread::sleep(STEP);
            waited += STEP;
        }
    }

    pub(crate) fn out_of_turn(&self, what: &str) -> Error {
        Error::OutOfTurn { module: self.module.clone(), what: what.to_owned() }
    }

    pub(crate) fn failed(&self, at: String, why: String) -> Error {
        Error::Failed { module: self.module.clone(), at, why }
    }

    pub(crate) fn system(&self, what: &'static str, error: io::Error) -> Error {
        Error::System { module: self.module.clone(), what, error }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // For a process that has ended, neither call has an effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(stdin: ChildStdin, classes: &[ClassToTransform]) -> io::Result<()> {
    let mut out = BufWriter::new(stdin);
    out.write_all(&wire::MAGIC)?;
    for class in classes {
        wire::write_field(&mut out, class.name.as_bytes())?;
        wire::write_field(&mut out, &class.bytes)?;
    }
    out.flush()
}

/// The `java` that runs a jar.
fn java(home: Option<&Path>) -> Result<PathBuf, Error> {
    let name = format!("java{}", std::env::consts::EXE_SUFFIX);
    let in_home = |home: &Path| home.join("bin").join(&name);
    if let Some(home) = home {
        let java = in_home(home);
        return if java.is_file() { Ok(java) } else { Err(Error::NoJava(home.to_path_buf())) };
    }
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let java = home.map(|home| in_home(Path::new(&home))).filter(|java| java.is_file());
    // Otherwise the one on the PATH.
    Ok(java.unwrap_or_else(|| name.into()))
}
