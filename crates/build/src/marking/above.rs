//! Superclasses and interfaces of the classes of inputs.

use anyhow::Result;
use cct_archive::Input;
use cct_classfile::ClassFile;
use cct_markers::World;

/// Collects the direct supertypes of all classes of some inputs. Entries that are no class files
/// are skipped.
pub fn world<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Result<World> {
    let mut world = World::default();
    for input in inputs {
        type Above = Option<(Vec<u8>, Vec<Vec<u8>>)>;
        let survey = input.survey(|_, bytes| -> Result<Above> {
            let Ok(class) = ClassFile::parse(bytes) else { return Ok(None) };
            let above = class.super_name().into_iter().chain(class.interface_names());
            Ok(Some((class.name().to_vec(), above.map(<[u8]>::to_vec).collect())))
        })?;
        for (name, above) in survey.classes.into_iter().flatten() {
            world.insert(&name, above.iter().map(Vec::as_slice));
        }
    }
    Ok(world)
}
