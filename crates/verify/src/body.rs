//! The check of one body: the original code under one of the two signatures, with probes.

use std::collections::BTreeMap;

use cct_classfile::{Bci, ClassFile, Code, Instruction, Member};
use cct_jdk::convention::SLOTS_OFFSET;
use cct_jdk::threads::changes_the_current_thread;
use cct_tables::CostModel;

use crate::align::alignment::{Alignment, AppendedHandler};
use crate::align::{Pair, align};
use crate::allocations;
use crate::columns;
use crate::convention::counting_id;
use crate::counts;
use crate::expectation::{Expectation, Tool};
use crate::faults::{CountFault, HandlerFault, MethodPart, OwnAttributeFault, ProbeFault};
use crate::fields::Fields;
use crate::finding::{Check, Finding, Problem};
use crate::frames;
use crate::handlers::Handlers;
use crate::limits::{self, MethodCode};
use crate::links::CountedCallee;
use crate::marked::{BareBody, Marker, MarkerHelper};
use crate::positions::Positions;
use crate::probe::{Carries, Locals, Reader};
use crate::prologue::{Prologue, prologues};
use crate::rule::Rule;
use crate::sites::Sites;
use crate::tables::Tables;
use crate::traces::{Level, Plan};
use crate::values::Part;

/// A method before and after rewriting.
pub struct Method<'m, 'a> {
    /// The original class.
    pub before: &'m ClassFile<'a>,
    /// The rewritten one.
    pub after: &'m ClassFile<'a>,
    /// Hash of the original class file.
    pub hash: u64,
    /// The method's number.
    pub number: usize,
    /// The original method.
    pub original: &'m Member<'a>,
    /// The method's original code.
    pub code: &'m Code<'a>,
    /// The known facts about the rewriting of the class.
    pub expectation: Expectation,
    /// The class's own fields.
    pub fields: &'m Fields<'a>,
    /// The attribute's record of the original positions of bytecodes.
    pub packed_positions: &'a [u8],
    /// The number of the class's first method in a trace, if it is recorded in one.
    pub first_method: Option<u32>,
    /// The class's markers, if it has some.
    pub(crate) markers: &'m [Marker<'a>],
    /// The numbers of the method's own markers.
    pub own: &'m [usize],
}

/// Results of the check of a correct body.
#[derive(Debug, Default)]
pub struct Body {
    /// Whether it is recorded; `None` if nothing in it shows that.
    pub is_recorded: Option<bool>,
    /// Number of its node's slots.
    pub slots: usize,
    /// Number of bytecodes that an entry counts by the method's id.
    pub on_entry: u8,
    /// The contradiction to each rule ([`Rule::ALL`]), if there is one.
    pub counts: Vec<Option<Finding>>,
    /// Number of removed probes that change counts.
    pub probes: u64,
    /// Whether there are too many handlers to follow: nothing is known of the counts then.
    pub is_unfollowed: bool,
    /// Number of replaced results of clocks.
    pub pinned: u32,
    /// The first result of a clock that is not replaced although it may have to be.
    pub unpinned: Option<Bci>,
    /// Number of calls of the runtime.
    pub hooks: u32,
    /// Callees that their callers count.
    pub counted: Vec<CountedCallee>,
    /// The amount of its events, if they are recorded.
    pub level: Option<Level>,
    /// Call sites with events of their callees, each with whether they are written only if the
    /// callee is the one that the site names.
    pub telling: Vec<(Bci, bool)>,
    /// Attributes of the code that the rewriter omitted.
    pub dropped: Vec<String>,
    /// Number of pieces of code that notify clients of markers.
    pub pieces: u64,
    /// The helpers of markers that it calls, each for one of them.
    pub(crate) called: BTreeMap<MarkerHelper, u16>,
}

/// A body to be checked, beside the instructions of the original.
struct Candidate<'m, 'a> {
    method: &'m Member<'a>,
    code: &'m Code<'a>,
    reader: Reader<'m, 'a>,
    /// Whether it has the extended signature.
    is_extended: bool,
    /// Slots of the original's arguments.
    arguments: u16,
    originals: Vec<Instruction<'a>>,
}

/// The code of a method that must have code.
pub(crate) fn rewritten_code<'a>(class: &ClassFile<'a>, method: &Member<'a>) -> Check<Code<'a>> {
    match Code::of(class, method) {
        Ok(Some(code)) => Ok(code),
        Ok(None) => Err(Finding::of(Problem::Missing)),
        Err(e) => Err(Finding::of(Problem::Unreadable { which: "rewritten", why: e.to_string() })),
    }
}

