//! Classes of the runtime that hooks call. Those of helpers are in [`crate::helpers`].

/// The runtime's class for the life of the JVM, definitions of classes, and reflection.
pub const HOOKS: &[u8] = b"java/lang/CctHooks";

/// The runtime's class for methods that list frames of the stack.
pub const STACKS: &[u8] = b"java/lang/CctStacks";

/// The runtime's class for natives to which method handles and reflection lead.
pub const NATIVES: &[u8] = b"java/lang/CctNatives";

/// The runtime's class for virtual threads that are being mounted or unmounted.
pub const TRANSITIONS: &[u8] = b"java/lang/CctTransitions";

/// The runtime's class for `StackWalker`, which JDK 8 does not have.
pub const WALKS: &[u8] = b"java/lang/CctWalks";
