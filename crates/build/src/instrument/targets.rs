//! Targets of a run's outputs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_archive::{Input, InputKind, Layout, Target};
use cct_classfile::ClassFile;
use cct_rewrite::module_graph::Descriptor;

use super::class_path::Named;
use crate::inputs::Sources;
use crate::output;

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
    pub fn new(output: &Path, sources: &Sources, named: &[Named], patches: bool) -> Result<Targets> {
        if output.as_os_str() == "-" {
            bail!(
                "output -: outputs cannot go to standard output; name a file or folder (./- is the \
                 file of that name)"
            );
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
                let (target, library) = (target.path().display(), library.path().display());
                bail!("output {target}: is the library {library}; name another output");
            }
        }
        Ok(targets)
    }

    fn of_inputs(output: &Path, inputs: &[Input], patches: bool) -> Result<Targets> {
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
                let name = name.display();
                bail!(
                    "two inputs are called {name}: their outputs would be one; instrument them in separate runs"
                );
            }
            names.push(name);
        }
        if !output.is_dir() {
            let cannot = || format!("cannot make the output folder {}", output.display());
            fs::create_dir(output).with_context(cannot)?;
            targets.made.push(output.to_path_buf());
        }
        for name in names {
            targets.list.push(Target::new(&output.join(name), &all)?);
        }
        Ok(targets)
    }

    fn add_named(&mut self, named: &[Named], inputs: &[Input]) -> Result<()> {
        let all: Vec<&Input> = inputs.iter().collect();
        for Named { input, relative, .. } in named {
            let beside = self.list[*input].path().parent().unwrap_or(Path::new(""));
            let path = beside.join(relative);
            for folder in relative.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
                let folder = beside.join(folder);
                if !folder.as_os_str().is_empty() && !folder.is_dir() {
                    let cannot = || format!("cannot make the output folder {}", folder.display());
                    fs::create_dir(&folder).with_context(cannot)?;
                    self.made.push(folder);
                }
            }
            if self.list.iter().any(|target| target.path() == path) {
                bail!("two outputs would be {}: instrument them in separate runs", path.display());
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

fn file_name(input: &Input) -> Result<PathBuf> {
    let canonical = fs::canonicalize(input.path())?;
    let name = input.path().file_name().or(canonical.file_name());
    name.map(PathBuf::from)
        .with_context(|| format!("{} has no name to give to its output", input.path().display()))
}

/// The name of the module in a jmod.
fn module_name(input: &Input) -> Result<String> {
    let path = input.path().display();
    let descriptor = output::entry(input, "module-info.class")?
        .with_context(|| format!("{path}: no jmod: it has no classes/module-info.class"))?;
    let descriptor = ClassFile::parse(&descriptor).and_then(|class| Descriptor::read(&class));
    let descriptor = descriptor.with_context(|| format!("{path}: its module-info.class is damaged"))?;
    let name = descriptor.with_context(|| format!("{path}: its module-info.class is no module's"))?.name;
    Ok(cct_classfile::mutf8::lossy(&name))
}
