//! Tables of facts about the class library and the runtime in it:
//!
//! * the calling convention between rewritten classes and the runtime,
//! * the helpers of `java/lang/Object`,
//! * the added fields of library classes,
//! * the hooks: single methods of the library that call the runtime,
//! * the pinned clocks,
//! * the methods by which programs call the runtime,
//! * intrinsics, leaves among the natives, methods that HotSpot calls, and others that need a
//!   treatment of their own.
//!
//! The rewriter and the checker both read these tables, and share no algorithm.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod allocations;
pub mod annotations;
pub mod body_hooks;
pub mod convention;
pub mod fields;
pub mod flight_recorder;
pub mod helpers;
pub mod intrinsics;
pub mod method_handles;
pub mod native_hooks;
pub mod native_names;
pub mod natives;
pub mod object_methods;
pub mod original_signatures;
pub mod pins;
pub mod program;
pub mod runtime_classes;
pub mod runtime_method;
pub mod threads;
pub mod vm_calls;

/// Feature releases of the JDK on which cctrewrite is tested: 8, every release with long-term
/// support since, and the newest. Tests, `cargo xtask jdks` and `cctrewrite doctor` share the list.
pub const TESTED: [u32; 7] = [8, 11, 17, 21, 25, 26, 27];

/// Releases of [`TESTED`] without long-term support that are not the newest. Tests leave them out
/// unless they are asked for all.
pub const SUPERSEDED: [u32; 1] = [26];

/// The options of a rewrite on which the helpers and fields of the class library depend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mode {
    /// Objects are counted by type (`--allocations`).
    pub allocations: bool,
    /// Columns are counted in addition to calls and bytecodes.
    pub columns: bool,
    /// Contexts are kept separate by call sites (`--call-sites`).
    pub call_sites: bool,
    /// Events are recorded instead of counts (`--tool trace`).
    pub traces: bool,
    /// Values represent contexts (`--tool pcc`).
    pub values: bool,
}
