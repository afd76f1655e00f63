//! The value of a context in a body or a wrapper, where values represent contexts
//! (docs/research/pcc.md).

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::mutf8::lossy;
use cct_classfile::{Member, MemberRef, Result, opcode};
use cct_index::mid::Mid;
use cct_jdk::helpers::Helper;
use cct_pcc::MethodChoice;
use cct_pcc::value::{FACTOR, Site, caller};

use crate::carrier::Emitter;
use crate::plan::Foreign;

/// A method's part in values.
#[derive(Debug, Clone)]
pub struct Part {
    /// The user's choice of methods.
    pub chosen: &'static MethodChoice,
    /// Prefix of its call sites' names; `None` if the method passes on the value that it got.
    pub caller: Option<String>,
    /// The id under which its value is recorded on entry; `None` if it is not recorded.
    pub place: Option<Mid>,
}

/// The part of a method that is entered through a wrapper only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrappersPart {
    /// The site that is added for methods that it calls back; `None` if it does not take part.
    pub site: Option<Site>,
    /// The id under which its value is recorded on entry; `None` if it is not recorded.
    pub place: Option<Mid>,
}

impl Part {
    /// The part of a method of the class with this name in profiles. A method that is not
    /// `recorded` has none. `mid` is its id where values are recorded.
    pub fn of(
        chosen: &'static MethodChoice,
        class: &[u8],
        member: &Member<'_>,
        recorded: bool,
        mid: Mid,
    ) -> Part {
        let [class, name, descriptor] = [class, member.name, member.descriptor].map(lossy);
        let takes_part = recorded && chosen.takes_part(&class, &name, &descriptor);
        let is_place = recorded && chosen.records_at(&class, &name, &descriptor);
        Part {
            chosen,
            caller: takes_part.then(|| caller(&class, &name, &descriptor)),
            place: is_place.then_some(mid),
        }
    }

    /// The site that a call at this bytecode adds.
    pub fn site(&self, bci: Option<u16>) -> Option<Site> {
        self.caller.as_ref().map(|caller| Site::of_caller(caller, bci))
    }

    /// The part of a wrapper of the method.
    pub fn of_wrapper(&self) -> WrappersPart {
        WrappersPart { site: self.site(None), place: self.place }
    }
}

/// The part of a method without an instrumented body, which its caller handles.
pub fn of_foreign(chosen: &MethodChoice, callee: &Foreign<'_>) -> WrappersPart {
    let MemberRef { class, name, descriptor } = callee.method;
    let [class, name, descriptor] = [class, name, descriptor].map(lossy);
    WrappersPart {
        site: chosen
            .takes_part(&class, &name, &descriptor)
            .then(|| Site::of(&class, &name, &descriptor, None)),
        place: chosen.records_at(&class, &name, &descriptor).then(|| callee.mid()),
    }
}

/// Turns the value on the stack into the callee's, if the caller takes part.
pub fn call(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, site: Option<Site>) -> Result<()> {
    let Some(site) = site else { return Ok(()) };
    triple(emitter, asm)?;
    add(emitter, asm, site)
}

/// Triples the value on the stack.
pub fn triple(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm) -> Result<()> {
    emitter.long(asm, FACTOR)?;
    asm.op(opcode::LMUL);
    Ok(())
}

/// Adds a call site's number to the value on the stack.
pub fn add(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, site: Site) -> Result<()> {
    emitter.long(asm, site.0)?;
    asm.op(opcode::LADD);
    Ok(())
}

/// Enters a method whose value is in a local, and records the value if the method is a place.
pub fn record(
    emitter: &mut Emitter<'_, '_, '_>,
    asm: &mut Asm,
    value: u16,
    place: Option<Mid>,
) -> Result<()> {
    let Some(place) = place else { return Ok(()) };
    asm.load(Kind::Long, value);
    emitter.mid(asm, place)?;
    emitter.helper(asm, Helper::At)
}
