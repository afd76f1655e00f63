//! Faults, by subject. Each variant's text is the end of the sentence of its
//! [`Problem`](crate::Problem).

use thiserror::Error;

/// A part of a class that must be unchanged: `{0} of the class differs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum ClassPart {
    #[error("a module descriptor: more than its hashes and packages")]
    ModuleDescriptor,
    #[error("the constant pool, as far as the original's goes,")]
    Constants,
    #[error("the list of markers")]
    Markers,
    #[error("the version")]
    Version,
    #[error("the access flags")]
    Flags,
    #[error("the name or the superclass")]
    NameOrSuperclass,
    #[error("the list of interfaces")]
    Interfaces,
    #[error("a native under its other name")]
    RenamedNative,
    #[error("the list of helpers")]
    Helpers,
    #[error("the version, the flags, a name")]
    Heads,
    #[error("the list of added fields")]
    AddedFields,
}

/// A part of a method that must be unchanged: `the {0} of the method differ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum MethodPart {
    #[error("descriptors")]
    Descriptors,
    #[error("attributes")]
    Attributes,
    #[error("access flags")]
    Flags,
    #[error("access flags of its extended form")]
    ExtendedFlags,
    #[error("flags or attributes")]
    FlagsOrAttributes,
    #[error("codes")]
    Codes,
}

/// A wrong statement of the attribute `cctrewrite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum OwnAttributeFault {
    #[error("has a wrong form")]
    Form,
    #[error("names another class file as the original")]
    Original,
    #[error("names another provenance than the output")]
    Provenance,
    #[error("has other flags for the method")]
    Flags,
    #[error("names a method without a body as not recorded")]
    BodilessNotRecorded,
    #[error("names an unchanged method or an omitted native as recorded")]
    LeftRecorded,
    #[error("is wrong about whether the method is recorded")]
    Recorded,
    #[error("has wrong positions of bytecodes")]
    Positions,
    #[error("names another treatment of the method")]
    Treatment,
    #[error("has another number of slots for the method")]
    Slots,
    #[error("has another count on entry in the method's id")]
    OnEntry,
    #[error("is missing, or not the last one")]
    Missing,
}

/// The purpose of a forwarder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum ForwarderKind {
    #[error("the original signature")]
    Original,
    #[error("the extended signature")]
    Extended,
    #[error("a method without code")]
    WithoutCode,
}

/// A fault of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum ProbeFault {
    #[error("passes a context without a call")]
    NoCall,
    #[error("has another call site's slot")]
    Slot,
    #[error("does not add what this call site adds")]
    CallSite,
    #[error("omits a native")]
    LeavesOutNative,
    #[error("puts the context into the wrong thread")]
    OtherThread,
    #[error("does not fit invokedynamic")]
    InvokeDynamic,
    #[error("precedes a call without a callee")]
    NoCallee,
    #[error("counts, but contexts are values")]
    CountsAmongValues,
    #[error("records a value, but contexts are nodes")]
    RecordsAmongCounts,
    #[error("for hashCode precedes another call")]
    HashCode,
    #[error("counts another number of bytecodes than the callee has")]
    Bytecodes,
    #[error("counts another method than the callee")]
    CountsOther,
    #[error("for a method handle's last step precedes another call")]
    Linker,
    #[error("follows one that must be the last")]
    NotLast,
    #[error("restores the context before the method ends")]
    RestoresEarly,
    #[error("that restores the thread's context is missing")]
    NoRestore,
    #[error("calls another method than the original")]
    CallsOther,
    #[error("enters another method")]
    EntersOther,
    #[error("creates a node, but contexts are values")]
    MakesNode,
    #[error("computes values, but contexts are nodes")]
    MakesValues,
    #[error("that counts this allocation is missing")]
    NoAllocation,
    #[error("that counts for a column is missing")]
    NoColumn,
    #[error("for a callee without a body is missing")]
    NoCalleeProbe,
    #[error("is wrong about whether the callee may call back")]
    CallsBack,
    #[error("records the value of a method that was not chosen")]
    NotChosen,
    #[error("multiplies the value of a method that is not part of values, or calls nothing")]
    Multiplies,
    #[error("that multiplies or records the value is missing")]
    HalfRecorded,
    #[error("that records the value of a chosen method is missing")]
    NotRecorded,
    #[error("records the value of another method than the callee")]
    RecordsOther,
    #[error("does not add what the callee's own calls add")]
    CalleeSite,
    #[error("that gives the thread the value of a native is missing")]
    NoNativeValue,
}

