//! Images of JDKs as folders (docs/reference/images.md): listing, copying, caching, and checking
//! against their manifests.
//!
//! An image is [asked for](request), [planned](plan) and made in a [workshop]: the files of a home
//! are [listed](tree) and [copied](copying), its [class library](class_library) is rewritten, the
//! [options] that exact numbers need are built in, and the image says what it is
//! ([`Record`](cct_image::Record)). Then it takes its place, in the [cache] or elsewhere.

pub mod archive_of_classes;
pub mod cache;
pub mod check;
pub mod class_library;
pub mod copying;
pub mod file_stamps;
pub mod fit;
pub mod home;
pub mod jvm;
pub mod key;
pub mod known_hashes;
pub mod manifest;
pub mod options;
pub mod permissions;
pub mod plan;
pub mod processes;
pub mod prune;
pub mod release;
pub mod repair;
pub mod request;
pub mod stamp;
pub mod structure;
pub mod time_limit;
pub mod tree;
pub mod use_of_image;
pub mod workshop;
