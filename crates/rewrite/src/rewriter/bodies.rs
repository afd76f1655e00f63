//! Bodies of a method: as planned, or with reduced instrumentation if the instrumented body would
//! be too large.

use std::rc::Rc;

use cct_classfile::edit::frames::Signature;
use cct_classfile::{Bci, Code, ErrorKind, Instruction, Member, MemberName};
use cct_columns::Column;
use cct_events::structure::Recording;
use cct_index::mid::{Mid, Shape};
use cct_index::positions::{Form, PackedPositions, Positions};
use cct_index::record::ForeignRecord;
use cct_index::treatment::Treatment;
use cct_jdk::allocations::{self, NativeAllocation};
use cct_jdk::convention::EXTENSION;
use cct_jdk::threads;
use cct_jdk::vm_calls;
use cct_markers::LeftOut;
use cct_settings::ContextCarrier;

use super::shared::Rewriter;
use super::state::ClassRewriter;
use crate::allocation::{self, Allocation};
use crate::body::{self, ClassParts, Plans, WrittenBody};
use crate::carrier::{Emitter, Sites};
use crate::error::{Error, Result};
use crate::markers::{self, ClassFailure, Weaver};
use crate::pass::{Level, MethodContext};
use crate::passes::{PASSES, count_by_id};
use crate::pcc::Part;
use crate::pins;
use crate::plan::CallTarget;
use crate::report::Fallback;
use crate::structure;
use crate::wrappers::{self, DebugTables, Target};

/// The written bodies of a method.
#[derive(Default)]
pub(super) struct Bodies {
    /// The part of the method's id besides the hash.
    pub(super) shape: Shape,
    /// The original positions of the bytecodes.
    pub(super) positions: PackedPositions,
    /// The reduction that the size required; `None` for full instrumentation.
    pub(super) fallback: Option<Fallback>,
}

impl<'r, 'c, 'a> ClassRewriter<'r, 'c, 'a> {
    /// Writes the instrumented bodies of a method, at the first level that fits.
    pub(super) fn bodies(
        &mut self,
        index: usize,
        member: &Member<'a>,
        treatment: Treatment,
    ) -> Result<Bodies, ClassFailure> {
        let code = self.code(index, member)?.ok_or_else(|| {
            cct_classfile::Error::new(ErrorKind::Malformed(
                "a method without Code is neither native nor abstract",
            ))
        })?;
        let calls = self.call_targets(&code)?;
        let allocations = self.allocations(&code)?;
        let rewriter = self.rewriter;
        let settings = &rewriter.settings;
        let mut columns: Vec<Column> =
            PASSES.iter().filter_map(|pass| pass.column(settings, &code)).collect();
        // Slots are numbered in the order of the table, which `verify` knows.
        columns.sort_unstable();
        for column in columns.iter().filter(|_| self.recorded) {
            let record = ForeignRecord::of_column(column.name().as_bytes());
            self.foreign.entry(record.mid).or_insert(record);
        }
        let first_column = calls.len() + allocations.iter().map(|a| a.made.slots()).sum::<usize>();
        let places = first_column + columns.len();
        let sites = if settings.call_sites { Sites::Apart(places) } else { Sites::Merged(places) };
        let own = Rc::clone(&self.own);
        let signature = Signature::of(self.class, member)?;
        let (named, marks) = (member.of_class(self.class.name()), &rewriter.marks);
        let method = MethodContext {
            class: self.class,
            own: &own,
            member,
            position: index,
            code: &code,
            signature: &signature,
            extended_descriptor: &signature.descriptor.with_parameters(EXTENSION),
            settings,
            recorded: self.recorded,
            calls: &calls,
            allocations: &allocations,
            columns: &columns,
            first_column,
            sites,
            number: self.number(index),
            part: self.part(index, member, sites.slots()),
            pinned: if settings.reproducible {
                pins::reads(self.class, member.name, &code)?
            } else {
                Vec::new()
            },
            names_locals: rewriter.names_locals,
            marker_tokens: self.beside.as_mut().and_then(|beside| beside.locals(index)),
            is_extent: !marks.extents_of(named).is_empty(),
            is_start: !marks.starts_of(named).is_empty(),
            entry_is_target: MethodContext::entry_is_target(&code),
            holds_thread: settings.context == ContextCarrier::Thread
                && !threads::changes_the_current_thread(named.class),
        };
        for level in Level::all(settings, !allocations.is_empty() || !columns.is_empty()) {
            match self.bodies_at(&method, &level, treatment) {
                Ok(bodies) => return Ok(bodies),
                Err(ClassFailure::Failed(Error::Class(e))) if is_too_large(&e) => {
                    // Omit markers before counts.
                    let mut marked = self.beside.as_ref().zip(markers::why_too_large(&e));
                    let left_out = marked.take().map(|(beside, why)| beside.left_out(why));
                    if let Some(rules) = left_out.and_then(|mut all| all.remove(&index)) {
                        return Err(ClassFailure::Without(LeftOut::from([(index, rules)])));
                    }
                }
                Err(e) => return Err(e),
            }
        }
        // The body does not fit at any level: it stays, and its callees appear under its caller.
        // Super calls may use the extended form unless it was planned to redispatch, so it must not
        // redispatch here.
        if treatment == Treatment::Redispatched || rewriter.world[self.id].summary.has_host {
            self.redispatch(member)?;
        } else if treatment.has_extended_form() {
            self.forward(member, |emitter, target, head| wrappers::stored_original(emitter, target, head))?;
        }
        Ok(Bodies { fallback: Some(Fallback::NotInstrumented), ..Bodies::default() })
    }

