//! Class files as inputs by themselves: what an output that is one class file cannot hold.

use anyhow::{Result, bail};
use cct_archive::{Input, InputKind, Target};
use cct_classfile::ClassFile;
use cct_classfile::mutf8::lossy;
use cct_jdk::convention::OBJECT;

/// Looks at the inputs that are class files; returns what a user should hear of their outputs.
///
/// # Errors
/// If a class needs entries beside it, or if `if_changed`, which asks outputs what they were made
/// from.
pub fn check(inputs: &[Input], targets: &[Target], if_changed: bool) -> Result<Vec<String>> {
    let mut notices = Vec::new();
    for (input, target) in inputs.iter().zip(targets).filter(|(input, _)| input.kind() == InputKind::Class) {
        let path = input.path().display();
        if if_changed {
            bail!(
                "{path}: a class file cannot say what it was made from; leave --if-changed out, or name its jar or folder"
            );
        }
        // The survey says what is wrong with one that cannot be read.
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
