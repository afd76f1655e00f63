//! The direct superclass and interfaces of each class in the inputs.

use cct_archive::Input;
use cct_classfile::ClassFile;
use cct_markers::World;

use crate::survey::survey;

/// Collects the direct supertypes of all classes in `inputs`. Skips entries that are not class
/// files.
///
/// # Errors
/// Fails if an input cannot be read.
pub fn world<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Result<World, cct_archive::Error> {
    let mut world = World::default();
    for input in inputs {
        let survey = survey(input, |_, bytes| {
            let class = ClassFile::parse(bytes).ok()?;
            let above = class.super_name().into_iter().chain(class.interface_names());
            Some((class.name().to_vec(), above.map(<[u8]>::to_vec).collect::<Vec<_>>()))
        })?;
        for (name, above) in survey.classes.into_iter().flatten() {
            world.insert(&name, above.iter().map(Vec::as_slice));
        }
    }
    Ok(world)
}
