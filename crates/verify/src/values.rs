//! Values as contexts (docs/research/pcc.md): the number that each method adds, the methods that
//! record them, and the probes of callers for callees without an instrumented body. All of it
//! follows from names, bytecode indices and the user's choice.

use crate::faults::ProbeFault;
use cct_classfile::{Bci, Instruction, MemberName, MemberRef, NameAndType, access, mutf8, opcode};
use cct_jdk::convention::OBJECT;
use cct_pcc::MethodChoice;

use crate::convention::{call_site, foreign_id};
use crate::hierarchy::ResolvedMethod;
use crate::probe::{CalleeEntry, Carries};
use crate::prologue::Prologue;

/// The part of a method in values, if its class is recorded.
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    /// The user's choice of methods.
    pub chosen: &'static MethodChoice,
    method: MemberRef<'p>,
    /// Whether its calls change values.
    pub takes_part: bool,
    /// Whether its value is recorded on entry.
    pub is_place: bool,
}

impl<'p> Part<'p> {
    /// The part of a method.
    pub fn of(chosen: &'static MethodChoice, method: MemberRef<'p>) -> Self {
        let texts = [method.class, method.name, method.descriptor].map(mutf8::decode_lossy);
        let takes_part = chosen.takes_part(&texts[0], &texts[1], &texts[2]);
        let is_place = chosen.records_at(&texts[0], &texts[1], &texts[2]);
        Part { chosen, method, takes_part, is_place }
    }

    /// The number that a call at this bytecode adds; `None` is for calls by a native.
    pub fn site(&self, bci: Option<Bci>) -> i64 {
        call_site(self.method, bci)
    }

    /// Whether a body with this prologue is recorded, if the prologue shows that. Methods that call
    /// something and take part multiply the value; chosen methods record it. An error says how the
    /// prologue contradicts the choice or itself.
    pub fn is_recorded(&self, prologue: &Prologue, calls: usize) -> Result<Option<bool>, ProbeFault> {
        let is_at = prologue.recorded_at.is_some();
        let multiplies = prologue.locals.carries == Carries::Value;
        if is_at && !self.is_place {
            return Err(ProbeFault::NotChosen);
        }
        if multiplies && !(self.takes_part && calls > 0) {
            return Err(ProbeFault::Multiplies);
        }
        let by_place = self.is_place.then_some(is_at);
        let by_calls = (self.takes_part && calls > 0).then_some(multiplies);
        match (by_place, by_calls) {
            (Some(one), Some(other)) if one != other => Err(ProbeFault::HalfRecorded),
            _ => Ok(by_place.or(by_calls)),
        }
    }

    /// The contradiction in a caller's probe for this callee, if any.
    fn contradicts(&self, entered: &CalleeEntry, slots: usize) -> Option<ProbeFault> {
        let place = self.is_place.then(|| foreign_id(self.method, slots));
        if entered.place != place {
            return Some(match (entered.place, place) {
                (None, _) => ProbeFault::NotRecorded,
                (_, None) => ProbeFault::NotChosen,
                _ => ProbeFault::RecordsOther,
            });
        }
        let site = (self.takes_part && entered.stores).then(|| self.site(None));
        (entered.site != site).then_some(ProbeFault::CalleeSite)
    }
}

/// The fault of a caller's probe for a callee without an instrumented body which is this method, if
/// any; `slots` is 1 if it may call back.
pub fn wrong_for(
    chosen: &'static MethodChoice,
    entered: &CalleeEntry,
    method: MemberRef<'_>,
) -> Option<ProbeFault> {
    Part::of(chosen, method).contradicts(entered, usize::from(entered.stores))
}

/// The class that declares a callee, if the reference shows that without a look at the class that
/// it names.
pub fn declares(call: &Instruction<'_>, callee: MemberRef<'_>) -> Option<&'static [u8]> {
    let is_final = matches!(callee.name, b"getClass" | b"notify" | b"notifyAll" | b"wait");
    let is_of_any = call.opcode == opcode::INVOKEVIRTUAL && is_final && is_of_object(callee.name_and_type());
    // Arrays have the methods of `Object`.
    (callee.class == OBJECT || callee.class.first() == Some(&b'[') || is_of_any).then_some(OBJECT)
}

/// Whether a call in a class may have no probe, as far as its reference shows: the callee has no
/// instrumented body, calls nothing back, and is not recorded. Such callees are those of `Object`,
/// under any class name; methods that HotSpot may replace (`--intrinsics native`); and leaf natives
/// of a superclass in a library that was not rewritten, which only that library shows.
pub fn may_be_silent(class: &[u8], call: &Instruction<'_>, callee: MemberRef<'_>) -> bool {
    let is_of_object = is_of_object(callee.name_and_type());
    match call.opcode {
        opcode::INVOKESPECIAL if callee.name == b"<init>" => callee.class == OBJECT,
        opcode::INVOKESPECIAL => is_of_object || callee.class != class,
        opcode::INVOKEVIRTUAL => {
            is_of_object || callee.member_name() == MemberName::new(b"java/lang/String", b"equals")
        }
        opcode::INVOKESTATIC => is_of_object,
        _ => false,
    }
}

/// Whether `Object` has a method of this kind without an instrumented body: its constructor, and
/// its natives.
fn is_of_object(method: NameAndType<'_>) -> bool {
    matches!(
        (method.name, method.descriptor),
        (b"<init>" | b"notify" | b"notifyAll" | b"registerNatives", b"()V")
            | (b"getClass", b"()Ljava/lang/Class;")
            | (b"hashCode", b"()I")
            | (b"clone", b"()Ljava/lang/Object;")
            | (b"wait" | b"wait0", b"(J)V")
    )
}

/// The fault of a caller's probe for a callee that `Links` has found, if any.
pub(crate) fn wrong(
    chosen: &'static MethodChoice,
    entered: &CalleeEntry,
    callee: &ResolvedMethod<'_>,
) -> Option<ProbeFault> {
    let method = callee.method.name_and_type().of_class(&callee.class.name);
    if !entered.stores
        && entered.place.is_none()
        && callee.method.flags & access::NATIVE != 0
        && *callee.class.name != *OBJECT
    {
        return Some(ProbeFault::NoNativeValue);
    }
    wrong_for(chosen, entered, method)
}
