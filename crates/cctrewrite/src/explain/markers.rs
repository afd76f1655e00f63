//! `cctrewrite explain` for a class that has markers.

use anyhow::{Context, Result};
use cct_build::inputs::Sources;
use cct_build::marking::shown;
use cct_build::text::{counted, readable};
use cct_classfile::ClassFile;
use cct_markers::attribute;

/// The class's own list of markers as text; `None` if it has none.
pub fn explain(sources: &Sources, name: &[u8]) -> Result<Option<String>> {
    let mut text = None;
    for input in &sources.inputs {
        let survey = input.survey(|at, bytes| -> Result<Option<String>> {
            let Some(class) = ClassFile::parse(bytes).ok().filter(|class| class.name() == name) else {
                return Ok(None);
            };
            if class.attributes.find(attribute::NAME).is_none() {
                return Ok(None);
            }
            let again = || {
                format!("{at}: another version of cctrewrite inserted its markers; mark the original again")
            };
            let descriptors = attribute::read(&class).with_context(again)?;
            let mut text = format!("class {}\n  found in    {at}\n", readable(name));
            text += &format!("  markers     {}\n\n", counted(descriptors.len() as u64, "marker"));
            for (number, descriptor) in descriptors.iter().enumerate() {
                let kind = match (descriptor.pair, descriptor.per_object) {
                    (true, false) => "pair",
                    (false, false) => "one-way",
                    (true, true) => "pair, per object",
                    (false, true) => "one-way, per object",
                };
                text += &format!("  {number:>5}  {}  ({kind})\n", shown(descriptor));
            }
            Ok(Some(text))
        })?;
        text = text.or(survey.classes.into_iter().flatten().next());
    }
    Ok(text)
}
