//! Data that the rewriting of all classes shares: the world, the plan, the options.

use cct_classfile::{ClassFile, Instruction, access, opcode};
use cct_index::provenance::Provenance;
use cct_index::record::ClassRecord;
use cct_jdk::convention;
use cct_markers::MarkedClass;

use crate::error::Result;
use crate::markers::{self};
use crate::marks::Marks;
use crate::plan::{CallTarget, Foreign, Plan};
use crate::report::ClassReport;
use crate::survey::ClassSummary;
use crate::tracing::Numbers;
use crate::world::{ClassId, Role, World};
use cct_settings::{Natives, Settings};

/// Decides by a class's internal name whether the class is recorded.
type RecordedFilter = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Rewrites classes; shared by all threads.
pub struct Rewriter {
    pub(super) world: World,
    pub(super) plan: Plan,
    pub(super) settings: Settings,
    /// Methods that the user named.
    pub(super) marks: Marks,
    pub(super) provenance: Provenance,
    /// Selects the recorded classes by internal name.
    pub(super) recorded: RecordedFilter,
    /// Whether locals without a name get one.
    pub(super) names_locals: bool,
    /// For each input, the numbers that name it and its methods in a trace.
    numbers: Vec<Numbers>,
    /// The name of the class in traces and values of contexts, as profiles show it; `None` for its
    /// own name.
    pub(super) shown_name: Option<Box<[u8]>>,
    /// The name that a class uses for itself in the profile; `None` for its own name.
    pub(super) own_name: Option<Box<[u8]>>,
    /// The markers of all classes.
    pub(super) markers: Option<markers::SharedMarkers>,
}

/// A rewritten class.
#[derive(Debug)]
pub struct RewrittenClass {
    /// The new class file; `None` when the class stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// The class's row in the index.
    pub record: Option<ClassRecord>,
    /// The class's static side of a trace, packed, if it is traced.
    pub structure: Option<Vec<u8>>,
    /// The class's part of the completeness report.
    pub report: ClassReport,
    /// The class's markers, and the matched locations that have none.
    pub marked: MarkedClass,
}

impl Rewriter {
    /// A rewriter for the inputs of a world.
    pub fn new(
        world: World,
        settings: Settings,
        provenance: Provenance,
        recorded: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) -> Result<Self> {
        Rewriter::marked(world, settings, Marks::default(), provenance, recorded)
    }

    /// A rewriter for the inputs of a world, with the methods that the user named for recording.
    pub fn marked(
        world: World,
        settings: Settings,
        marks: Marks,
        provenance: Provenance,
        recorded: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) -> Result<Self> {
        let plan = Plan::marked(&world, &settings, &marks)?;
        let names_locals = world
            .class_named(b"java/lang/NullPointerException")
            .is_some_and(|id| tells_of_null_references(&world[id].summary));
        Ok(Rewriter {
            numbers: numbers(&world),
            world,
            plan,
            settings,
            marks,
            provenance,
            recorded: Box::new(recorded),
            names_locals,
            shown_name: None,
            own_name: None,
            markers: None,
        })
    }

    /// Sets whether the `NullPointerException` of the class library [names
    /// locals](tells_of_null_references), for a world that need not contain that class.
    pub fn with_local_names(self, names_locals: bool) -> Self {
        Rewriter { names_locals, ..self }
    }

    /// Sets the numbers of a class that is rewritten while it is loaded; they follow the numbers of
    /// all other classes.
    pub fn with_numbers(mut self, numbers: Numbers) -> Self {
        self.numbers.fill(numbers);
        self
    }

    /// Sets the name under which profiles show the class, if it is a different one.
    pub fn with_shown_name(self, name: &[u8]) -> Self {
        Rewriter { shown_name: Some(name.into()), ..self }
    }

    /// Whether wrappers name their parameters. They do not in a run that rewrites the class
    /// library, which would grow by 3%.
    pub fn names_parameters(&self) -> bool {
        let object = self.world.class_named(convention::OBJECT);
        object.is_none_or(|id| self.world[id].role != Role::Input)
    }

