//! Ids of members of the class library.

use std::sync::OnceLock;

use crate::jni::{Env, jfieldID, jmethodID};

/// Ids of members of the class library. They stay valid as long as the JVM lives.
#[derive(Debug, Clone, Copy)]
pub struct Members {
    /// `ClassLoader.cct$number`.
    pub loader_number: jfieldID,
    /// `Thread.cct$context`.
    pub context: jfieldID,
    /// `Thread.cct$transition`.
    pub transition: jfieldID,
    /// The native `ClassLoader.findLoadedClass0(String)`.
    pub find_loaded_class: jmethodID,
}

// SAFETY: field and method ids belong to the JVM, not to a thread.
#[allow(unsafe_code)]
unsafe impl Send for Members {}

// SAFETY: field and method ids belong to the JVM, and nothing changes them.
#[allow(unsafe_code)]
unsafe impl Sync for Members {}

pub(crate) static MEMBERS: OnceLock<Members> = OnceLock::new();

impl Members {
    /// Looks up the ids. `None` if this version of the rewriter did not rewrite the class library.
    pub fn find(env: Env) -> Option<&'static Members> {
        if let Some(members) = MEMBERS.get() {
            return Some(members);
        }
        let loader = env.find_class("java/lang/ClassLoader")?;
        let thread = env.find_class("java/lang/Thread")?;
        let members = Members {
            loader_number: env.field(loader, "cct$number", "J")?,
            context: env.field(thread, "cct$context", "J")?,
            transition: env.field(thread, "cct$transition", "Z")?,
            find_loaded_class: env.method(
                loader,
                "findLoadedClass0",
                "(Ljava/lang/String;)Ljava/lang/Class;",
            )?,
        };
        Some(MEMBERS.get_or_init(|| members))
    }
}
