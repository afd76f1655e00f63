//! Load-time rewriting without a JVM, for tests with inputs that no JVM would ever see.

use std::sync::Arc;

use cct_classfile::ClassFile;
use cct_index::class_attribute::ClassAttribute;
use cct_rewrite::filter::Filter;
use cct_rewrite::marks::Marks;
use cct_rewrite::{ClassSummary, Role, World, hooks};
use cct_settings::Settings;

use crate::identity::{DefinitionKind, Identity};
use crate::{class_file, rewriting};

/// Rewrites a class about to be defined, in the way with this number, with no other class known.
/// `None` if it stays unchanged.
///
/// # Errors
/// The notes that the JVM of the program would make.
pub fn rewrite(bytes: &[u8], how: i32) -> Result<Option<Vec<u8>>, String> {
    let class: ClassFile<'_> = class_file::read(bytes).map_err(|e| e.to_string())?;
    let is_rewritten =
        || ClassAttribute::of(&class).map_err(|e| e.to_string()).map(|attribute| attribute.is_some());
    if hooks::is_runtime_class(class.name()) || is_rewritten()? {
        return Ok(None);
    }
    let mut summary = ClassSummary::of(&class).map_err(|e| e.to_string())?;
    let identity =
        Identity::of(class.bytes, class.name(), DefinitionKind::of(how)).map_err(|e| e.to_string())?;
    summary.hash = identity.hash;
    summary.has_host = DefinitionKind::of(how) == DefinitionKind::Anonymous;
    let (settings, world) = (Settings::default(), World::new([(Role::Input, Arc::new(summary))]));
    let provenance = (settings, cct_rewrite::provenance(&settings, "trial", None));
    let rules = (Marks::default(), Filter::default());
    Ok(rewriting::in_world(&class, &identity, world, provenance, true, rules, None)?.bytes)
}