/// A fault of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum MarkerFault {
    #[error("of a descriptor is missing")]
    Missing,
    #[error("of its descriptor is missing")]
    NotInCode,
    #[error("is in no list, and the method differs")]
    Unlisted,
    #[error("keeps its token among other locals")]
    TokenLocal,
    #[error("is listed twice")]
    Duplicate,
    #[error("keeps its token wrongly")]
    Token,
    #[error("has the token of another kind of region")]
    OtherToken,
    #[error("of the method shares its token")]
    SharedToken,
    #[error("has a token that is empty at first")]
    TokenAtStart,
    #[error("is not left correctly when the method returns")]
    NotLeft,
    #[error("is left twice when the method returns")]
    ReturnedTwice,
    #[error("is not left where control leaves it")]
    LeftOtherwise,
    #[error("of the method is left within it")]
    LeftWithin,
    #[error("is left twice")]
    LeftTwice,
    #[error("at a call is not left where its exception is caught")]
    CallNotLeft,
    #[error("at a call is not left after the call")]
    CallLeftElsewhere,
    #[error("of a block is not left where control goes")]
    BlockNotLeft,
    #[error("is in no code")]
    NoCode,
    #[error("has another line than its place")]
    Line,
    #[error("is not where its descriptor says")]
    Place,
    #[error("is of another location than its descriptor says")]
    Kind,
    #[error("passes another object")]
    Object,
    #[error("passes other arguments")]
    Arguments,
    #[error("calls a helper of another kind")]
    Helper,
    #[error("stores other arguments than the call has")]
    Aside,
    #[error("has the number of another marker")]
    Number,
    #[error("is where none can be")]
    Nowhere,
    #[error("at a call has no exit after it")]
    NoExit,
}

/// A fault of an exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum HandlerFault {
    #[error("an entry of the method's own differs")]
    Own,
    #[error("an added entry is not a catch-all of the rewriter")]
    Unknown,
    #[error("an added entry covers inserted code")]
    CoversOther,
    #[error("an added entry covers a jump in between")]
    CoversJump,
    #[error("an added entry begins or ends within a piece")]
    WithinPiece,
    #[error("an exception would leave the thread with a wrong context")]
    Context,
    #[error("an exception would leave the method without an event")]
    Event,
    #[error("an exception would leave a marker's region without an exit")]
    Region,
}

/// A fault of a frame, or of the table of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum FrameFault {
    #[error("table of the original cannot be read")]
    OriginalTable,
    #[error("table cannot be read")]
    Table,
    #[error("is inside an instruction")]
    Inside,
    #[error("has a local that cannot move")]
    Local,
    #[error("differs")]
    Differs,
    #[error("belongs neither to the original nor to appended code")]
    Unknown,
    #[error("of an appended handler is missing")]
    Missing,
}

/// A limit of the code that is too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum LimitFault {
    #[error("max_stack")]
    Stack,
    #[error("max_locals")]
    Locals,
}

/// A fault of the events of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum EventFault {
    #[error("events that belong before this instruction are missing, or others")]
    Before,
    #[error("the code that restores the thread's context is missing")]
    NoRestore,
    #[error("the event of the call's return is missing")]
    NoReturn,
    #[error("of a method handle's last step precedes another call")]
    Linker,
    #[error("of hashCode is not that of this call")]
    HashCode,
    #[error("the event of this allocation is missing")]
    NoObject,
}

/// A fault of the counts of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum CountFault {
    #[error("a method with subroutines is not counted by the exact rule")]
    Subroutines,
    #[error("bytecodes are counted on entry, but must not be")]
    OnEntry,
    #[error("bytecodes are counted where they must not be")]
    Counted,
    #[error("the instruction is not counted before it runs")]
    Late,
    #[error("the block is counted with a wrong number of bytecodes")]
    Block,
    #[error("the node is not exact where control may leave")]
    Node,
    #[error("an exception would leave with a wrong count")]
    Exception,
    #[error("the node is not exact where the agent reads it")]
    Agent,
    #[error("a loop adds to the local and never empties it")]
    Loop,
    #[error("by another rule")]
    OtherRule,
}

/// A fault of a call of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum RuntimeFault {
    #[error("that belongs here is missing")]
    Missing,
    #[error("past the hook of this native: there is no method")]
    NoMethod,
}

/// A fault where a clock is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum ClockFault {
    #[error("is not replaced, in an unchanged method")]
    LeftAsItIs,
    #[error("is not replaced, unlike the other clocks (--reproducible)")]
    NotReplaced,
}

/// A part of the statements in the static side of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum StaticSidePart {
    #[error("it does not have the class")]
    NoClass,
    #[error("its bytes are no class")]
    Bytes,
    #[error("the name")]
    Name,
    #[error("the superclass")]
    Superclass,
    #[error("the interfaces")]
    Interfaces,
    #[error("the access flags")]
    Flags,
    #[error("the bytes of its fields")]
    FieldBytes,
    #[error("the source file")]
    Source,
    #[error("the number of methods")]
    Methods,
    #[error("the number of its first method")]
    FirstMethod,
    #[error("the name or the descriptor")]
    Descriptor,
    #[error("the id")]
    Id,
    #[error("what is recorded")]
    Recording,
    #[error("the bytecodes of methods that return immediately")]
    LeafBytecodes,
    #[error("the bytecode")]
    Code,
    #[error("whether the first block has an event")]
    FirstBlock,
    #[error("the number of blocks")]
    Blocks,
    #[error("where a block begins")]
    BlockStart,
    #[error("a block's metrics")]
    Metrics,
    #[error("what follows a block without an event")]
    Next,
    #[error("a call site")]
    CallSite,
    #[error("the number of call sites")]
    CallSites,
    #[error("the exception handlers")]
    Handlers,
    #[error("the lines")]
    Lines,
    #[error("allocations")]
    Objects,
}

/// A contradiction between the two forms of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum FormsFault {
    #[error("some of the class's methods are recorded, others not")]
    PartlyRecorded,
    #[error("a wrapper of a method without code")]
    WrapperWithoutCode,
    #[error("{0} and {1}")]
    Pair(&'static str, &'static str),
}
