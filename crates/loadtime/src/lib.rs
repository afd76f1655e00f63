//! The load-time passes, called over JNI. They rewrite classes that are defined while the program
//! runs, like those of the class library. They also find the caller of what the VM itself calls
//! (docs/internals/loadtime.md).
//!
//! A class is rewritten in a *world of one*: itself, and the records of the classes that it names
//! ([`known`]). Records of the class library come from the indexes of the outputs on the boot class
//! path ([`library`]). Records of the program's loaders come from their tables ([`loaders`]). The
//! passes never ask a loader for a class. A name that cannot be resolved without that is unknown,
//! and calls of an unknown class use its original signature.
//!
//! Classes from an archive of the user were rewritten when the archive was made ([`archived`]).
//!
//! The library also writes the trees of the profile ([`writing`]), since the JVM would do so in its
//! interpreter.
//!
//! On a marked JDK it places markers in classes when they are defined ([`marking`]), and does
//! nothing else.
//!
//! The natives call no Java code and hold no lock while the VM could wait for another thread
//! ([`natives`]).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod archived;
mod arena;
mod arena_natives;
mod class_file;
mod class_files;
mod collection;
mod debugger;
mod frame_bodies;
mod frames;
mod guard;
mod hash_code;
mod hook;
mod identity;
mod interpose;
mod jni;
mod jvmti;
mod kept_members;
mod known_class;
mod library;
mod loaders;
mod marking;
mod members;
mod module;
mod native_methods;
mod natives;
mod originals;
mod packages;
mod pcc;
mod replay;
mod rewriting;
mod selected_methods;
mod selection;
mod state;
mod sweep;
mod tracing;
mod tree;
pub mod trial;
mod types;
mod vm_arguments;
mod vm_flags;
mod vm_pool;
mod writing;