    /// Writes the bodies at one level of instrumentation.
    fn bodies_at(
        &mut self,
        method: &MethodContext<'_, 'a>,
        level: &Level,
        treatment: Treatment,
    ) -> Result<Bodies, ClassFailure> {
        let plans = Plans::of(method, level)?;
        // A method that is not recorded has no nodes, and its id counts nothing.
        let shape = Shape { slots: method.sites.slots(), on_entry: count_by_id(plans.entry().count) };
        let mid = self.mid(method.position, shape);
        let positions = self.write_bodies(method, &plans, treatment, mid)?;
        if method.number.is_some() {
            let id = self.id_of(method.position, shape);
            let mut description = structure::head(method.member, id, Recording::None);
            plans.describe(&mut description)?;
            self.traced.push(description);
        }
        self.report.pinned += method.pinned.len() as u32;
        let name = self.class.methods[method.position].name;
        self.pinned.extend(method.pinned.iter().map(|&(_, clock)| (name, clock)));
        Ok(Bodies {
            shape,
            positions: positions.map_or_else(PackedPositions::default, |positions| positions.pack()),
            fallback: level.fallback.filter(|_| self.recorded),
        })
    }

    /// Writes the bodies. Returns the original positions of their bytecodes if call sites are kept
    /// separate.
    fn write_bodies(
        &mut self,
        method: &MethodContext<'_, 'a>,
        plans: &Plans<'_>,
        treatment: Treatment,
        mid: Option<Mid>,
    ) -> Result<Option<Positions>, ClassFailure> {
        let MethodContext { member, position, code, .. } = *method;
        let mut positions = method.settings.call_sites.then(|| Positions::of(code));
        if treatment == Treatment::OriginalOnly {
            let written = self.body(method, plans, Form::Original, mid)?;
            self.take(position, written, &mut positions);
            return Ok(positions);
        }
        if treatment == Treatment::Redispatched {
            let written = self.body(method, plans, Form::Original, mid)?;
            self.redispatch(member)?;
            self.take(position, written, &mut positions);
            return Ok(positions);
        }
        let extended_body = self.body(method, plans, Form::Extended, mid)?;
        if treatment == Treatment::Duplicated {
            let written = self.body(method, plans, Form::Original, mid)?;
            self.take(position, written, &mut positions);
        } else {
            self.wrap(method)?;
        }
        self.report.dropped_attributes(&extended_body.dropped_attributes);
        self.edit.add_method(extended_body.method_info);
        if let Some(positions) = &mut positions {
            positions.moved(Form::Extended, extended_body.moves);
        }
        Ok(positions)
    }

