//! The fuzz targets.

mod archive;
mod arena;
mod class;
mod contexts;
mod image_files;
mod index;
mod loadtime;
mod markers;
mod module;
mod profile;
mod rewrite;
mod selection;
mod trace;
mod values;
#[path = "../../../classfile/tests/support/walk.rs"]
#[allow(dead_code, clippy::print_stdout)]
mod walk;

pub use archive::archive;
pub use arena::arena;
pub use class::class;
pub use contexts::contexts;
pub use image_files::{manifest, options};
pub use index::index;
pub use loadtime::loadtime;
pub use markers::{marked, marker_rules, properties, violations};
pub use module::module;
pub use profile::profile;
pub use rewrite::rewrite;
pub use selection::selection;
pub use trace::{last, trace};
pub use values::values;

/// Random choices derived from an input. A target tests one of many possible paths for each input;
/// other inputs cover the other paths.
fn dice(bytes: &[u8]) -> crate::Dice {
    crate::Dice::new(u64::from(crc32fast::hash(bytes)))
}
