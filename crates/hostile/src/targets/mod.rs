//! The targets.

mod archive;
mod arena;
mod class;
mod contexts;
mod index;
mod loadtime;
mod profile;
mod rewrite;
mod selection;
#[path = "../../../classfile/tests/support/walk.rs"]
#[allow(dead_code, clippy::print_stdout)]
mod walk;

pub use archive::archive;
pub use arena::arena;
pub use class::class;
pub use contexts::contexts;
pub use index::index;
pub use loadtime::loadtime;
pub use profile::profile;
pub use rewrite::rewrite;
pub use selection::selection;
