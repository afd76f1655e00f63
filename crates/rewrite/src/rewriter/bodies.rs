//! Writing the bodies of a method: as planned, or with less where the instrumented body would be too large.

use std::cell::RefCell;

use cct_classfile::edit::frames::Signature;
use cct_classfile::{Bci, Code, ErrorKind, Member, opcode};
use cct_events::structure::Recording;
use cct_flow::BlockRule;
use cct_index::mid::{Mid, Shape};
use cct_index::positions::{Form, Packed, Positions};
use cct_index::record::ForeignRecord;
use cct_index::treatment::Treatment;
use cct_markers::LeftOut;

use super::Rewriter;
use super::class::ClassRewriter;
use crate::allocation::{self, Allocation, NativeMakes};
use crate::body::{self, Analysis, Planners, Weaving};
use crate::carrier::{Emitter, Sites};
use crate::error::Result;
use crate::hooks;
use crate::local_names;
use crate::markers::{self, Stopped};
use crate::pcc::Part;
use crate::pins;
use crate::plan::{CallTarget, with_extension};
use crate::report::Fallback;
use crate::rules;
use crate::settings::{ContextCarrier, Settings};
use crate::structure;
use crate::tracing::TracePlan;
use crate::wrappers::{self, DebugTables, Target};

thread_local! {
    // One per worker: analyses reuse their memory.
    static PLANNERS: RefCell<Planners> = RefCell::default();
}

/// What came of writing a method's bodies.
pub(super) struct Bodies {
    /// What its id says beside the hash.
    pub(super) shape: Shape,
    /// Where the bytecodes were.
    pub(super) positions: Packed,
    /// What had to be left out for the sake of size.
    pub(super) fallback: Option<Fallback>,
}

/// How much of the instrumentation a body gets. Each level is smaller than the one before.
const LEVELS: [Level; 4] =
    [Level::AsPlanned, Level::DefaultBlocks, Level::CallsOnly, Level::CallsWithoutObjects];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    AsPlanned,
    DefaultBlocks,
    CallsOnly,
    CallsWithoutObjects,
}

