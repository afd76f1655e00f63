//! Images of JDKs as folders (docs/reference/images.md): listing, copying, caching, and checking
//! against their manifests. Other crates decide about the contents.

pub mod archive_of_classes;
pub mod cache;
pub mod check;
pub mod file_stamps;
pub mod home;
pub mod jvm;
pub mod known_hashes;
pub mod manifest;
pub mod permissions;
pub mod processes;
pub mod release;
pub mod repair;
pub mod stamp;
pub mod structure;
pub mod time_limit;
pub mod tree;
pub mod workshop;
