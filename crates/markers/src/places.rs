//! The locations in a class that rules match.

use cct_classfile::attributes::AttributeInfo;
use cct_classfile::attributes::debug::LineNumber;
use cct_classfile::{
    Attributes, Bci, ClassFile, Code, Instruction, Member, MemberName, NameAndType, Result, access, opcode,
};
use cct_flow::initialisation::{self, Region};
use cct_flow::{BlockId, Blocks, DepthFirst, Dominators, Graph, Loops};
use cct_tables::BlockRule;
use xxhash_rust::xxh3::xxh3_64;

use crate::initialised_objects;
use crate::patterns;
use crate::rules::{At, Callers, Rule, Rules};
use crate::world::World;

/// A location that a rule matched.
#[derive(Debug, Clone)]
pub struct MatchedPlace {
    /// The rule's position among all rules.
    pub rule: usize,
    /// The bytecode index.
    pub bci: Bci,
    /// The kind of location.
    pub spot: Spot,
    /// The callee, field or type.
    pub detail: Vec<u8>,
}

/// The kind of a location, with the facts that the insertion needs. Exits are reported at the
/// locations to which control may leave a region. Control may also arrive there from elsewhere, but
/// then no region was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// A method.
    Method,
    /// A loop.
    Loop {
        /// The locations to which control may leave it: normally, or by an exception that the
        /// method catches.
        exits: Vec<Bci>,
        /// Number of loops that contain it, itself included; `None` if control may enter loops in
        /// their middle.
        depth: Option<u16>,
    },
    /// A loop's head.
    LoopHeader,
    /// A basic block.
    Block {
        /// The locations to which control may leave it.
        exits: Vec<Bci>,
    },
    /// A line.
    Line,
    /// An exception handler.
    Handler,
    /// An invocation.
    Call {
        /// The handlers of its exceptions.
        exits: Vec<Bci>,
    },
    /// An allocation.
    Allocation {
        /// The instruction after which the object is on top of the stack.
        made_by: Option<Bci>,
    },
    /// `getfield` or `getstatic`.
    FieldRead,
    /// `putfield` or `putstatic`.
    FieldWrite,
}

/// A matched location that cannot be marked, or not as its rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule's position.
    pub rule: usize,
    /// The method.
    pub method: String,
    /// The reason.
    pub why: &'static str,
}

/// The facts about a method's code that all its rules share.
pub(crate) struct Shape<'a> {
    pub(crate) code: Code<'a>,
    lines: Vec<LineNumber>,
    /// The regions of a constructor.
    pub(crate) regions: Option<Vec<Region>>,
    has_subroutines: bool,
    flow: Option<Flow>,
}

/// The control flow of a method.
struct Flow {
    reached: Vec<bool>,
    blocks: Blocks,
    graph: Graph,
    loops: Loops,
}

impl<'a> Shape<'a> {
    pub(crate) fn of(class: &ClassFile<'a>, member: &Member<'a>, code: Code<'a>) -> Self {
        let mut lines = Vec::new();
        for attribute in code.attributes.iter().filter(|a| a.name == b"LineNumberTable") {
            if let Ok(AttributeInfo::LineNumberTable(table)) = AttributeInfo::parse(attribute, &class.pool) {
                lines.extend(table);
            }
        }
        lines.sort_by_key(|line| line.start);
        let is_constructor = member.name == b"<init>" && class.super_class != 0;
        let regions = is_constructor.then(|| initialisation::regions(&code, &class.pool));
        let has_subroutines = code.instructions().any(|i| opcode::is_subroutine_call(i.opcode));
        Shape { code, lines, regions, has_subroutines, flow: None }
    }

    /// The line of an instruction.
    pub(crate) fn line(&self, bci: Bci) -> Option<u16> {
        let behind = self.lines.partition_point(|line| Bci::from(line.start) <= bci);
        behind.checked_sub(1).map(|at| self.lines[at].line)
    }

    /// Whether `this` is an object at an instruction of a method with one.
    pub(crate) fn has_this(&self, bci: Bci) -> bool {
        self.regions
            .as_ref()
            .is_none_or(|regions| regions.iter().any(|r| r.initialised && (r.start..r.end).contains(&bci)))
    }

    /// Whether an instruction may run. One that cannot may have any frame, in which local 0 is
    /// undefined.
    pub(crate) fn is_reached(&self, bci: Bci) -> bool {
        self.flow
            .as_ref()
            .is_some_and(|flow| flow.blocks.containing(bci).is_some_and(|block| flow.reached[block as usize]))
    }