    /// The numbers that name a class and its methods in a trace.
    pub(crate) fn numbers(&self, class: ClassId) -> Numbers {
        self.numbers[class.0 as usize]
    }

    /// Sets the name of the class in the profile, if it is a different one: a generated class's,
    /// without its number.
    pub fn with_own_name(self, name: &[u8]) -> Self {
        Rewriter { own_name: Some(name.into()), ..self }
    }

    /// Adds markers to the counts, by [`Settings::markers`].
    pub fn with_markers(self, markers: markers::SharedMarkers) -> Self {
        Rewriter { markers: Some(markers), ..self }
    }

    /// Removes the markers: for classes that cannot be written with them.
    pub fn without_markers(self) -> Self {
        Rewriter { markers: None, ..self }
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The provenance of the outputs.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The call target of an invocation in `class`, which is `caller` in the world. Callees that
    /// are not recorded are not counted.
    pub fn call_target<'x>(
        &'x self,
        caller: ClassId,
        class: &ClassFile<'x>,
        invocation: &Instruction<'_>,
    ) -> cct_classfile::Result<CallTarget<'x>> {
        Ok(match self.planned_target(caller, class, invocation)? {
            CallTarget::Counted(f) | CallTarget::Dispatched(f) if !(self.recorded)(f.method.class) => {
                CallTarget::Stored { known: true }
            }
            other if self.settings.natives == Natives::None => self.unrepresented(other),
            other => other,
        })
    }

    /// The call target where natives are not represented: nobody counts a native, and its callees
    /// appear below the root.
    fn unrepresented<'x>(&self, target: CallTarget<'x>) -> CallTarget<'x> {
        let is_native = |f: &Foreign<'_>| match self.world.class_named(f.method.class) {
            Some(id) => {
                let class = &self.world[id].summary;
                let method = class.find(f.method.name_and_type()).map(|index| &class.methods[index]);
                method.is_none_or(|method| method.is(access::NATIVE))
            }
            // `Object.<init>` has a body.
            None => f.bytecodes == 0,
        };
        match target {
            CallTarget::Counted(f) if is_native(&f) && f.calls_back => CallTarget::Rooted,
            CallTarget::Counted(f) if is_native(&f) => CallTarget::Stored { known: true },
            CallTarget::Dispatched(_) | CallTarget::Linked | CallTarget::LinkedToHashCode => {
                CallTarget::Stored { known: true }
            }
            other => other,
        }
    }

    /// The call target of an invocation by the plan, whether the callee is recorded or not.
    pub(super) fn planned_target<'x>(
        &'x self,
        caller: ClassId,
        class: &ClassFile<'x>,
        invocation: &Instruction<'_>,
    ) -> cct_classfile::Result<CallTarget<'x>> {
        Ok(match invocation.pool_index() {
            Some(index) if invocation.opcode != opcode::INVOKEDYNAMIC => {
                let callee = class.pool.member_ref(index)?;
                self.plan.call_target(&self.world, caller, invocation.opcode, callee)
            }
            _ => CallTarget::Stored { known: true },
        })
    }
}

/// Whether `NullPointerException` is that of a JVM whose messages name or number locals (JEP 358;
/// JDK 14).
pub fn tells_of_null_references(exception: &ClassSummary) -> bool {
    exception.methods.iter().any(|m| exception.method_name(m) == b"getExtendedNPEMessage")
}

/// The numbers of all inputs, in their order: one for each class and each method.
fn numbers(world: &World) -> Vec<Numbers> {
    let mut next = Numbers { class: 0, first_method: 0 };
    let number = |id| {
        let here = next;
        if world[id].role == Role::Input {
            next.class += 1;
            next.first_method += world[id].summary.methods.len() as u32;
        }
        here
    };
    world.ids().map(number).collect()
}