    /// Writes one body.
    fn body(
        &mut self,
        method: &MethodContext<'_, 'a>,
        plans: &Plans<'_>,
        form: Form,
        mid: Option<Mid>,
    ) -> cct_classfile::Result<WrittenBody> {
        let head = match form {
            Form::Original => self.original_head(method.member),
            Form::Extended => {
                let flags = body::extended_flags(self.class.name(), method.member.access_flags);
                self.extended_head(method.member, flags)?
            }
        };
        let class = ClassParts {
            edit: &mut self.edit,
            constants: &mut self.constants,
            markers: self.beside.as_mut().map(|beside| beside as &mut dyn Weaver),
        };
        body::write(class, method, plans, form, mid, head)
    }

    /// Replaces the original by a wrapper that calls the extended form.
    fn wrap(&mut self, method: &MethodContext<'_, 'a>) -> cct_classfile::Result<()> {
        let MethodContext { member, signature, code, .. } = *method;
        let head = self.original_head(member);
        let extended_index = self.constants.extended_descriptor(member.descriptor_index, &mut self.edit)?;
        let target = Target::of(member, signature, extended_index);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        // A trace needs no replay: its events come in order, even if the VM calls.
        let replays = vm_calls::is_called_by_vm(self.class.name(), member) && method.number.is_none();
        let tables = if self.rewriter.names_parameters() {
            DebugTables::of(self.class, signature, code)?
        } else {
            DebugTables::without_names(code)?
        };
        let wrapper = wrappers::native_to_bytecode(&mut emitter, &target, replays, &tables, head)?;
        self.edit.replace_method(method.position, wrapper);
        Ok(())
    }

    fn take(&mut self, position: usize, written: WrittenBody, positions: &mut Option<Positions>) {
        self.report.dropped_attributes(&written.dropped_attributes);
        self.edit.replace_method(position, written.method_info);
        if let Some(positions) = positions {
            positions.moved(Form::Original, written.moves);
        }
    }

    /// The call target of each invocation in a body.
    fn call_targets(&mut self, code: &Code<'a>) -> Result<Vec<(Bci, CallTarget<'c>)>> {
        let mut calls = Vec::with_capacity(code.invocations.len());
        for instruction in code.invocations() {
            let target = self.call_target(&instruction)?;
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

    /// The call target of an invocation. A class calls by one constant from many places.
    fn call_target(&mut self, invocation: &Instruction<'_>) -> Result<CallTarget<'c>> {
        let place = usize::from(invocation.pool_index().unwrap_or_default());
        if let Some(&Some((opcode, target))) = self.targets.get(place)
            && opcode == invocation.opcode
        {
            return Ok(target);
        }
        let rewriter: &'r Rewriter = self.rewriter;
        let target = rewriter.call_target(self.id, self.class, invocation)?;
        if self.targets.is_empty() {
            self.targets.resize(usize::from(self.class.pool.count()), None);
        }
        if let Some(known) = self.targets.get_mut(place) {
            *known = Some((invocation.opcode, target));
        }
        Ok(target)
    }

    /// The allocations in a body, if objects are counted. Slots follow from the code alone, whether
    /// the method is recorded or not.
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
                Ok(matches!(target, CallTarget::Counted(f) if allocation::is_clone(f.method.member_name())))
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

    /// A method's part in values, if values represent contexts.
    pub(super) fn part(&self, index: usize, member: &Member<'_>, slots: u8) -> Option<Part> {
        let chosen = self.rewriter.settings.pcc()?;
        let name = self.rewriter.shown_name.as_deref().unwrap_or(self.class.name());
        let mid = self.rewriter.world[self.id].summary.hash.method(index, Shape::of_slots(slots));
        Some(Part::of(chosen, name, member, self.recorded, mid))
    }

    /// The objects that a native allocates, if its wrapper counts them.
    pub(super) fn native_makes(&self, member: &Member<'_>) -> Option<NativeAllocation> {
        let native = MemberName::new(self.class.name(), member.name);
        self.rewriter.settings.allocations.then(|| allocations::of_native(native))?
    }
}

/// Whether a body does not fit while a smaller one may.
fn is_too_large(error: &cct_classfile::Error) -> bool {
    matches!(error.kind(), ErrorKind::MethodTooLarge(_) | ErrorKind::JumpTooFar(_))
}
