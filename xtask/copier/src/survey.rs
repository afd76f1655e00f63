//! Survey of classes by cctrewrite's reader, compared with another reader, cafebabe.
//!
//! The output has lines of words separated by tabs, classes in the order of their inputs:
//!
//! ```text
//! class    INPUT  ENTRY  BYTES  METHODS    a class that is read to its last attribute and written unchanged
//! changed  INPUT  ENTRY  REASON            one that is read, but written differently
//! refused  INPUT  ENTRY  REASON            one that cctrewrite's reader rejects
//! another  INPUT  ENTRY  REASON            one on which cafebabe disagrees
//! ```

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use cafebabe::ParseOptions;
use cct_archive::{EntryKind, Input, Limits};
use cct_classfile::attributes::AttributeInfo;
use cct_classfile::edit::ClassEdit;
use cct_classfile::{Attributes, ClassFile, Code, ConstantPool};
use rayon::prelude::*;

/// Surveys inputs, all classes of each in parallel.
///
/// # Errors
/// Fails if an input cannot be read, or the output is closed.
pub fn survey(inputs: &[&Path], out: &mut dyn Write) -> Result<()> {
    for path in inputs {
        let input = Input::open(path, &Limits::default())?;
        let name = path.file_name().with_context(|| format!("{} has no name", path.display()))?;
        let name = name.to_string_lossy();
        let classes: Vec<usize> = input
            .entries()
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.kind == EntryKind::Class)
            .map(|(index, _)| index)
            .collect();
        let lines = classes.par_iter().map(|&index| -> Result<String> {
            let bytes = input.read(index).context("an entry that is not there")??;
            let entry = input.entries().get(index).context("an entry that is not there")?;
            Ok(of_class(&format!("{name}\t{}", one_line(&entry.name)), &bytes))
        });
        for line in lines.collect::<Result<Vec<_>>>()? {
            write!(out, "{line}")?;
        }
    }
    Ok(out.flush()?)
}

/// The lines of a class; `place` is its location.
fn of_class(place: &str, bytes: &[u8]) -> String {
    let ours = read(bytes);
    let theirs = cafebabe::parse_class_with_options(bytes, &ParseOptions::default());
    let mut lines = match &ours {
        Ok(Read { methods, unlike: None }) => format!("class\t{place}\t{}\t{methods}\n", bytes.len()),
        Ok(Read { unlike: Some(what), .. }) => format!("changed\t{place}\t{}\n", one_line(what)),
        Err(why) => format!("refused\t{place}\t{}\n", one_line(&format!("{why:#}"))),
    };
    match (ours, theirs) {
        (Ok(_), Err(why)) => lines += &format!("another\t{place}\t{}\n", one_line(&why.to_string())),
        (Err(_), Ok(_)) => lines += &format!("another\t{place}\taccepted\n"),
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
    }
    lines
}

/// A class that cctrewrite's reader accepts.
struct Read {
    methods: usize,
    /// The attribute that is written differently from how it was read.
    unlike: Option<String>,
}

/// Reads a class to its last attribute, and compares its written form with the original.
fn read(bytes: &[u8]) -> Result<Read> {
    let class = ClassFile::parse(bytes)?;
    class.pool.validate()?;
    let mut unlike = None;
    let mut check = |list: &Attributes<'_>, place: &str| {
        let checked = attributes(list, &class.pool)?;
        unlike = unlike.take().or(checked.map(|name| format!("{name} of {place}")));
        anyhow::Ok(())
    };
    check(&class.attributes, "the class")?;
    for (list, of) in [(&class.fields, "field"), (&class.methods, "method")] {
        for (position, member) in list.iter().enumerate() {
            check(&member.attributes, &format!("{of} {position}"))?;
        }
    }
    for (position, method) in class.methods.iter().enumerate() {
        if let Some(code) = Code::of(&class, method)? {
            check(&code.attributes, &format!("the code of method {position}"))?;
        }
    }
    if ClassEdit::new(&class).finish()? != bytes {
        unlike = unlike.or(Some("the class as a whole".to_owned()));
    }
    Ok(Read { methods: class.methods.len(), unlike })
}

/// The first attribute that is written differently from how it was read.
fn attributes<'a>(list: &Attributes<'a>, pool: &ConstantPool<'a>) -> Result<Option<String>> {
    let mut written = Vec::new();
    for attribute in list.iter() {
        written.clear();
        let name = String::from_utf8_lossy(attribute.name).into_owned();
        let info = AttributeInfo::parse(attribute, pool).map_err(|e| anyhow!("{name}: {e}"))?;
        info.write(&mut written)?;
        if written != attribute.data {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The text without line ends and tabs.
fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn sound_classes_are_written_as_they_were() {
        for bytes in fixtures::classes() {
            let lines = of_class("jar\tA.class", &bytes);
            assert!(lines.starts_with(&format!("class\tjar\tA.class\t{}\t", bytes.len())), "{lines}");
        }
    }

    #[test]
    fn what_is_no_class_is_refused_with_a_reason_on_one_line() {
        let mut bytes = fixtures::classes().remove(0);
        bytes.truncate(bytes.len() - 1);
        let lines = of_class("jar\tA.class", &bytes);
        assert!(lines.starts_with("refused\tjar\tA.class\t") && lines.lines().count() == 1, "{lines}");
    }
}
