//! The passes behind JNI: classes that are defined while the program runs are rewritten like those
//! of the class library, and what the VM calls by itself finds its cause
//! (docs/internals/loadtime.md).
//!
//! A class is rewritten in a *world of one*: itself, and what is known of the classes that it names
//! ([`known`]). What the class library is comes from the indexes of the outputs on the boot class
//! path ([`library`]); what the program's loaders have defined, from their tables ([`loaders`]). No
//! loader is ever asked for a class: a name that cannot be resolved without that is unknown, and
//! calls of an unknown class go by its original signature.
//!
//! Classes out of an archive that the user made were rewritten when it was made ([`archived`]).
//!
//! And it writes the trees of the profile ([`writing`]), since the JVM would do so in its
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
mod frames;
mod guard;
mod hash_code;
mod hook;
mod identity;
mod interpose;
mod jni;
mod jvmti;
mod kept;
mod known;
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
mod selected;
mod selection;
mod shown;
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
