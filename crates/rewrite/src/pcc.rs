//! What becomes of a context's value in a body or a wrapper, where contexts are values
//! (docs/research/pcc.md).

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::mutf8::lossy;
use cct_classfile::{Member, Result, opcode};
use cct_index::mid::Mid;
use cct_jdk::helpers::Helper;
use cct_pcc::Chosen;
use cct_pcc::value::{FACTOR, Site, caller};

use crate::carrier::Emitter;
use crate::plan::Foreign;

/// The part of a method in values.
#[derive(Debug, Clone)]
pub struct Part {
    /// What was chosen.
    pub chosen: &'static Chosen,
    /// What its call sites' names begin with; `None` if it hands on the value that it got.
    pub caller: Option<String>,
    /// Under which id its value is recorded when it is entered, if it is.
    pub place: Option<Mid>,
}

/// The part of a method that is entered by a wrapper alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrappersPart {
    /// What is added for what it calls back, if it takes part.
    pub site: Option<Site>,
    /// Under which id its value is recorded when it is entered, if it is.
    pub place: Option<Mid>,
}

impl Part {
    /// That of a method of the class with this name in profiles. One that is not `recorded` has
    /// none; `mid` is the id that it would have in a place.
    pub fn of(chosen: &'static Chosen, class: &[u8], member: &Member<'_>, recorded: bool, mid: Mid) -> Part {
        let [class, name, descriptor] = [class, member.name, member.descriptor].map(lossy);
        let takes_part = recorded && chosen.takes_part(&class, &name, &descriptor);
        let is_place = recorded && chosen.records_at(&class, &name, &descriptor);
        Part {
            chosen,
            caller: takes_part.then(|| caller(&class, &name, &descriptor)),
            place: is_place.then_some(mid),
        }
    }

    /// What a call from this bytecode adds.
    pub fn site(&self, bci: Option<u16>) -> Option<Site> {
        self.caller.as_ref().map(|caller| Site::of_caller(caller, bci))
    }

    /// Without a body.
    pub fn of_wrapper(&self) -> WrappersPart {
        WrappersPart { site: self.site(None), place: self.place }
    }
}

/// The part of a method without a body of ours, which its caller has for it.
pub fn of_foreign(chosen: &Chosen, callee: &Foreign<'_>) -> WrappersPart {
    let [class, name, descriptor] = [callee.class, callee.name, callee.descriptor].map(lossy);
    WrappersPart {
        site: chosen
            .takes_part(&class, &name, &descriptor)
            .then(|| Site::of(&class, &name, &descriptor, None)),
        place: chosen.records_at(&class, &name, &descriptor).then(|| callee.mid()),
    }
}

/// The value on the stack becomes that of what is called there, if its caller takes part.
pub fn call(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, site: Option<Site>) -> Result<()> {
    let Some(site) = site else { return Ok(()) };
    triple(emitter, asm)?;
    add(emitter, asm, site)
}

/// The value on the stack, three times.
pub fn triple(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm) -> Result<()> {
    emitter.long(asm, FACTOR)?;
    asm.op(opcode::LMUL);
    Ok(())
}

/// What a call site adds, to what is on the stack.
pub fn add(emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, site: Site) -> Result<()> {
    emitter.long(asm, site.0)?;
    asm.op(opcode::LADD);
    Ok(())
}

/// A method is entered whose value is in a local, and recorded if it is a place.
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
