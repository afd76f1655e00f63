//! Where bodies of the class library call the runtime (docs/runtime.md, docs/reproducible.md): at these places they must, and nowhere else they may.

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{ClassFile, Code, opcode};
use cct_jdk::helpers::{TRACE_RUNTIME, VALUES_RUNTIME};

use crate::convention::STACKS;
use crate::expectation::{Expectation, Tool};

/// The runtime's class for the life of the JVM, definitions of classes, and reflection.
pub const HOOKS: &[u8] = b"java/lang/CctHooks";
/// The runtime's class for walks of the stack.
pub const WALKS: &[u8] = b"java/lang/CctWalks";

/// Where a body calls the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind the prologue.
    Entry,
    /// Behind the prologue, with the reference in a local.
    EntryWith(u16),
    /// Behind the prologue, with `this` and all arguments; the result becomes an argument. Only where the method has as many as the call beside `this`.
    Argument(u16),
    /// Before each return.
    Return,
    /// Before each return, with `this`.
    ReturnWithThis,
    /// Behind each read of a field of `this`, with the value and `this`.
    Read(&'static [u8]),
}

/// A body with a call of the runtime: class, method, place, and the runtime's class, name and descriptor.
pub type BodyHook = (&'static [u8], &'static [u8], Place, &'static [u8], &'static [u8], &'static [u8]);

/// The class that walks the stack for the program.
pub const WALKER: &[u8] = b"java/lang/StackStreamFactory$AbstractStackWalker";

/// The class by which Java agents work.
const INSTRUMENTATION: &[u8] = b"sun/instrument/InstrumentationImpl";

/// See [`BodyHook`].
const BODY_HOOKS: &[BodyHook] = &[
    (INSTRUMENTATION, b"<init>", Place::Return, HOOKS, b"agent", b"()V"),
    (INSTRUMENTATION, b"addTransformer", Place::Return, HOOKS, b"agent", b"()V"),
    (
        INSTRUMENTATION,
        b"transform",
        Place::Argument(5),
        HOOKS,
        b"original",
        b"(Ljava/lang/Object;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[BZ)[B",
    ),
    (
        INSTRUMENTATION,
        b"transform",
        Place::Argument(6),
        HOOKS,
        b"original",
        b"(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[BZ)[B",
    ),
    (b"sun/launcher/LauncherHelper", b"checkAndLoadMain", Place::Entry, HOOKS, b"launch", b"()V"),
    (b"java/lang/Shutdown", b"halt", Place::Entry, HOOKS, b"finish", b"()V"),
    (b"java/lang/Shutdown", b"shutdown", Place::Return, HOOKS, b"finish", b"()V"),
    (
        b"java/lang/Throwable",
        b"getOurStackTrace",
        Place::Read(b"depth"),
        STACKS,
        b"depth",
        b"(ILjava/lang/Throwable;)I",
    ),
    (
        WALKER,
        b"doStackWalk",
        Place::Argument(4),
        WALKS,
        b"num$doStackWalk",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIIII)I",
    ),
    (
        WALKER,
        b"doStackWalk",
        Place::Argument(6),
        WALKS,
        b"end$doStackWalk",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIIII)I",
    ),
    (
        b"java/lang/invoke/MemberName",
        b"expandFromVM",
        Place::ReturnWithThis,
        WALKS,
        b"expanded",
        b"(Ljava/lang/Object;)V",
    ),
];

/// The boot of a JVM, of which the runtime's class is told that belongs to the tool.
const PROFILE_BOOT: &[BodyHook] = &[boot(b"initializeSystemClass", HOOKS), boot(b"initPhase2", HOOKS)];
const VALUES_BOOT: &[BodyHook] =
    &[boot(b"initializeSystemClass", VALUES_RUNTIME), boot(b"initPhase2", VALUES_RUNTIME)];

const TRACE_BOOT: &[BodyHook] =
    &[boot(b"initializeSystemClass", TRACE_RUNTIME), boot(b"initPhase2", TRACE_RUNTIME)];

const fn boot(method: &'static [u8], runtime: &'static [u8]) -> BodyHook {
    (b"java/lang/System", method, Place::Return, runtime, b"boot", b"()V")
}

/// Those of outputs that are `--reproducible`: method types and names of call sites are kept.
const REPRODUCIBLE_BODY_HOOKS: &[BodyHook] = &[
    keep(b"java/lang/invoke/MethodTypeForm", b"findForm", 0),
    keep(b"java/lang/invoke/CallSite", b"makeSite", 1),
    keep(b"java/lang/invoke/MethodHandleNatives", b"linkMethod", 3),
    keep(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant", 3),
];

const fn keep(class: &'static [u8], method: &'static [u8], local: u16) -> BodyHook {
    (class, method, Place::EntryWith(local), HOOKS, b"keep", b"(Ljava/lang/Object;)V")
}

/// The hooks of a method's bodies, and whether each of them must be there: those of outputs that are `--reproducible` may be there where that is not known.
pub fn of_body(
    class: &[u8],
    method: &[u8],
    descriptor: &[u8],
    expectation: &Expectation,
) -> impl Iterator<Item = (&'static BodyHook, bool)> {
    let reproducible = expectation.reproducible;
    let boot = match expectation.tool {
        None | Some(Tool::Profile | Tool::Markers) => PROFILE_BOOT,
        Some(Tool::Values(_)) => VALUES_BOOT,
        Some(Tool::Trace) => TRACE_BOOT,
    };
    let special = if reproducible == Some(false) { &[] } else { REPRODUCIBLE_BODY_HOOKS };
    let is_certain = reproducible == Some(true);
    let usual = BODY_HOOKS.iter().chain(boot).map(|h| (h, true));
    let all = usual.chain(special.iter().map(move |h| (h, is_certain)));
    all.filter(move |(hook, _)| (hook.0, hook.1) == (class, method) && fits(hook, descriptor))
}

/// Whether the arguments of the method are those that the call takes beside `this`.
fn fits(hook: &BodyHook, descriptor: &[u8]) -> bool {
    let arguments = |of: &[u8]| MethodDescriptor::parse(of).map(|parsed| parsed.arguments().count()).ok();
    !matches!(hook.2, Place::Argument(_)) || arguments(hook.5) == arguments(descriptor).map(|count| count + 1)
}

/// Whether a method that was left as it is has a place where the runtime is to be called.
pub fn has_place(hook: &BodyHook, class: &ClassFile<'_>, code: &Code<'_>) -> bool {
    let is_read = |index: u16, field| {
        class.pool.member_ref(index).is_ok_and(|m| (m.class, m.name) == (class.name(), field))
    };
    match hook.2 {
        Place::Entry | Place::EntryWith(_) | Place::Argument(_) => true,
        Place::Return | Place::ReturnWithThis => code.instructions().any(|i| opcode::is_return(i.opcode)),
        Place::Read(field) => code.instructions().any(|i| {
            i.opcode == opcode::GETFIELD && i.pool_index().is_some_and(|index| is_read(index, field))
        }),
    }
}
