//! Targets of a run's outputs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cct_archive::{Input, InputKind, Layout, Target};
use cct_classfile::ClassFile;
use cct_rewrite::module_graph::Descriptor;

use super::class_path::ManifestPath;
use crate::file_error::{FileError, Operation};
use crate::inputs::Sources;
use crate::output;

/// Outputs that cannot be put where the user wants them.
#[derive(Debug, thiserror::Error)]
pub enum TargetsError {
    /// The output is standard output.
    #[error(
        "output -: outputs cannot go to standard output; name a file or folder (./- is the file of that name)"
    )]
    StandardOutput,
    /// An output is a library.
    #[error("output {}: is the library {}; name another output", .target.display(), .library.display())]
    IsLibrary {
        /// The output.
        target: PathBuf,
        /// The library.
        library: PathBuf,
    },
    /// The archive crate refuses the output.
    #[error(transparent)]
    Archive(#[from] cct_archive::Error),
    /// Two inputs have the same name.
    #[error(
        "two inputs are called {}: their outputs would be one; instrument them in separate runs",
        .0.display()
    )]
    SameName(PathBuf),
    /// Two outputs have the same path.
    #[error("two outputs would be {}: instrument them in separate runs", .0.display())]
    SamePath(PathBuf),
    /// A folder for outputs cannot be created.
    #[error("cannot make the output folder {}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An input cannot be found.
    #[error(transparent)]
    File(#[from] FileError),
    /// The path of an input ends in no name.
    #[error("{} has no name to give to its output", .0.display())]
    NoName(PathBuf),
    /// A jmod does not name its module.
    #[error(transparent)]
    Jmod(#[from] UnnamedJmod),
}

/// A jmod that does not name its module.
#[derive(Debug, thiserror::Error)]
pub enum UnnamedJmod {
    /// It has no module descriptor.
    #[error("{}: no jmod: it has no classes/module-info.class", .0.display())]
    NoDescriptor(PathBuf),
    /// Its module descriptor is damaged.
    #[error("{}: its module-info.class is damaged", .path.display())]
    Damaged {
        /// The jmod.
        path: PathBuf,
        /// The damage.
        source: cct_classfile::Error,
    },
    /// Its module descriptor is that of no module.
    #[error("{}: its module-info.class is no module's", .0.display())]
    NoModule(PathBuf),
}

/// The targets of a run, one for each input. If they are dropped without [`Targets::keep`], the
/// folders created for them are removed.
#[derive(Debug)]
pub struct Targets {
    /// In the order of the inputs.
    pub list: Vec<Target>,
    made: Vec<PathBuf>,
}

impl Targets {
    /// Creates the targets. A single input goes to `output` itself; if that is a folder, a jar, an
    /// image or a class file goes into it. Several inputs go into the folder `output`. No target
    /// may be an input or a library.
    ///
    /// Patches of an image go to a folder, those of a jmod to a jar that is named after its module.
    /// The last inputs are those that manifests have `named`: they go where the manifests look for
    /// them.
    ///
    /// # Errors
    /// Fails if there is no place for an output, or if it would overwrite an input or a library.
    pub fn new(
        output: &Path,
        sources: &Sources,
        named: &[ManifestPath],
        patches: bool,
    ) -> Result<Targets, TargetsError> {
        if output.as_os_str() == "-" {
            return Err(TargetsError::StandardOutput);
        }
        let given = sources.inputs.len().saturating_sub(named.len());
        let mut targets = Targets::of_inputs(output, &sources.inputs[..given], patches)?;
        targets.add_named(named, &sources.inputs)?;
        for target in &targets.list {
            // A target that does not exist yet is no library.
            let Ok(place) = fs::canonicalize(target.path()) else { continue };
            if let Some(library) =
                sources.libraries.iter().find(|l| fs::canonicalize(l.path()).is_ok_and(|l| l == place))
            {
                let (target, library) = (target.path().to_path_buf(), library.path().to_path_buf());
                return Err(TargetsError::IsLibrary { target, library });
            }
        }
        Ok(targets)
    }

    fn of_inputs(output: &Path, inputs: &[Input], patches: bool) -> Result<Targets, TargetsError> {
        let all: Vec<&Input> = inputs.iter().collect();
        let name_of = |input: &Input| match input.layout() {
            Layout::Jmod if patches => Ok(PathBuf::from(module_name(input)? + ".jar")),
            _ => file_name(input),
        };
        let mut targets = Targets { list: Vec::new(), made: Vec::new() };
        if let [input] = inputs {
            let makes_folder =
                input.kind() == InputKind::Folder || patches && input.layout() == Layout::Modules;
            let into = !makes_folder && output.is_dir();
            let path = if into { output.join(name_of(input)?) } else { output.to_path_buf() };
            targets.list.push(Target::new(&path, &all)?);
            return Ok(targets);
        }
        let mut names = Vec::new();
        for input in inputs {
            let name = name_of(input)?;
            if names.contains(&name) {
                return Err(TargetsError::SameName(name));
            }
            names.push(name);
        }
        if !output.is_dir() {
            let folder = output.to_path_buf();
            match fs::create_dir(output) {
                Ok(()) => targets.made.push(folder),
                Err(source) => return Err(TargetsError::Folder { folder, source }),
            }
        }
        for name in names {
            targets.list.push(Target::new(&output.join(name), &all)?);
        }
        Ok(targets)
    }

    fn add_named(&mut self, named: &[ManifestPath], inputs: &[Input]) -> Result<(), TargetsError> {
        let all: Vec<&Input> = inputs.iter().collect();
        for ManifestPath { input, relative, .. } in named {
            let beside = self.list[*input].path().parent().unwrap_or(Path::new(""));
            let path = beside.join(relative);
            for folder in relative.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
                let folder = beside.join(folder);
                if !folder.as_os_str().is_empty() && !folder.is_dir() {
                    match fs::create_dir(&folder) {
                        Ok(()) => self.made.push(folder),
                        Err(source) => return Err(TargetsError::Folder { folder, source }),
                    }
                }
            }
            if self.list.iter().any(|target| target.path() == path) {
                return Err(TargetsError::SamePath(path));
            }
            self.list.push(Target::new(&path, &all)?);
        }
        Ok(())
    }

    /// Keeps the created folders: the outputs are in their places.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        // Inner folders come first.
        for folder in self.made.iter().rev() {
            // A folder that is not empty stays: it has files of others.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn file_name(input: &Input) -> Result<PathBuf, TargetsError> {
    let path = input.path();
    let canonical = fs::canonicalize(path).map_err(Operation::Resolve.failed_on(path))?;
    let name = path.file_name().or(canonical.file_name());
    name.map(PathBuf::from).ok_or_else(|| TargetsError::NoName(path.to_path_buf()))
}

/// The name of the module in a jmod.
fn module_name(input: &Input) -> Result<String, TargetsError> {
    let path = || input.path().to_path_buf();
    let descriptor = output::entry(input, "module-info.class")?;
    let descriptor = descriptor.ok_or_else(|| UnnamedJmod::NoDescriptor(path()))?;
    let descriptor = ClassFile::parse(&descriptor).and_then(|class| Descriptor::read(&class));
    let descriptor = descriptor.map_err(|source| UnnamedJmod::Damaged { path: path(), source })?;
    let name = descriptor.ok_or_else(|| UnnamedJmod::NoModule(path()))?.name;
    Ok(cct_classfile::mutf8::decode_lossy(&name).into_owned())
}
