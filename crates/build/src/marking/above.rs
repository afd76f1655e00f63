//! The direct superclass and interfaces of each class in the inputs, and which of the inputs are
//! part of a class library.

use cct_archive::{Input, Layout};
use cct_classfile::ClassFile;
use cct_markers::{Library, World};

use crate::survey::survey;
use crate::{jdk, output};

/// Collects the direct supertypes of all classes in `inputs`. Skips entries that are not class
/// files.
///
/// # Errors
/// Fails if an input cannot be read.
pub fn world<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Result<World, cct_archive::Error> {
    let mut world = World::default();
    for input in inputs {
        let is_library = library(input).is_some();
        let survey = survey(input, |_, bytes| {
            let class = ClassFile::parse(bytes).ok()?;
            let above = class.super_name().into_iter().chain(class.interface_names());
            Some((class.name().to_vec(), above.map(<[u8]>::to_vec).collect::<Vec<_>>()))
        })?;
        for (name, above) in survey.classes.into_iter().flatten() {
            let above = above.iter().map(Vec::as_slice);
            if is_library { world.insert_of_library(&name, above) } else { world.insert(&name, above) }
        }
    }
    Ok(world)
}

/// The kind of class library that an input is part of; `None` for other inputs.
pub(super) fn library(input: &Input) -> Option<Library> {
    let is_library = jdk::home_around(input.path()).is_some() || output::has_object(input);
    is_library.then_some(if input.layout() == Layout::Plain { Library::BootPath } else { Library::Modules })
}