    fn flow(&mut self, class: &ClassFile<'_>) -> Option<&Flow> {
        if self.flow.is_none() {
            let blocks = Blocks::of(&self.code, &class.pool, BlockRule::Default);
            let graph = Graph::of(&self.code, &class.pool, &blocks).ok()?;
            let order = DepthFirst::of(&graph);
            let dominators = Dominators::of(&graph, &order);
            let loops = Loops::of(&graph, &order, &dominators);
            let reached = (0..graph.len() as BlockId).map(|block| order.is_reachable(block)).collect();
            self.flow = Some(Flow { reached, blocks, graph, loops });
        }
        self.flow.as_ref()
    }
}

/// The rules that may match in a class, by their positions.
pub(crate) fn of_class<'r>(class: &ClassFile<'_>, rules: &'r Rules, world: &World) -> Vec<(usize, &'r Rule)> {
    let matches = |rule: &Rule| {
        rule.may_match(class.name())
            && (rule.callers == Callers::All || !world.is_of_library(class.name()))
            && rule.subtypes_of.as_ref().is_none_or(|wanted| world.is_below(class, wanted))
    };
    rules.list.iter().enumerate().filter(|(_, rule)| matches(rule)).collect()
}

/// Whether a rule of the class matches a method, apart from its code.
pub(crate) fn matches_method(class: &ClassFile<'_>, member: &Member<'_>, rule: &Rule) -> bool {
    rule.method.as_ref().is_none_or(|pattern| patterns::matches(pattern, member.name))
        && rule.descriptor.as_ref().is_none_or(|pattern| patterns::matches(pattern, member.descriptor))
        && rule.annotated.as_ref().is_none_or(|pattern| {
            let is_annotated = |attributes| annotations(class, attributes).iter().any(|a| pattern.matches(a));
            is_annotated(&member.attributes) || is_annotated(&class.attributes)
        })
        && rule.sample.is_none_or(|percent| {
            let name = [class.name(), b".", member.name, member.descriptor].concat();
            xxh3_64(&name) % 100 < percent
        })
}

/// The names of annotations, kept for reflection or not. Unreadable attributes have none.
fn annotations(class: &ClassFile<'_>, attributes: &Attributes<'_>) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for attribute in attributes.iter() {
        if !attribute.name.ends_with(b"visibleAnnotations")
            && !attribute.name.ends_with(b"VisibleAnnotations")
        {
            continue;
        }
        let (Ok(AttributeInfo::RuntimeVisibleAnnotations(list))
        | Ok(AttributeInfo::RuntimeInvisibleAnnotations(list))) =
            AttributeInfo::parse(attribute, &class.pool)
        else {
            continue;
        };
        for annotation in list {
            let name = class.pool.utf8(annotation.type_index).unwrap_or_default();
            names.extend(name.strip_prefix(b"L").and_then(|n| n.strip_suffix(b";")).map(<[u8]>::to_vec));
        }
    }
    names
}

