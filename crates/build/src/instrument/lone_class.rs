//! Checks of inputs that are single class files. Such an input has one class file as its output,
//! which cannot hold entries.

use std::path::PathBuf;

use cct_archive::{Input, InputKind, Target};
use cct_classfile::ClassFile;
use cct_classfile::mutf8::lossy;
use cct_jdk::convention::OBJECT;

/// A single class file that is not enough.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoneError {
    /// It cannot say what it was made from.
    #[error(
        "{}: a class file cannot say what it was made from; leave --if-changed out, or name its jar or folder",
        .0.display()
    )]
    IfChanged(PathBuf),
    /// It is `java.lang.Object`.
    #[error(
        "{}: java.lang.Object needs the runtime beside it, which one class file cannot hold; name the jar or folder of the \
         class library",
        .0.display()
    )]
    Object(PathBuf),
}

/// Checks the inputs that are class files. Returns notices for the user about their outputs.
///
/// # Errors
/// Fails if a class needs entries beside it. Fails if `if_changed` is set, since a class file does
/// not say what it was made from.
pub fn check(inputs: &[Input], targets: &[Target], if_changed: bool) -> Result<Vec<String>, LoneError> {
    let mut notices = Vec::new();
    for (input, target) in inputs.iter().zip(targets).filter(|(input, _)| input.kind() == InputKind::Class) {
        let path = || input.path().to_path_buf();
        if if_changed {
            return Err(LoneError::IfChanged(path()));
        }
        // The survey reports a class file that cannot be read.
        let Ok(class) = ClassFile::parse(input.bytes().unwrap_or_default()) else { continue };
        if class.name() == OBJECT {
            return Err(LoneError::Object(path()));
        }
        let name = lossy(class.name());
        let file = format!("{}.class", name.rsplit_once('/').map_or(&*name, |(_, simple)| simple));
        if target.path().file_name() != Some(file.as_ref()) {
            notices.push(format!(
                "{}: holds the class {name}, which JVMs look for in {name}.class; rename the file to {file}",
                target.path().display()
            ));
        }
    }
    Ok(notices)
}
