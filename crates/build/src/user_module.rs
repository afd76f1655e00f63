//! `--udi`: a module of the user's gets the classes before anything else looks at them
//! (docs/research/udi.md).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cct_archive::Input;
use cct_classfile::{ClassFile, access, wellformed};
use cct_index::mid::ClassHash;
use cct_rewrite::{ClassSummary, hooks};
use cct_udi::{ClassToTransform, Launch, Misfit, Outcome, Process, RuntimeClass};
use zip::result::ZipError;

use crate::api_jar;
use crate::observer::Observer;
use crate::survey::survey;

/// A user's module that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the module {}", .path.display())]
pub struct UnreadableModule {
    /// The module.
    pub path: PathBuf,
    source: io::Error,
}

/// A user's module, or its answers, that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] cct_archive::Error),
    /// The jar from which the module's JVM starts cannot be created.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The module does not start, ends early, fails, or violates the protocol.
    #[error(transparent)]
    Process(#[from] cct_udi::Error),
    /// The original of a class cannot be read.
    #[error(transparent)]
    Original(#[from] cct_classfile::Error),
    /// A class cannot replace its original.
    #[error("module {}, class {class}", .module.display())]
    Replacement {
        /// The module.
        module: PathBuf,
        /// The class.
        class: String,
        /// The reason.
        source: Misfit,
    },
    /// A class of the module's own cannot be used.
    #[error("module {}, its own class {class}", .module.display())]
    OwnClass {
        /// The module.
        module: PathBuf,
        /// The class.
        class: String,
        /// The reason.
        source: Misfit,
    },
    /// The module has two classes of one name.
    #[error("module {}: it brings its own class {class} twice", .module.display())]
    OwnClassTwice {
        /// The module.
        module: PathBuf,
        /// The class.
        class: String,
    },
}

/// The jar from which a module's JVM starts cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The system gives no temporary file.
    #[error("cannot make a temporary file")]
    Make(#[source] io::Error),
    /// The temporary file cannot be written.
    #[error("cannot write a temporary file")]
    Write(#[source] io::Error),
    /// The jar cannot be put together.
    #[error(transparent)]
    Jar(#[from] ZipError),
}

/// Options of the user's module.
#[derive(Debug, Clone, Default)]
pub struct ModuleOptions {
    /// The module: a jar or a program. Without it classes go to no module.
    pub module: Option<PathBuf>,
    /// The home of the JDK on which a jar runs; by default one that the environment names.
    pub java: Option<PathBuf>,
    /// Time limit for an answer. Unused without a module.
    pub timeout: Duration,
}

/// The user's module.
#[derive(Debug)]
pub struct Module {
    options: ModuleOptions,
    /// The path of its file.
    path: PathBuf,
    /// Its identity in outputs: the file's name and a hash of the contents.
    pub identity: String,
}

/// A class that the module could not handle.
#[derive(Debug, Clone, serde::Serialize)]
pub struct FailedClass {
    /// Its internal name, with slashes (JVMS 4.2.1).
    pub class: String,
    /// The reason, in the module's words.
    pub reason: String,
}

/// The results of a module for the classes of all inputs.
#[derive(Debug)]
pub struct TransformedClasses {
    /// The module's identity in outputs.
    pub identity: String,
    /// The module's own classes, which go into the class library.
    pub runtime: Vec<RuntimeClass>,
    /// Replaced classes, by the hashes of their originals.
    replaced: BTreeMap<ClassHash, Vec<u8>>,
    /// Number of classes that the module left unchanged.
    pub kept: u64,
    /// Classes that the module could not handle, in input order.
    pub aborted: Vec<FailedClass>,
}

impl Module {
    /// The module that these options name, if they name one.
    ///
    /// # Errors
    /// Fails if the module cannot be read.
    pub fn of(options: &ModuleOptions) -> Result<Option<Module>, UnreadableModule> {
        let Some(path) = options.module.clone() else { return Ok(None) };
        match cct_udi::identity(&path) {
            Ok(identity) => Ok(Some(Module { options: options.clone(), path, identity })),
            Err(source) => Err(UnreadableModule { path, source }),
        }
    }

    /// Passes the classes of all inputs to the module, in input order; equal classes only once.
    ///
    /// # Errors
    /// Fails if an input cannot be read, or if the module cannot be started, ends early, or exceeds
    /// the time limit. Fails if it returns a class that cannot replace its original.
    pub fn transform(
        self,
        inputs: &[Input],
        observer: &dyn Observer,
    ) -> Result<TransformedClasses, ModuleError> {
        let mut classes: Vec<ClassToTransform> = Vec::new();
        let mut seen = BTreeSet::new();
        for input in inputs {
            let survey = survey(input, |_, bytes| shown(bytes))?;
            classes.extend(survey.classes.into_iter().flatten().filter(|class| seen.insert(class.hash)));
        }
        let progress = observer.begin("asking the module", Some(classes.len() as u64));
        let host = host()?;
        let mut process = Process::start(&Launch {
            module: &self.path,
            java: self.options.java.as_deref(),
            host: Some(&host),
            timeout: self.options.timeout,
        })?;
        let mut made = TransformedClasses {
            identity: self.identity,
            runtime: Vec::new(),
            replaced: BTreeMap::new(),
            kept: 0,
            aborted: Vec::new(),
        };
        let runtime = process.converse(&Arc::new(classes), |class, outcome| {
            progress.step();
            made.take(&self.path, class, outcome)
        })?;
        made.runtime = checked(&self.path, runtime)?;
        Ok(made)
    }
}

impl TransformedClasses {
    /// The class file to rewrite instead of this original. It is the original itself if the module
    /// has not replaced it.
    pub fn given<'b>(&'b self, original: &'b [u8]) -> &'b [u8] {
        self.replaced.get(&ClassHash::of(original)).map_or(original, |bytes| bytes)
    }

    /// Number of classes that the module replaced.
    pub fn replaced(&self) -> u64 {
        self.replaced.len() as u64
    }

    /// Summaries of the module's own classes.
    ///
    /// # Errors
    /// Fails if one of them cannot be read.
    pub fn summaries(&self) -> Result<Vec<ClassSummary>, cct_rewrite::Error> {
        self.runtime.iter().map(|class| ClassSummary::parse(&class.bytes)).collect()
    }

    fn take(&mut self, module: &Path, class: &ClassToTransform, outcome: Outcome) -> Result<(), ModuleError> {
        match outcome {
            Outcome::Keep => self.kept += 1,
            Outcome::Replace(bytes) if bytes == class.bytes => self.kept += 1,
            Outcome::Abort(reason) => self.aborted.push(FailedClass { class: class.name.clone(), reason }),
            Outcome::Replace(bytes) => {
                let checked = cct_udi::check(&ClassFile::parse(&class.bytes)?, &bytes);
                checked.map_err(|source| ModuleError::Replacement {
                    module: module.to_path_buf(),
                    class: class.name.clone(),
                    source,
                })?;
                self.replaced.insert(class.hash, bytes);
            }
        }
        Ok(())
    }
}

/// Writes the jar from which a module's JVM starts. Dropping the returned path deletes the jar.
fn host() -> Result<tempfile::TempPath, HostError> {
    let jar = tempfile::Builder::new().prefix("cctrewrite-udi-").suffix(".jar").tempfile();
    let (mut file, path) = jar.map_err(HostError::Make)?.into_parts();
    file.write_all(&api_jar::for_modules()?).map_err(HostError::Write)?;
    Ok(path)
}

/// A class for the module. `None` for what no module gets: module descriptors, classes of the
/// runtime, rewritten classes, and classes that JVMs refuse.
fn shown(bytes: &[u8]) -> Option<ClassToTransform> {
    let class = ClassFile::parse(bytes).ok()?;
    let is_sound =
        wellformed::check(&class).is_ok() && ClassSummary::of(&class).is_ok_and(|s| !s.is_rewritten());
    let is_for_it = is_sound && !class.is(access::MODULE) && !hooks::is_runtime_class(class.name());
    is_for_it.then(|| ClassToTransform {
        name: cct_classfile::mutf8::lossy(class.name()),
        hash: ClassHash::of(bytes),
        bytes: bytes.to_vec(),
    })
}

/// Checks the module's own classes, and names each one as its class file does.
fn checked(module: &Path, classes: Vec<RuntimeClass>) -> Result<Vec<RuntimeClass>, ModuleError> {
    let mut by_name = BTreeMap::new();
    for class in classes {
        let module = module.to_path_buf();
        let name = match cct_udi::check_runtime(&class.bytes) {
            Ok(name) => name,
            Err(source) => return Err(ModuleError::OwnClass { module, class: class.name, source }),
        };
        if by_name.insert(name.clone(), class.bytes).is_some() {
            return Err(ModuleError::OwnClassTwice { module, class: name });
        }
    }
    Ok(by_name.into_iter().map(|(name, bytes)| RuntimeClass { name, bytes }).collect())
}
