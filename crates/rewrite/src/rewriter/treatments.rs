//! What is written for a method by its treatment.

use cct_classfile::{Code, Member, Result, access};
use cct_index::treatment::Treatment;
use cct_jdk::natives;
use cct_settings::Settings;

use super::bodies::Bodies;
use super::shared::Rewriter;
use super::state::ClassRewriter;
use crate::hooks;
use crate::markers::ClassFailure;
use crate::plan;
use crate::report::Fallback;
use crate::wrappers::{self, Below, Target};

/// A method to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'m, 'a> {
    /// Its place in the class file.
    pub(super) index: usize,
    pub(super) member: &'m Member<'a>,
    /// Its number in traces, if the run records one.
    pub(super) number: Option<u32>,
    /// Whether it is a native of a recorded class that gets no node (`--natives none`).
    pub(super) is_unrepresented: bool,
}

/// What was written for a method.
pub(super) struct WrittenMethod {
    /// The treatment that was carried out.
    pub(super) treatment: Treatment,
    pub(super) bodies: Bodies,
    /// The bytecodes that a forwarder counts for the original, of which nothing else is recorded.
    pub(super) leaf: Option<u32>,
}

impl WrittenMethod {
    /// Without instrumented bodies.
    fn bodiless(treatment: Treatment) -> WrittenMethod {
        WrittenMethod { treatment, bodies: Bodies::default(), leaf: None }
    }
}

impl<'a> ClassRewriter<'_, '_, 'a> {
    /// Carries out a treatment.
    pub(super) fn treat(
        &mut self,
        subject: &Subject<'_, 'a>,
        treatment: Treatment,
    ) -> std::result::Result<WrittenMethod, ClassFailure> {
        let Subject { index, member, .. } = *subject;
        let mut written = WrittenMethod::bodiless(treatment);
        match treatment {
            Treatment::Wrapped
            | Treatment::Duplicated
            | Treatment::Redispatched
            | Treatment::OriginalOnly => {
                written.bodies = self.bodies(index, member, treatment)?;
                let is_left = written.bodies.fallback == Some(Fallback::NotInstrumented);
                if is_left && !treatment.has_extended_form() {
                    written.treatment = Treatment::Untouched;
                }
            }
            Treatment::AbstractRedispatched => self.redispatch(member)?,
            Treatment::Native => {
                written.bodies.shape.slots = 1;
                self.wrap_native(subject, &written)?;
            }
            Treatment::LeafNative | Treatment::Magic => written.leaf = self.wrap_leaf(subject, &written)?,
            Treatment::Intrinsic => {
                written.leaf = Some(0);
                self.wrap_intrinsic(subject, &written)?;
            }
            Treatment::Prefixed => {
                let named = member.of_class(self.class.name());
                written.bodies.shape.slots = u8::from(!natives::is_leaf(named.member_name()));
                self.rename(index, member, written.bodies.shape)?;
            }
            Treatment::CallerCounted | Treatment::Untouched => {}
        }
        Ok(written)
    }

    /// Writes the extended form of a native.
    fn wrap_native(&mut self, subject: &Subject<'_, 'a>, written: &WrittenMethod) -> Result<()> {
        let Subject { index, member, number, is_unrepresented } = *subject;
        let shape = written.bodies.shape;
        let mid = self.mid(index, shape).filter(|_| !is_unrepresented);
        let is_static = member.is(access::STATIC);
        let Settings { reproducible, .. } = self.rewriter.settings;
        let makes = self.native_makes(member);
        let values = self.part(index, member, shape.slots).map(|part| part.of_wrapper());
        let hook = hooks::native_hook(member.of_class(self.class.name()), is_static, reproducible);
        self.forward(member, |emitter, target, head| {
            let below = if is_unrepresented { Below::Root } else { Below::Itself(mid) };
            let target = &Target { traced: number, values, ..*target };
            wrappers::bytecode_to_native(emitter, target, below, hook, makes, head)
        })
    }

    /// Writes the extended form of a native that calls nothing, or of a body that the VM replaces.
    /// Returns the bytecodes that it counts; `None` if its end is recorded, too.
    fn wrap_leaf(&mut self, subject: &Subject<'_, 'a>, written: &WrittenMethod) -> Result<Option<u32>> {
        let Subject { index, member, number, is_unrepresented } = *subject;
        let shape = written.bodies.shape;
        let mid = self.mid(index, shape).filter(|_| !is_unrepresented);
        // A body with magic gets a straight one that counts as if it were executed: whether the VM
        // executes it depends on VM and collector.
        let counts = self.rewriter.settings.block_rule().is_some() || number.is_some();
        let bytecodes = match counts.then_some(()) {
            Some(_) => Code::of(self.class, member)?.map_or(0, |code| self.straight_cost(&code)),
            None => 0,
        };
        let makes = self.native_makes(member);
        let values = self.part(index, member, shape.slots).map(|part| part.of_wrapper());
        let throws = natives::leaf_throws(member.of_class(self.class.name()).member_name());
        let ending = number.filter(|_| throws && mid.is_some());
        self.forward(member, |emitter, target, head| {
            let target = &Target { traced: number, values, ..*target };
            match (mid, makes) {
                _ if let Some(method) = ending => wrappers::traced_original(emitter, target, method, head),
                (Some(mid), Some(makes)) => {
                    wrappers::counted_original_that_makes(emitter, target, mid, makes, head)
                }
                _ => wrappers::counted_original(emitter, target, mid, bytecodes, head),
            }
        })?;
        Ok(Some(bytecodes).filter(|_| ending.is_none()))
    }

    /// Writes the extended form of a method that HotSpot may replace.
    fn wrap_intrinsic(&mut self, subject: &Subject<'_, 'a>, written: &WrittenMethod) -> Result<()> {
        let Subject { index, member, number, .. } = *subject;
        let shape = written.bodies.shape;
        let mid = self.mid(index, shape);
        let Rewriter { world, plan, .. } = self.rewriter;
        let is_closed = match Code::of(self.class, member)? {
            Some(code) => plan::is_closed(world, plan, self.class, &code)?,
            None => false,
        };
        let values = self.part(index, member, shape.slots).map(|part| part.of_wrapper());
        self.forward(member, |emitter, target, head| {
            let target = &Target { traced: number, values, ..*target };
            if is_closed {
                wrappers::counted_original(emitter, target, mid, 0, head)
            } else {
                wrappers::bypassed_original(emitter, target, mid, head)
            }
        })
    }
}