/// Slots of a method's arguments, at most 255 (JVMS 4.3.3).
pub(crate) fn argument_slots(class: &ClassFile<'_>, method: &Member<'_>) -> Check<u16> {
    let slots = limits::argument_slots(class, method).filter(|slots| *slots <= 255);
    slots.ok_or_else(|| Finding::of(Problem::Head(MethodPart::Descriptors)))
}

impl<'a> Method<'_, 'a> {
    /// Checks a body. `is_extended` is whether it has the extended signature.
    pub fn body(&self, rewritten: &Member<'a>, is_extended: bool) -> Check<Body> {
        let code = rewritten_code(self.after, rewritten)?;
        let candidate = Candidate {
            method: rewritten,
            is_extended,
            arguments: argument_slots(self.before, self.original)?,
            reader: Reader::new(self.after, &code),
            code: &code,
            originals: self.code.instructions().collect(),
        };
        let mut first = None;
        let (arguments, locals) = (candidate.arguments, self.code.max_locals);
        for level in self.levels() {
            let plan = level.map(|level| self.events(&candidate.originals, level));
            for prologue in prologues(&candidate.reader, is_extended, arguments, locals, plan.as_ref()) {
                match self.under(prologue, plan.as_ref(), &candidate) {
                    Ok(body) => {
                        let level = level.filter(|_| body.is_recorded == Some(true));
                        return Ok(Body { level, ..body });
                    }
                    Err(finding) => first = Some(first.unwrap_or(finding)),
                }
            }
        }
        Err(first.unwrap_or_else(|| Finding::at(Problem::Prologue, None, 0)))
    }

    /// The amounts of events that the body may have, if events are recorded: all of them, or fewer
    /// if it is large.
    fn levels(&self) -> impl Iterator<Item = Option<Level>> {
        let is_large = self.first_method.is_some() && self.code.length() >= MAY_OUTGROW;
        let count = match (self.expectation.tool, is_large) {
            (Some(Tool::Trace), true) => Level::ALL.len(),
            (Some(Tool::Trace), false) => 1,
            _ => 0,
        };
        let none = (count == 0).then_some(None);
        Level::ALL.into_iter().take(count).map(Some).chain(none)
    }

    /// The body's events.
    fn events(&self, originals: &[Instruction<'a>], level: Level) -> Plan {
        let number = self.first_method.and_then(|first| first.checked_add(self.number as u32));
        let objects = self.expectation.allocations == Some(true);
        Plan::of(self.before, self.fields, self.original, self.code, originals, number, level, objects)
    }

    /// Checks the attribute's record of the original positions of instructions.
    fn positions(&self, aligned: &Alignment<'a>, is_extended: bool) -> Check {
        let mut positions = Positions::of(self.packed_positions);
        let mut originals: Vec<_> = aligned.originals.iter().map(|i| i.bci).collect();
        let mut places = aligned.places.clone();
        // Include the end, to check the length of the last instruction too.
        originals.push(self.code.length());
        places.extend(aligned.labels.last());
        let is_right = positions.has_lines_of(self.code)
            && (is_extended || positions.skip_body())
            && positions.body_leads(&places, &originals)
            && (!is_extended || positions.skip_body())
            && positions.is_over();
        if is_right { Ok(()) } else { Err(Finding::of(Problem::OwnAttribute(OwnAttributeFault::Positions))) }
    }

    /// Whether a body with this prologue is recorded, if the prologue shows that. A recorded body
    /// must use its own id.
    fn is_recorded(
        &self,
        prologue: &Prologue,
        part: Option<&Part<'_>>,
        slots: usize,
        calls: usize,
    ) -> Check<Option<bool>> {
        let wrong = |what| Finding::at(Problem::Probe(what), None, 0);
        let Prologue { entered, recorded_at, locals, .. } = prologue;
        let id = entered.map(|(id, _)| id).or(*recorded_at);
        let on_entry = prologue.counted_by_id();
        if id.is_some_and(|id| id != counting_id(self.hash, self.number, slots, on_entry)) {
            return Err(wrong(ProbeFault::EntersOther));
        }
        match part {
            Some(_) if locals.has_node() => Err(wrong(ProbeFault::MakesNode)),
            Some(part) => part.is_recorded(prologue, calls).map_err(wrong),
            None if recorded_at.is_some() || locals.carries == Carries::Value => {
                Err(wrong(ProbeFault::MakesValues))
            }
            None => Ok(Some(locals.has_node())),
        }
    }

    /// Checks a body with this prologue.
    fn under(
        &self,
        mut prologue: Prologue,
        events: Option<&Plan>,
        candidate: &Candidate<'_, 'a>,
    ) -> Check<Body> {
        let Candidate { reader, originals, is_extended, .. } = candidate;
        let Method { before, after, original, markers, own, .. } = *self;
        let instructions = || originals.iter().copied();
        let are_apart = self.expectation.call_sites == Some(true);
        let counts_objects = self.expectation.allocations == Some(true);
        let calls = instructions().filter(|i| cct_classfile::opcode::is_invoke(i.opcode)).count();
        let places = if counts_objects { allocations::places(before, instructions()) } else { 0 };
        let columns = columns::of_code(self.expectation.columns(), instructions());
        let sites = Sites { count: calls + places + columns.len(), are_apart };
        let slots = sites.slots();
        let values = self.expectation.chosen();
        let values = values.map(|chosen| Part::of(chosen, original.of_class(before.name())));
        let is_recorded = match events {
            Some(plan) => Some(plan.method.is_some()),
            None => self.is_recorded(&prologue, values.as_ref(), slots, calls)?,
        };
        let erased = BareBody::of(before, after, original, self.code, markers, own);
        if !own.is_empty() {
            let tokens = erased.tokens(&prologue.locals, reader)?;
            let by = prologue.locals.by.saturating_add(tokens);
            prologue.locals = Locals { by, tokens, ..prologue.locals };
        }
        let locals = prologue.locals;
        let offset = if locals.has_node() { SLOTS_OFFSET.into() } else { 0 };
        let pieces = erased.pieces(&locals, reader, (locals.node, offset));
        let (on_entry, recorded_at) = (prologue.counted_by_id(), prologue.recorded_at.is_some());
        let entered = i32::from(on_entry) + prologue.entered.map_or(0, |(_, n)| n);
        let pair = Pair {
            class: before,
            method: original.name_and_type(),
            code: reader,
            prologue,
            expectation: &self.expectation,
            sites,
            holds_thread: self
                .expectation
                .by_thread
                .map(|by_thread| by_thread && !is_extended && !changes_the_current_thread(before.name())),
            return_cost: self.expectation.cost_model.map_or(1, CostModel::bare_return),
            calls,
            counts_objects,
            columns: &columns,
            first_column: calls + places,
            events,
            values,
            told: (!own.is_empty()).then(|| erased.told(&pieces)),
        };
        let (aligned, told) = align(pair, originals.clone())?;
        let pieces = told.as_ref().map_or(0, |told| told.count);
        let called = match &told {
            Some(told) => erased.check(&told.walked, &aligned, &locals)?,
            None => BTreeMap::new(),
        };
        self.leaves_nothing_out(&aligned)?;
        if are_apart {
            self.positions(&aligned, *is_extended)?;
        }
        let ends = events.is_some_and(|plan| plan.method.is_some());
        let BodyResults { counts, is_unfollowed, dropped } =
            self.around(&aligned, candidate, Additions { locals, entered, ends, erased: &erased })?;
        let Alignment { effects, pinned, unpinned, hooks, counted, recorded, telling, .. } = aligned;
        let probes = effects.len() as u64 + recorded + u64::from(recorded_at);
        let facts = Body { is_recorded, slots, on_entry, counts, is_unfollowed, probes, ..Body::default() };
        Ok(Body { pinned, unpinned, hooks, counted, telling, dropped, pieces, called, ..facts })
    }

    /// Checks that a body counts all allocations and columns, unless it is so large that it may
    /// count none.
    fn leaves_nothing_out(&self, aligned: &Alignment<'a>) -> Check {
        let may_outgrow = self.code.length() >= MAY_OUTGROW;
        let Alignment { objects, columns, .. } = aligned;
        if let Some(bci) = objects.unmade
            && (objects.made > 0 || !may_outgrow)
        {
            return Err(Finding::at(Problem::Probe(ProbeFault::NoAllocation), bci, 0));
        }
        if let Some(bci) = columns.missed
            && (columns.counted > 0 || !may_outgrow)
        {
            return Err(Finding::at(Problem::Probe(ProbeFault::NoColumn), bci, 0));
        }
        Ok(())
    }

    /// Checks what follows from all probes of a body: its tables, frames, limits, and counts.
    fn around(
        &self,
        aligned: &Alignment<'a>,
        candidate: &Candidate<'_, 'a>,
        added: Additions<'_, '_, 'a>,
    ) -> Check<BodyResults> {
        let Candidate { method: rewritten, code, .. } = *candidate;
        let Additions { locals, entered, .. } = added;
        let tables = Tables {
            before: self.before,
            after: self.after,
            original: self.code,
            rewritten: code,
            aligned,
            locals,
        };
        let ways_out = tables.ways_out(&tables.exception_table()?);
        let dropped = tables.attributes()?;
        frames::check(&tables, self.original, rewritten)?;
        limits::check(
            MethodCode { class: self.before, method: self.original, code: self.code },
            MethodCode { class: self.after, method: rewritten, code },
        )?;
        let model = self.expectation.cost_model;
        let (pool, size) = (&self.before.pool, self.code.length());
        let cost = |i: &Instruction<'_>| model.map_or(1, |model| model.of(i, pool, size));
        let costs: Vec<u32> = aligned.originals.iter().map(cost).collect();
        let handlers = Handlers::of(self.code, &aligned.originals);
        let is_unfollowed = handlers.is_none();
        let body = counts::Body {
            class: self.before,
            fields: self.fields,
            method: self.original,
            code: self.code,
            handlers: &handlers.unwrap_or_default(),
            aligned,
            costs: &costs,
            block_ends: self.expectation.block_ends,
            entry_cost: model.map_or(0, |model| model.entry(size)),
            on_entry: entered,
            ways_out: &ways_out,
        };
        // Without the handlers, all instructions count as reached.
        let reached = || if is_unfollowed { vec![true; ways_out.len()] } else { body.reached() };
        self.handles_exceptions(&tables, &ways_out, reached, added)?;
        let is_counted = locals.has_node() && !is_unfollowed;
        let counts = if is_counted { self.contradictions(&body) } else { Vec::new() };
        Ok(BodyResults { counts, is_unfollowed, dropped })
    }

    /// Checks that handlers restore contexts, and record or notify ends, wherever an exception may
    /// leave the method.
    fn handles_exceptions(
        &self,
        tables: &Tables<'_, 'a>,
        ways_out: &[Option<AppendedHandler>],
        reached: impl FnOnce() -> Vec<bool>,
        added: Additions<'_, '_, 'a>,
    ) -> Check {
        let name = self.original.name;
        let Additions { locals, ends, erased, .. } = added;
        if locals.thread.is_some() || ends {
            let reached = reached();
            if locals.thread.is_some() {
                let otherwise = HandlerFault::Context;
                tables.deals_with_exceptions(name, ways_out, &reached, |way| way.restores, otherwise)?;
            }
            if ends {
                let otherwise = HandlerFault::Event;
                tables.deals_with_exceptions(name, ways_out, &reached, |way| way.ends, otherwise)?;
            }
        }
        if locals.tokens > 0
            && let Some(reached) = erased.must_tell(&tables.aligned.originals)
        {
            let otherwise = HandlerFault::Region;
            tables.deals_with_exceptions(name, ways_out, &reached, |way| way.tells, otherwise)?;
        }
        Ok(())
    }

    /// The contradiction of a body to each rule. Other rules matter only if the body does not
    /// follow the requested one.
    fn contradictions(&self, body: &counts::Body<'_, 'a>) -> Vec<Option<Finding>> {
        let contradiction = |rule: Rule| body.follows(rule).err();
        let Some(requested) = self.expectation.rule else { return Rule::ALL.map(contradiction).into() };
        let found = contradiction(requested);
        let of_rule = |rule: Rule| match &found {
            _ if rule == requested => found.clone(),
            None => Some(Finding::of(Problem::Count(CountFault::OtherRule))),
            Some(_) => contradiction(rule),
        };
        Rule::ALL.map(of_rule).into()
    }
}

/// What rewriting added to a body.
#[derive(Clone, Copy)]
struct Additions<'e, 'm, 'a> {
    /// The added locals.
    locals: Locals,
    /// The bytecodes that an entry counts.
    entered: i32,
    /// Whether its ends are recorded as events.
    ends: bool,
    /// The method's markers.
    erased: &'e BareBody<'m, 'a>,
}

/// What follows from all probes of a body.
struct BodyResults {
    counts: Vec<Option<Finding>>,
    is_unfollowed: bool,
    dropped: Vec<String>,
}

/// Methods with fewer bytes cannot exceed the size limit of methods, and so follow the requested
/// rule.
pub(crate) const MAY_OUTGROW: u32 = 4096;
