//! What is found out about a method before its bodies are written, which share it.

use cct_classfile::{Bci, ClassFile, Code, Error, ErrorKind, Member, Result, opcode};
use cct_flow::{
    ActivationPlan, ActivationPlanner, BlockRule, Blocks, CountPlan, CountPlanner, OwnMembers, initialisation,
};
use cct_index::mid::MAX_ON_ENTRY;
use cct_tables::CostModel;

use crate::allocation::Allocation;
use crate::carrier::Sites;
use crate::hooks::{self, BodyHook};
use crate::pcc::Part;
use crate::pins::Clock;
use crate::plan::CallTarget;
use crate::tracing::TracePlan;

/// How a method's bytecodes are counted.
#[derive(Debug)]
pub enum Counts {
    /// They are not.
    None,
    /// Block by block, each at its start.
    Blocks(Blocks),
    /// Exactly, with few updates.
    Exact(CountPlan),
}

/// What makes analyses; it keeps its memory from method to method.
#[derive(Debug, Default)]
pub struct Planners {
    activation: ActivationPlanner,
    counts: CountPlanner,
}

/// Analyses of a method that its bodies share.
#[derive(Debug)]
pub struct Analysis<'x> {
    /// How bytecodes are counted.
    pub counts: Counts,
    /// What it costs to enter the method, beside its bytecodes.
    pub entry_cost: u32,
    /// What a callee costs that does nothing but return.
    pub return_cost: u32,
    /// Updates of the activation counter, if there are such counters.
    pub activation: Option<ActivationPlan>,
    /// How each call site calls, in code order.
    pub calls: Vec<(Bci, CallTarget<'x>)>,
    /// How these share the slots of a node.
    pub sites: Sites,
    /// What makes objects, if these are counted, in code order.
    pub allocations: Vec<Allocation>,
    /// Calls whose results are replaced.
    pub pinned: Vec<(Bci, Clock)>,
    /// Whether some jump or handler leads to bci 0.
    pub entry_is_target: bool,
    /// Locals behind the arguments that get names, since the JVM's messages would show their new numbers.
    pub unnamed_locals: Vec<u16>,
    /// Calls of the runtime at places of the class library.
    pub hooks: Vec<&'static BodyHook>,
    /// Whether recording begins and ends with its body under the original signature.
    pub is_extent: bool,
    /// Whether everything is recorded from its first entry on.
    pub is_start: bool,
    /// What is traced, if that is what is done, and it is recorded.
    pub trace: Option<TracePlan>,
    /// Whether events are recorded at all, in the place of counts.
    pub traces: bool,
    /// Whether objects and monitors have events too.
    pub traces_objects: bool,
    /// Whether a body that takes its context from the thread holds on to that thread.
    pub holds_thread: bool,
    /// The method's part in values, if contexts are such.
    pub values: Option<Part>,
}

impl<'x> Analysis<'x> {
    /// Analyses a method of a class, which has these members of its own. `rule` is `None` where bytecodes are not counted; they count what they cost by
    /// `model`, if there is one; `activation` is whether there are activation counters.
    #[allow(clippy::too_many_arguments)]
    pub fn of(
        class: &ClassFile<'_>,
        own: &OwnMembers,
        member: &Member<'_>,
        code: &Code<'_>,
        planners: &mut Planners,
        rule: Option<BlockRule>,
        model: Option<&CostModel>,
        activation: bool,
        calls: Vec<(Bci, CallTarget<'x>)>,
        pinned: Vec<(Bci, Clock)>,
    ) -> Result<Self> {
        let too_many = |_| Error::new(ErrorKind::TooMany("exception edges to analyse the method"));
        let activation = match activation {
            true => Some(planners.activation.plan(code, &class.pool).map_err(too_many)?),
            false => None,
        };
        let entry_is_target = code.targets.contains(0) || code.handlers.iter().any(|h| h.handler == 0);
        let planner = &mut planners.counts;
        let counts = match rule {
            None => Counts::None,
            Some(BlockRule::Exact) => {
                match exact_plan(class, own, member, code, activation.as_ref(), model, planner) {
                    Some(plan) => Counts::Exact(plan),
                    // The same numbers, with more updates.
                    None => Counts::Blocks(self::blocks(code, &class.pool, BlockRule::Precise, model)),
                }
            }
            Some(rule) => Counts::Blocks(self::blocks(code, &class.pool, rule, model)),
        };
        Ok(Analysis {
            counts,
            entry_cost: model.map_or(0, |model| model.entry(code.length())),
            return_cost: model.map_or(1, CostModel::bare_return),
            activation,
            sites: Sites::Merged(calls.len()),
            calls,
            allocations: Vec::new(),
            pinned,
            entry_is_target,
            unnamed_locals: Vec::new(),
            hooks: Vec::new(),
            is_extent: false,
            is_start: false,
            trace: None,
            traces: false,
            traces_objects: false,
            holds_thread: false,
            values: None,
        })
    }

    /// What entering the method counts.
    pub(super) fn on_entry(&self) -> u32 {
        match &self.counts {
            Counts::Blocks(blocks) if !self.entry_is_target => blocks[0].cost + self.entry_cost,
            Counts::Exact(plan) => plan.entry,
            Counts::Blocks(_) => self.entry_cost,
            Counts::None => 0,
        }
    }

    /// As much of it as the method's id says, so that the node need not be told each time: all or, where it is too much for an id, nothing. Events and values count nothing.
    pub fn on_entry_by_id(&self) -> u8 {
        let is_counted = !self.traces && self.values.is_none();
        let all = u8::try_from(self.on_entry()).ok().filter(|all| *all <= MAX_ON_ENTRY);
        all.filter(|_| is_counted).unwrap_or(0)
    }
}

/// The plan for counting a method exactly, by a model if there is one; `None` if it is counted block by block. Where the activation counter is tested the agent looks.
pub fn exact_plan(
    class: &ClassFile<'_>,
    own: &OwnMembers,
    member: &Member<'_>,
    code: &Code<'_>,
    activation: Option<&ActivationPlan>,
    model: Option<&CostModel>,
    planner: &mut CountPlanner,
) -> Option<CountPlan> {
    // The first point is the entry's, where nothing is pending.
    let points = activation.map_or(&[][..], |activation| &activation.points[1..]);
    let observed: Vec<Bci> = points.iter().filter(|point| point.test).map(|point| point.bci).collect();
    let plan = planner.plan(class, own, member, code, &observed, model)?;
    // A handler's frame says whether `this` is initialised, which must be known.
    let has_frames = plan.guarded.is_empty()
        || member.name != b"<init>"
        || class.super_class == 0
        || !initialisation::regions(code, &class.pool).is_empty();
    has_frames.then_some(plan)
}

/// The blocks of a method by a rule, with what they cost by a model. What comes behind a switch of the recording is counted behind it, by whatever rule.
pub fn blocks(
    code: &Code<'_>,
    pool: &cct_classfile::ConstantPool<'_>,
    rule: BlockRule,
    model: Option<&CostModel>,
) -> Blocks {
    let mut blocks = Blocks::of(code, pool, rule);
    for call in code.instructions().filter(|i| i.opcode == opcode::INVOKESTATIC) {
        let callee = call.pool_index().and_then(|index| pool.member_ref(index).ok());
        if callee.is_some_and(|c| hooks::switch(c.class, c.name, c.descriptor).is_some()) {
            blocks.cut(code, call.end());
        }
    }
    if let Some(model) = model {
        blocks.weigh(code, pool, model);
    }
    blocks
}
