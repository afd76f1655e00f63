//! Findings: faults of a rewritten class, with their locations.

use crate::faults::{
    ClassPart, ClockFault, CountFault, EventFault, FormsFault, ForwarderKind, FrameFault, HandlerFault,
    LimitFault, MarkerFault, MethodPart, OwnAttributeFault, ProbeFault, RuntimeFault, StaticSidePart,
};
use cct_classfile::{Bci, NameAndType};

use crate::readers::compare::Part;

/// A difference from the original that is no known instrumentation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Problem {
    #[error("the {which} class file cannot be read: {why}")]
    Unreadable { which: &'static str, why: String },
    #[error(
        "{part} of the {which} class file: cctrewrite and cafebabe read it differently; report \
         this with the file"
    )]
    Readers { which: &'static str, part: Part },
    #[error("{0} of the class differs")]
    Class(ClassPart),
    #[error("the attribute {0} differs")]
    Attribute(String),
    #[error("the attribute `cctrewrite` {0}")]
    OwnAttribute(OwnAttributeFault),
    #[error("a field is missing or differs")]
    Field,
    #[error("it is added, but not by instrumentation")]
    AddedMember,
    #[error("the {0} of the method differ")]
    Head(MethodPart),
    #[error("the method is missing")]
    Missing,
    #[error("its forms do not match: {0}")]
    Forms(FormsFault),
    #[error("`{0}` replaces `{1}`, and starts no known probe")]
    Instruction(&'static str, &'static str),
    #[error("the prologue is unknown")]
    Prologue,
    #[error("not a known forwarder (one for {0})")]
    Forwarder(ForwarderKind),
    #[error("the jump has another target")]
    Jump,
    #[error("unknown code follows, not a handler")]
    Tail,
    #[error("the call has no probe that passes its context")]
    CallWithoutContext,
    #[error("the probe {0}")]
    Probe(ProbeFault),
    #[error("the marker {0}")]
    Marker(MarkerFault),
    #[error("exception table: {0}")]
    Handlers(HandlerFault),
    #[error("the frame {0}")]
    Frame(FrameFault),
    #[error("{0} is too small")]
    Limit(LimitFault),
    #[error("{0}")]
    Event(EventFault),
    #[error("the trace's static side differs: {0}")]
    Structure(StaticSidePart),
    #[error("the numbers of its methods belong to another class")]
    Numbers,
    #[error("counts: {0}")]
    Count(CountFault),
    #[error("the call of the runtime {0}")]
    Runtime(RuntimeFault),
    #[error("the result of the clock {0}")]
    Clock(ClockFault),
    #[error("the callee is counted twice: here and by itself")]
    CountedTwice,
    #[error("the callee is counted here, but another method may override it")]
    CountedInVain,
    #[error("it overrides a final method of a superclass, so the JVM refuses the class")]
    FinalOverridden,
}

/// One fault with its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name and descriptor of the member, if the fault is in one.
    pub member: Option<String>,
    /// Bytecode index in the original.
    pub original: Option<Bci>,
    /// Bytecode index in the rewritten class.
    pub rewritten: Option<Bci>,
    /// The fault.
    pub problem: Problem,
}

impl Finding {
    /// A finding without a location.
    pub fn of(problem: Problem) -> Self {
        Finding { member: None, original: None, rewritten: None, problem }
    }

    /// A finding at a location of the original's code and one of the rewritten code.
    pub fn at(problem: Problem, original: impl Into<Option<Bci>>, rewritten: impl Into<Option<Bci>>) -> Self {
        Finding { member: None, original: original.into(), rewritten: rewritten.into(), problem }
    }

    /// Names the member.
    #[must_use]
    pub fn in_member(mut self, member: NameAndType<'_>) -> Self {
        self.member = Some(member.to_string());
        self
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(member) = &self.member {
            write!(f, "{member}: ")?;
        }
        match (self.original, self.rewritten) {
            (Some(original), Some(rewritten)) => {
                write!(f, "bytecode index {original} (rewritten: {rewritten}): ")?;
            }
            (Some(original), None) => write!(f, "bytecode index {original}: ")?,
            (None, Some(rewritten)) => write!(f, "rewritten bytecode index {rewritten}: ")?,
            (None, None) => {}
        }
        write!(f, "{}", self.problem)
    }
}

/// The result of checking a part.
pub type Check<T = ()> = Result<T, Finding>;