/// The reason why a method has no location for any marker of a rule; `None` if it may have some.
pub(crate) fn refusal(member: &Member<'_>, rule: &Rule) -> Option<&'static str> {
    match rule.at {
        At::Method if member.is(access::NATIVE) => {
            Some("it is native and has no code; mark its calls with at = \"call\"")
        }
        _ => None,
    }
}

/// The locations in a method's code that a rule matches, and those of them that cannot be marked.
pub(crate) fn find(
    class: &ClassFile<'_>,
    shape: &mut Shape<'_>,
    position: usize,
    rule: &Rule,
    world: &World,
) -> Result<(Vec<MatchedPlace>, Vec<&'static str>)> {
    let (found, refused) = (Vec::new(), Vec::new());
    let mut finder = Finder { class, position, rule, world, found, refused };
    // The result does not matter: locations that are not known to be reached get no `this`.
    let _ = shape.flow(class);
    match rule.at {
        At::Method => finder.add(0, Spot::Method, Vec::new()),
        At::Loop | At::LoopHeader => finder.loops(shape),
        At::Block => finder.blocks(shape),
        At::Line => finder.lines(shape),
        At::Handler => finder.handlers(shape)?,
        At::Call | At::Allocation | At::FieldRead | At::FieldWrite => finder.instructions(shape)?,
    }
    Ok((finder.found, finder.refused))
}

struct Finder<'f, 'a> {
    class: &'f ClassFile<'a>,
    position: usize,
    rule: &'f Rule,
    world: &'f World,
    found: Vec<MatchedPlace>,
    refused: Vec<&'static str>,
}

const TOO_MANY_EDGES: &str = "it has too many exception handlers to analyse";
const SUBROUTINES: &str = "it has subroutines (jsr), whose exits are not analysed";

impl Finder<'_, '_> {
    fn add(&mut self, bci: Bci, spot: Spot, detail: Vec<u8>) {
        self.found.push(MatchedPlace { rule: self.position, bci, spot, detail });
    }

    fn loops(&mut self, shape: &mut Shape<'_>) {
        let wants_region = self.rule.at == At::Loop && self.rule.pair;
        if wants_region && shape.has_subroutines {
            return self.refused.push(SUBROUTINES);
        }
        let Some(flow) = shape.flow(self.class) else { return self.refused.push(TOO_MANY_EDGES) };
        let is_simple = flow.loops.iter().all(|l| l.reducible);
        let spots: Vec<(Bci, Spot)> = (0u32..)
            .zip(flow.loops.iter())
            .map(|(id, one)| {
                let head = flow.blocks[one.head as usize].start;
                if !wants_region {
                    return (head, Spot::LoopHeader);
                }
                let is_inside = |block: BlockId| flow.loops.around(block).any(|around| around == id);
                let body: Vec<BlockId> = flow.loops.body(id).collect();
                let leaving = body.iter().flat_map(|&b| flow.graph.successors(b)).filter(|&b| !is_inside(b));
                let exits = starts(flow, leaving);
                let depth = is_simple.then(|| flow.loops.around(one.head).count() as u16);
                (head, Spot::Loop { exits, depth })
            })
            .collect();
        for (bci, spot) in spots {
            self.add(bci, spot, Vec::new());
        }
    }

    fn blocks(&mut self, shape: &mut Shape<'_>) {
        if self.rule.pair && shape.has_subroutines {
            return self.refused.push(SUBROUTINES);
        }
        let Some(flow) = shape.flow(self.class) else { return self.refused.push(TOO_MANY_EDGES) };
        let spots: Vec<(Bci, Spot)> = (0u32..)
            .zip(flow.blocks.iter())
            .map(|(id, block)| {
                let exits = starts(flow, flow.graph.successors(id));
                (block.start, Spot::Block { exits })
            })
            .collect();
        for (bci, spot) in spots {
            self.add(bci, spot, Vec::new());
        }
    }

    fn lines(&mut self, shape: &Shape<'_>) {
        for line in shape.lines.iter().filter(|line| self.rule.lines.contains(&line.line)) {
            self.add(line.start.into(), Spot::Line, Vec::new());
        }
        self.found.dedup_by_key(|found| found.bci);
    }

    fn handlers(&mut self, shape: &Shape<'_>) -> Result<()> {
        let mut seen = Vec::new();
        for handler in &shape.code.handlers {
            let caught = match handler.catch_type {
                0 => &b"java/lang/Throwable"[..],
                index => self.class.pool.class(index)?,
            };
            let is_wanted = self.rule.made.as_ref().is_none_or(|pattern| pattern.matches(caught));
            // Several entries may lead to one handler.
            if is_wanted && !seen.contains(&handler.handler) {
                seen.push(handler.handler);
                self.add(handler.handler, Spot::Handler, caught.to_vec());
            }
        }
        Ok(())
    }

    fn instructions(&mut self, shape: &Shape<'_>) -> Result<()> {
        for instruction in shape.code.instructions() {
            match (self.rule.at, instruction.opcode) {
                (At::Call, op) if opcode::is_invoke(op) => self.call(shape, &instruction)?,
                (At::Allocation, _) => self.allocation(shape, &instruction)?,
                (At::FieldRead, opcode::GETFIELD | opcode::GETSTATIC) => {
                    self.field(&instruction, Spot::FieldRead)?;
                }
                (At::FieldWrite, opcode::PUTFIELD | opcode::PUTSTATIC) => {
                    self.field(&instruction, Spot::FieldWrite)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, shape: &Shape<'_>, instruction: &Instruction<'_>) -> Result<()> {
        let Some(index) = instruction.pool_index() else { return Ok(()) };
        let pool = &self.class.pool;
        let (callee, detail) = if instruction.opcode == opcode::INVOKEDYNAMIC {
            let (_, NameAndType { name, descriptor }) = pool.dynamic(index)?;
            let callee = MemberName::new(b"invokedynamic", name);
            (callee, [b"invokedynamic.", name, descriptor].concat())
        } else {
            let callee = pool.member_ref(index)?;
            let detail = [callee.class, b".", callee.name, callee.descriptor].concat();
            (MemberName::new(callee.class, callee.name), detail)
        };
        if let Some(pattern) = &self.rule.callee {
            let has_receiver = matches!(instruction.opcode, opcode::INVOKEVIRTUAL | opcode::INVOKEINTERFACE);
            if pattern.needs_receiver() && !has_receiver || !pattern.matches(self.class, callee, self.world) {
                return Ok(());
            }
        }
        let covers = |h: &&cct_classfile::code::Handler| (h.start..h.end).contains(&instruction.bci);
        let mut exits: Vec<Bci> = shape.code.handlers.iter().filter(covers).map(|h| h.handler).collect();
        exits.sort_unstable();
        exits.dedup();
        self.add(instruction.bci, Spot::Call { exits }, detail);
        Ok(())
    }

    fn allocation(&mut self, shape: &Shape<'_>, instruction: &Instruction<'_>) -> Result<()> {
        let pool = &self.class.pool;
        let class_of = |at: &Instruction<'_>| at.pool_index().map(|index| pool.class(index)).transpose();
        let (made, made_by) = match instruction.opcode {
            opcode::NEW => {
                let by = initialised_objects::initialised(&shape.code, pool, instruction);
                (class_of(instruction)?.unwrap_or_default().to_vec(), by.map(|by| by.bci))
            }
            opcode::NEWARRAY => {
                const NAMES: [&[u8]; 8] =
                    [b"boolean", b"char", b"float", b"double", b"byte", b"short", b"int", b"long"];
                let code = instruction.bytes.get(1).copied().unwrap_or_default();
                let name = NAMES.get(usize::from(code.wrapping_sub(4))).copied().unwrap_or(b"?");
                ([name, b"[]"].concat(), Some(instruction.bci))
            }
            opcode::ANEWARRAY => {
                let element = readable(class_of(instruction)?.unwrap_or_default());
                ([&element[..], b"[]"].concat(), Some(instruction.bci))
            }
            opcode::MULTIANEWARRAY => {
                (readable(class_of(instruction)?.unwrap_or_default()), Some(instruction.bci))
            }
            _ => return Ok(()),
        };
        if !self.rule.made.as_ref().is_none_or(|pattern| pattern.matches(&made)) {
            return Ok(());
        }
        if made_by.is_none() && self.rule.receiver {
            self.refused.push(
                "an object is allocated in a way that is not analysed: clients are \
                               called before, without the object",
            );
        }
        self.add(instruction.bci, Spot::Allocation { made_by }, made);
        Ok(())
    }

    fn field(&mut self, instruction: &Instruction<'_>, spot: Spot) -> Result<()> {
        let Some(index) = instruction.pool_index() else { return Ok(()) };
        let field = self.class.pool.member_ref(index)?;
        let name = [field.class, b"/", field.name].concat();
        if self.rule.field.as_ref().is_none_or(|pattern| pattern.matches(&name)) {
            self.add(instruction.bci, spot, [field.class, b".", field.name, b":", field.descriptor].concat());
        }
        Ok(())
    }
}

/// The starts of blocks, each once.
fn starts(flow: &Flow, blocks: impl Iterator<Item = BlockId>) -> Vec<Bci> {
    let mut starts: Vec<Bci> = blocks.map(|block| flow.blocks[block as usize].start).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The name of a class or array class in a `CONSTANT_Class`, as in Java source.
fn readable(name: &[u8]) -> Vec<u8> {
    let dimensions = name.iter().take_while(|&&b| b == b'[').count();
    if dimensions == 0 {
        return name.to_vec();
    }
    let element: &[u8] = match &name[dimensions..] {
        b"Z" => b"boolean",
        b"C" => b"char",
        b"F" => b"float",
        b"D" => b"double",
        b"B" => b"byte",
        b"S" => b"short",
        b"I" => b"int",
        b"J" => b"long",
        other => other.strip_prefix(b"L").and_then(|n| n.strip_suffix(b";")).unwrap_or(other),
    };
    [element, &b"[]".repeat(dimensions)].concat()
}
