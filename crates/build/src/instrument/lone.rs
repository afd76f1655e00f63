//! Checks of inputs that are single class files. Such an input has one class file as its output,
//! which cannot hold entries.

use anyhow::{Result, bail};
use cct_archive::{Input, InputKind, Target};
use cct_classfile::ClassFile;
use cct_classfile::mutf8::lossy;
use cct_jdk::convention::OBJECT;

/// Checks the inputs that are class files. Returns notices for the user about their outputs.
///
/// # Errors
/// Fails if a class needs entries beside it. Fails if `if_changed` is set, since a class file does
/// not say what it was made from.
pub fn check(inputs: &[Input], targets: &[Target], if_changed: bool) -> Result<Vec<String>> {
    let mut notices = Vec::new();
    for (input, target) in inputs.iter().zip(targets).filter(|(input, _)| input.kind() == InputKind::Class) {
        let path = input.path().display();
        if if_changed {
            bail!(
                "{path}: a class file cannot say what it was made from; leave --if-changed out, or name its jar or folder"
            );
        }
        // The survey reports a class file that cannot be read.
        let Ok(class) = ClassFile::parse(input.bytes().unwrap_or_default()) else { continue };
        if class.name() == OBJECT {
            bail!(
                "{path}: java.lang.Object needs the runtime beside it, which one class file cannot hold; name the jar or folder of the \
                 class library"
            );
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