impl<'r, 'a> ClassRewriter<'r, '_, 'a> {
    /// Instrumented bodies of a method.
    pub(super) fn bodies(
        &mut self,
        index: usize,
        member: &Member<'a>,
        treatment: Treatment,
    ) -> Result<Bodies, Stopped> {
        let code = self.code(index, member)?.ok_or_else(|| {
            cct_classfile::Error::new(ErrorKind::Malformed(
                "a method without Code is neither native nor abstract",
            ))
        })?;
        let calls = self.call_targets(&code)?;
        let allocations = self.allocations(&code)?;
        let places = calls.len() + allocations.iter().map(|a| a.made.slots()).sum::<usize>();
        let sites = match self.rewriter.settings.call_sites {
            true => Sites::Apart(places),
            false => Sites::Merged(places),
        };
        let slots = sites.slots();
        let values = self.part(index, member, slots);
        let signature = Signature::of(self.class, member)?;
        let marks = &self.rewriter.marks;
        let is_extent = !marks.extents_of(self.class.name(), member.name, member.descriptor).is_empty();
        let is_start = !marks.starts_of(self.class.name(), member.name, member.descriptor).is_empty();
        let pinned = match self.rewriter.settings.reproducible {
            true => pins::reads(self.class, member.name, &code)?,
            false => Vec::new(),
        };
        for level in LEVELS {
            let blocks = match level {
                Level::AsPlanned => self.rewriter.settings.block_rule(),
                Level::DefaultBlocks => match self.rewriter.settings.block_rule() {
                    Some(BlockRule::Precise | BlockRule::Exact | BlockRule::Custom(_)) => {
                        Some(BlockRule::Default)
                    }
                    None if self.rewriter.settings.traces() => None,
                    Some(BlockRule::Default) | None => continue,
                },
                Level::CallsOnly => None,
                Level::CallsWithoutObjects if allocations.is_empty() => continue,
                Level::CallsWithoutObjects => None,
            };
            let (calls, pins) = (calls.clone(), pinned.clone());
            let Settings { activation, cost_model, .. } = self.rewriter.settings;
            let mut analysis = PLANNERS.with_borrow_mut(|planners| {
                let (class, own) = (self.class, &self.own);
                Analysis::of(class, own, member, &code, planners, blocks, cost_model, activation, calls, pins)
            })?;
            analysis.traces = self.rewriter.settings.traces();
            let recording = match level {
                Level::AsPlanned => Recording::Full,
                Level::DefaultBlocks => Recording::Blocks,
                _ => Recording::Calls,
            };
            let plan = self
                .number(index)
                .map(|method| TracePlan::of(self.class, &self.own, member, &code, method, recording));
            analysis.trace = plan.filter(|_| self.recorded);
            let traces = analysis.traces;
            analysis.values = values.clone();
            analysis.hooks = hooks::body_hooks(self.class.name(), member.name, &self.rewriter.settings)
                .filter(|hook| hook.fits(member.descriptor))
                .collect();
            analysis.sites = sites;
            if level != Level::CallsWithoutObjects {
                analysis.allocations = allocations.clone();
                analysis.traces_objects = traces && self.rewriter.settings.allocations;
            }
            analysis.is_extent = is_extent;
            analysis.is_start = is_start;
            analysis.holds_thread = self.rewriter.settings.context == ContextCarrier::Thread
                && !rules::changes_the_current_thread(self.class.name());
            if self.rewriter.names_locals {
                analysis.unnamed_locals =
                    local_names::unnamed(self.class, &code, signature.argument_slots())?;
            }
            // A method that is not recorded has no nodes, and its id counts nothing.
            let on_entry = if self.recorded { analysis.on_entry_by_id() } else { 0 };
            let shape = Shape { slots, on_entry };
            let mid = self.mid(index, shape);
            match self.write_bodies(index, member, &signature, &code, &analysis, treatment, mid) {
                Ok(positions) => {
                    if let Some(number) = self.number(index) {
                        let id = self.id_of(index, shape);
                        let none =
                            || TracePlan::of(self.class, &self.own, member, &code, number, Recording::None);
                        let plan = analysis.trace.take().unwrap_or_else(none);
                        let mut method =
                            structure::method(self.class, member, id, &code, &plan, &analysis.calls)?;
                        method.makes = structure::makes(&analysis.allocations);
                        self.traced.push(method);
                    }
                    self.report.pinned += pinned.len() as u32;
                    self.pinned.extend(pinned.iter().map(|&(_, clock)| (member.name, clock)));
                    let fallback = match level {
                        Level::AsPlanned => None,
                        Level::DefaultBlocks => Some(Fallback::DefaultBlocks),
                        Level::CallsOnly => Some(Fallback::CallsOnly),
                        Level::CallsWithoutObjects => Some(Fallback::CallsWithoutObjects),
                    };
                    let positions = positions.map_or_else(Packed::default, |positions| positions.pack());
                    return Ok(Bodies { shape, positions, fallback: fallback.filter(|_| self.recorded) });
                }
                Err(e) if matches!(e.kind(), ErrorKind::MethodTooLarge(_) | ErrorKind::JumpTooFar(_)) => {
                    // Markers are left out before counting is.
                    let mut marked = self.beside.as_ref().zip(markers::why_too_large(&e));
                    let left_out = marked.take().map(|(beside, why)| beside.left_out(why));
                    if let Some(rules) = left_out.and_then(|mut all| all.remove(&index)) {
                        return Err(Stopped::Without(LeftOut::from([(index, rules)])));
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
        // The body does not fit in any form: it stays, and what it calls hangs under its caller. Super calls may come by the extended form
        // unless it was planned to redispatch: it must not do so now.
        if treatment == Treatment::Redispatched || self.rewriter.world[self.id].summary.has_host {
            self.redispatch(member)?;
        } else if treatment.has_extended_form() {
            self.forward(member, |emitter, target, head| wrappers::stored_original(emitter, target, head))?;
        }
        Ok(Bodies {
            shape: Shape::default(),
            positions: Packed::default(),
            fallback: Some(Fallback::NotInstrumented),
        })
    }

    /// Writes the bodies; where their bytecodes were, if call sites are told apart.
    #[allow(clippy::too_many_arguments)]
    fn write_bodies(
        &mut self,
        position: usize,
        member: &Member<'a>,
        signature: &Signature<'a>,
        code: &Code<'a>,
        analysis: &Analysis<'_>,
        treatment: Treatment,
        mid: Option<Mid>,
    ) -> cct_classfile::Result<Option<Positions>> {
        let extended = with_extension(member.descriptor);
        let mut positions = self.rewriter.settings.call_sites.then(|| Positions::of(code));
        let original = |this: &mut Self| {
            let head = this.original_head(member);
            body::write(
                &mut this.edit,
                &mut this.constants,
                this.beside.as_mut().map(|beside| Weaving { beside, position }),
                member,
                code,
                analysis,
                Form::Original,
                mid,
                head,
                signature,
                &extended,
            )
        };
        if treatment == Treatment::OriginalOnly {
            let written = original(self)?;
            self.take(position, written, &mut positions);
            return Ok(positions);
        }
        if treatment == Treatment::Redispatched {
            let written = original(self)?;
            self.redispatch(member)?;
            self.take(position, written, &mut positions);
            return Ok(positions);
        }
        let flags = body::extended_flags(self.class.name(), member.access_flags);
        let head = self.extended_head(member, flags)?;
        let extended_body = body::write(
            &mut self.edit,
            &mut self.constants,
            self.beside.as_mut().map(|beside| Weaving { beside, position }),
            member,
            code,
            analysis,
            Form::Extended,
            mid,
            head,
            signature,
            &extended,
        )?;
        if treatment == Treatment::Duplicated {
            let written = original(self)?;
            self.take(position, written, &mut positions);
        } else {
            let head = self.original_head(member);
            let extended_index =
                self.constants.extended_descriptor(member.descriptor_index, &mut self.edit)?;
            let target = Target::of(member, signature, extended_index);
            let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
            // Events come in order, whoever calls.
            let replays = rules::is_called_by_vm(self.class.name(), member) && !analysis.traces;
            let mut tables = DebugTables::of(self.class, signature, code)?;
            if !self.rewriter.names_parameters() {
                tables = tables.without_names();
            }
            let wrapper = wrappers::native_to_bytecode(&mut emitter, &target, replays, &tables, head)?;
            self.edit.replace_method(position, wrapper);
        }
        self.report.dropped_attributes(&extended_body.dropped_attributes);
        self.edit.add_method(extended_body.method_info);
        if let Some(positions) = &mut positions {
            positions.moved(Form::Extended, extended_body.moves);
        }
        Ok(positions)
    }

    fn take(&mut self, position: usize, written: body::Written, positions: &mut Option<Positions>) {
        self.report.dropped_attributes(&written.dropped_attributes);
        self.edit.replace_method(position, written.method_info);
        if let Some(positions) = positions {
            positions.moved(Form::Original, written.moves);
        }
    }

    /// How each invocation of a body calls.
    fn call_targets<'x>(&mut self, code: &Code<'a>) -> Result<Vec<(Bci, CallTarget<'x>)>>
    where
        'a: 'x,
        'r: 'x,
    {
        let rewriter: &'x Rewriter = self.rewriter;
        let mut calls = Vec::new();
        for instruction in code.instructions().filter(|i| opcode::is_invoke(i.opcode)) {
            let target = rewriter.call_target(self.id, self.class, &instruction)?;
            if let CallTarget::Counted(f) | CallTarget::Dispatched(f) = target {
                self.foreign.entry(f.mid()).or_insert_with(|| f.into());
            }
            if target == (CallTarget::Stored { known: false }) {
                self.report.unknown_owner_sites += 1;
            }
            calls.push((instruction.bci, target));
        }
        Ok(calls)
    }

    /// What a body makes, where objects are counted. Slots follow from the code alone, whether it is recorded or not.
    fn allocations(&mut self, code: &Code<'a>) -> Result<Vec<Allocation>> {
        let rewriter = self.rewriter;
        let mut allocations = Vec::new();
        if !rewriter.settings.allocations {
            return Ok(allocations);
        }
        let own_name = rewriter.own_name.as_deref().unwrap_or(self.class.name());
        for instruction in code.instructions() {
            let is_copy = || {
                let target = rewriter.planned_target(self.id, self.class, &instruction)?;
                Ok(matches!(target, CallTarget::Counted(f) if allocation::is_clone(f.class, f.name)))
            };
            if let Some(made) = allocation::of(self.class, own_name, &instruction, is_copy)? {
                for of in made.types().iter().filter(|_| self.recorded) {
                    let record = ForeignRecord::of_type(of);
                    self.foreign.entry(record.mid).or_insert(record);
                }
                allocations.push(Allocation { bci: instruction.bci, made });
            }
        }
        Ok(allocations)
    }

    /// A method's part in values, if contexts are such.
    pub(super) fn part(&self, index: usize, member: &Member<'_>, slots: u8) -> Option<Part> {
        let chosen = self.rewriter.settings.pcc()?;
        let name = self.rewriter.shown_name.as_deref().unwrap_or(self.class.name());
        let mid = self.rewriter.world[self.id].summary.hash.method(index, Shape::of_slots(slots));
        Some(Part::of(chosen, name, member, self.recorded, mid))
    }

    /// What a native makes, where its wrapper counts that.
    pub(super) fn native_makes(&self, member: &Member<'_>) -> Option<NativeMakes> {
        self.rewriter.settings.allocations.then(|| allocation::of_native(self.class.name(), member.name))?
    }
}
