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
    #[error("does not have the form that it should have")]
    Form,
    #[error("names another class file as the original")]
    Original,
    #[error("names another provenance than the output")]
    Provenance,
    #[error("has other flags for the method")]
    Flags,
    #[error("says of a method without body that it is not recorded")]
    BodilessNotRecorded,
    #[error("says of a method that was left as it is, or of a native that is left out, that it is recorded")]
    LeftRecorded,
    #[error("says otherwise whether the method is recorded")]
    Recorded,
    #[error("says otherwise where the bytecodes were")]
    Positions,
    #[error("says that the method was treated otherwise")]
    Treatment,
    #[error("gives the method another number of slots")]
    Slots,
    #[error("says otherwise what an entry counts by the method's id")]
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
    #[error("hands on a context where nothing is called")]
    NoCall,
    #[error("has another call site's slot")]
    Slot,
    #[error("adds something else than this call site does")]
    CallSite,
    #[error("leaves out a native")]
    LeavesOutNative,
    #[error("puts the context into another thread than is meant")]
    OtherThread,
    #[error("is none for invokedynamic")]
    InvokeDynamic,
    #[error("stands before a call that leads nowhere")]
    NoCallee,
    #[error("counts, where contexts are values")]
    CountsAmongValues,
    #[error("records a value, where contexts are none")]
    RecordsAmongCounts,
    #[error("for hashCode stands before another call")]
    HashCode,
    #[error("counts another number of bytecodes than the callee has")]
    Bytecodes,
    #[error("counts another method than the callee")]
    CountsOther,
    #[error("for a method handle's last step stands before another call")]
    Linker,
    #[error("stands behind one that must be the last")]
    NotLast,
    #[error("gives the context back before the method is over")]
    RestoresEarly,
    #[error("that gives the thread back its context is missing")]
    NoRestore,
    #[error("calls another method than the original")]
    CallsOther,
    #[error("enters another method")]
    EntersOther,
    #[error("makes a node, where contexts are values")]
    MakesNode,
    #[error("makes values of contexts, which are none")]
    MakesValues,
    #[error("that counts what is made here is missing")]
    NoAllocation,
    #[error("that counts for a column is missing")]
    NoColumn,
    #[error("that is for the callee, which has no body, is missing")]
    NoCalleeProbe,
    #[error("says of a callee that may call back that it does not, or the reverse")]
    CallsBack,
    #[error("records the value of a method that was not chosen")]
    NotChosen,
    #[error("multiplies the value of a method that takes no part in values, or calls nothing")]
    Multiplies,
    #[error("that multiplies the value, or the one that records it, is missing")]
    HalfRecorded,
    #[error("that records the value of a method that was chosen is missing")]
    NotRecorded,
    #[error("records the value of another method than the callee")]
    RecordsOther,
    #[error("adds something else than what the callee's own calls add")]
    CalleeSite,
    #[error("that gives the thread the value of a native is missing")]
    NoNativeValue,
}

/// A fault of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum MarkerFault {
    #[error("that a descriptor tells of is missing")]
    Missing,
    #[error("that its descriptor tells of is missing")]
    NotInCode,
    #[error("is in no list, and the method is another")]
    Unlisted,
    #[error("keeps its token among other locals")]
    TokenLocal,
    #[error("is told of twice")]
    Duplicate,
    #[error("keeps its token wrongly")]
    Token,
    #[error("has the token of another kind of region")]
    OtherToken,
    #[error("of the method shares its token")]
    SharedToken,
    #[error("has a token that is nothing in the beginning")]
    TokenAtStart,
    #[error("is not left when the method returns, or wrongly")]
    NotLeft,
    #[error("is left twice when the method returns")]
    ReturnedTwice,
    #[error("is left otherwise than control comes there")]
    LeftOtherwise,
    #[error("of the method is left within it")]
    LeftWithin,
    #[error("is left twice")]
    LeftTwice,
    #[error("at a call is not left where its exception is caught")]
    CallNotLeft,
    #[error("at a call is left otherwise than behind it")]
    CallLeftElsewhere,
    #[error("of a block is not left where control goes")]
    BlockNotLeft,
    #[error("is in no code")]
    NoCode,
    #[error("has another line than its place")]
    Line,
    #[error("stands elsewhere than its descriptor says")]
    Place,
    #[error("is of another place than its descriptor says")]
    Kind,
    #[error("hands over another object")]
    Object,
    #[error("hands over other arguments")]
    Arguments,
    #[error("calls a helper of another kind")]
    Helper,
    #[error("puts aside other arguments than the call has")]
    Aside,
    #[error("is told under another's number")]
    Number,
    #[error("stands where none can be")]
    Nowhere,
    #[error("at a call has no exit behind it")]
    NoExit,
}

/// A fault of an exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum HandlerFault {
    #[error("an entry of the method's own differs")]
    Own,
    #[error("an entry is added that is no catch-all of the rewriter's")]
    Unknown,
    #[error("an added entry covers what is not the program's code")]
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
    #[error("is none of the original, and of nothing that was appended")]
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
    #[error("what gives the thread back its context is missing")]
    NoRestore,
    #[error("the event of the call's return is missing")]
    NoReturn,
    #[error("of a method handle's last step stands before another call")]
    Linker,
    #[error("of hashCode is not that of this call")]
    HashCode,
    #[error("the event of what is made here is missing")]
    NoObject,
}

/// A fault of the counts of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum CountFault {
    #[error("a method with subroutines is not counted by the exact rule")]
    Subroutines,
    #[error("bytecodes are counted on entry, where none are to be")]
    OnEntry,
    #[error("bytecodes are counted where none are to be")]
    Counted,
    #[error("the instruction is not counted before it runs")]
    Late,
    #[error("the block is not counted with as many bytecodes as it has")]
    Block,
    #[error("the node is not true where control may leave")]
    Node,
    #[error("an exception would leave with a wrong count")]
    Exception,
    #[error("the node is not true where the agent looks")]
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
    #[error("past the hook of this native has no method")]
    NoMethod,
}

/// A fault where a clock is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum ClockFault {
    #[error("is not replaced, in a method that was left as it is")]
    LeftAsItIs,
    #[error("is not replaced, as other answers are (--reproducible)")]
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
    #[error("the bytecodes of what is over at once")]
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
    #[error("what comes behind a block without an event")]
    Next,
    #[error("a call site")]
    CallSite,
    #[error("the number of call sites")]
    CallSites,
    #[error("the exception handlers")]
    Handlers,
    #[error("the lines")]
    Lines,
    #[error("what makes objects")]
    Objects,
}

/// A contradiction between the two forms of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum FormsFault {
    #[error("some of the class's methods are recorded, others not")]
    PartlyRecorded,
    #[error("a wrapper of what has no code")]
    WrapperWithoutCode,
    #[error("{0} and {1}")]
    Pair(&'static str, &'static str),
}
