//! Forwarders between the two signatures of a method (docs/internals/scheme.md,
//! docs/internals/treatments.md). Each is straight code, which is written out here in full and
//! compared.

use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::{FieldType, MethodDescriptor};
use cct_classfile::{ClassFile, Code, Member, MemberName, MemberRef, NameAndType, opcode};
use cct_jdk::helpers::{Helper, PADDING};
use cct_jdk::native_hooks::{CALLED_BY_RUNTIME, DEFINE_LENGTH, DEFINE_OFFSET, DEPTH};
use cct_jdk::runtime_classes::STACKS;

use crate::allocations;
use crate::convention::{FACTOR, helpers};
use crate::debug_tables::{self, DebugTables};
use crate::events::Event;
use crate::expectation::Expectation;
use crate::frames;
use crate::limits::{self, MethodCode};
use crate::native_hooks::{self, NativeHook};
use crate::op::{Callee, Kind, Op};
use crate::probe::Reader;
use cct_jdk::convention::{
    BYPASS, FORWARDER_LINE, NATIVE_FORWARDER_LINE, OBJECT, SLOTS_OFFSET, with_extension,
};

/// A method that has a forwarder or is one.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    method: MemberRef<'a>,
    is_interface: bool,
    pub(crate) is_static: bool,
    is_constructor: bool,
    extended: Vec<u8>,
    /// Kinds of the arguments and their locals, without `this`.
    arguments: Vec<(Kind, u16)>,
    pub(crate) slots: u16,
    result: Option<Kind>,
}

/// Straight code of a forwarder.
#[derive(Debug, Clone)]
pub struct Straight<'a> {
    ops: Vec<Op<'a>>,
    /// The operations that a handler covers, and those that the handler executes before it
    /// rethrows.
    catch: Option<(usize, usize, Vec<Op<'a>>)>,
    /// Added locals in the handler: slot, and whether it holds the thread rather than a context.
    ours: Vec<(u16, bool)>,
    line: u16,
}

/// The probe of a forwarder on entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    None,
    /// A count under this id, with this many bytecodes.
    Node(i64, i32),
    /// The event of its start, under this number. An event of its end follows the call, unless it
    /// returns at once.
    Event(u32),
    /// A record of its context's value, and an addition for its callees.
    Value {
        /// The id under which the value is recorded; `None` if it is not recorded.
        place: Option<i64>,
        /// The number added for its callees; `None` if the method does not take part.
        site: Option<i64>,
    },
}

impl<'a> Target<'a> {
    /// The description of a method; `None` if its descriptor is invalid.
    pub fn of(class: &ClassFile<'a>, method: NameAndType<'a>, is_static: bool) -> Option<Self> {
        let parsed = MethodDescriptor::parse(method.descriptor).ok().filter(|d| d.argument_slots() <= 255)?;
        let mut slots = u16::from(!is_static);
        let mut arguments = Vec::new();
        for t in parsed.arguments() {
            arguments.push((Kind::of(t)?, slots));
            slots += t.slots();
        }
        Some(Target {
            method: method.of_class(class.name()),
            is_interface: class.is_interface(),
            is_static,
            is_constructor: method.name == b"<init>",
            extended: with_extension(method.descriptor),
            arguments,
            slots,
            result: Kind::of(parsed.result),
        })
    }

    /// The first slots of `this` and the arguments.
    pub(crate) fn parameter_slots(&self) -> Vec<u16> {
        let this = (!self.is_static).then_some(0);
        this.into_iter().chain(self.arguments.iter().map(|(_, slot)| *slot)).collect()
    }

    pub(crate) fn arguments(&self) -> Vec<Op<'a>> {
        let this = (!self.is_static).then_some(Op::Load(Kind::Reference, 0));
        this.into_iter().chain(self.arguments.iter().map(|(kind, slot)| Op::Load(*kind, *slot))).collect()
    }

    /// The method itself, as a callee.
    pub(crate) fn own_callee(&self) -> Callee<'a> {
        let tag = if self.is_interface { tag::INTERFACE_METHODREF } else { tag::METHODREF };
        Callee { tag, method: self.method }
    }

    /// The method or its twin, as a callee.
    fn callee<'s>(&'s self, descriptor: &'s [u8]) -> Callee<'s> {
        let callee = self.own_callee();
        Callee { method: MemberRef { descriptor, ..callee.method }, ..callee }
    }

    /// A call of the twin, without dispatch.
    fn twin<'s>(&'s self, descriptor: &'s [u8]) -> Op<'s> {
        let op = if self.is_static { opcode::INVOKESTATIC } else { opcode::INVOKESPECIAL };
        Op::Invoke(op, self.callee(descriptor), 0)
    }

    /// The wrapper under the original signature: N2B. `replays` is whether it walks the stack.
    pub fn wrapper(&self, replays: bool) -> Straight<'_> {
        let (thread, saved) = (self.slots, self.slots + 1);
        let mut ops = read_thread(thread, saved);
        let mut passed = saved;
        if replays {
            passed = self.slots + 3;
            ops.extend([
                Op::Load(Kind::Reference, thread),
                Op::Load(Kind::Long, saved),
                Op::Helper(Helper::Replay),
                Op::Store(Kind::Long, passed),
            ]);
        }
        let start = ops.len();
        ops.extend(self.arguments());
        ops.extend([Op::Load(Kind::Long, passed), Op::Null, self.twin(&self.extended)]);
        let end = ops.len();
        let restore = restore(thread, saved);
        ops.extend(&restore);
        ops.push(Op::Return(self.result));
        // No handler may cover the initialisation of `this`.
        let catch = (!self.is_constructor).then_some((start, end, restore));
        Straight { ops, catch, ours: vec![(thread, true), (saved, false)], line: FORWARDER_LINE }
    }

    /// Stores the context into the thread, then calls the original virtually.
    pub fn redispatch(&self) -> Straight<'_> {
        let mut ops = vec![Op::Load(Kind::Long, self.slots), Op::Helper(Helper::Store)];
        ops.extend(self.arguments());
        let callee = self.own_callee();
        ops.push(if self.is_interface {
            Op::Invoke(opcode::INVOKEINTERFACE, callee, self.slots as u8)
        } else {
            Op::Invoke(opcode::INVOKEVIRTUAL, callee, 0)
        });
        self.plain(ops, FORWARDER_LINE)
    }

    /// Stores the context into the thread, then calls the original without dispatch.
    pub fn stored(&self) -> Straight<'_> {
        let mut ops = vec![Op::Load(Kind::Long, self.slots), Op::Helper(Helper::Store)];
        self.then_original(&mut ops);
        self.plain(ops, FORWARDER_LINE)
    }

    /// Counts the original, or records nothing, and calls it without dispatch.
    pub fn counted(&self, entry: Entry, line: u16) -> Straight<'_> {
        let mut ops = self.leaf(entry);
        self.then_original(&mut ops);
        self.plain(ops, line)
    }

    /// Counts the original, and calls it without dispatch while recording is suspended.
    pub fn bypassed(&self, entry: Entry) -> Straight<'_> {
        let (thread, saved) = (self.slots + 2, self.slots + 3);
        let mut ops = self.leaf(entry);
        ops.extend(read_thread(thread, saved));
        let start = ops.len();
        ops.extend([
            Op::Load(Kind::Reference, thread),
            Op::Int(BYPASS.into()),
            Op::IntToLong,
            Op::Helper(Helper::Restore),
        ]);
        self.then_original_and_restore(ops, start)
    }

    /// Calls a native in a node of its own: B2N. Without a node, its callees appear below the
    /// caller's, or `below_root`. `hooks` are its calls of the runtime.
    pub fn to_native<'s>(
        &'s self,
        entry: Entry,
        below_root: bool,
        hooks: &[&'s NativeHook],
        counts_objects: bool,
    ) -> Straight<'s> {
        let (thread, saved) = (self.slots + 2, self.slots + 3);
        let mut ops = Vec::new();
        for &hook in hooks {
            match hook.kind {
                native_hooks::Kind::Define => self.define(hook, &mut ops),
                native_hooks::Kind::Last => {
                    let last = self.slots.saturating_sub(1);
                    ops.extend([Op::Load(Kind::Reference, last), Op::runtime(hook.call)]);
                    ops.push(Op::Store(Kind::Reference, last));
                }
                native_hooks::Kind::Argument(number) => {
                    self.call(hook, &mut ops);
                    ops.extend(self.arguments.get(number).map(|(kind, slot)| Op::Store(*kind, *slot)));
                }
                _ => {}
            }
        }
        let has_node = matches!(entry, Entry::Node(..));
        match entry {
            Entry::None => {}
            Entry::Node(id, bytecodes) => ops.extend([
                Op::Load(Kind::Long, self.slots),
                Op::Long(id),
                Op::Int(bytecodes),
                Op::Helper(Helper::Enter),
                Op::Store(Kind::Long, self.slots),
            ]),
            Entry::Event(method) => {
                ops.extend(Event::Start { method, ends_at_once: false }.ops(self.slots, None));
            }
            Entry::Value { site, .. } => {
                ops.extend(self.leaf(entry));
                ops.extend(site.into_iter().flat_map(|site| {
                    [
                        Op::Load(Kind::Long, self.slots),
                        Op::Long(FACTOR),
                        Op::LongMultiply,
                        Op::Long(site),
                        Op::LongAdd,
                        Op::Store(Kind::Long, self.slots),
                    ]
                }));
            }
        }
        ops.extend(read_thread(thread, saved));
        let start = ops.len();
        ops.extend([Op::Load(Kind::Reference, thread), Op::Load(Kind::Long, self.slots)]);
        if has_node {
            ops.extend([Op::Int(SLOTS_OFFSET.into()), Op::IntToLong, Op::LongAdd]);
        } else if below_root {
            ops.push(Op::Helper(Helper::RootOf));
        }
        ops.push(Op::Helper(Helper::Carry));
        let of = |kind| hooks.iter().find(|hook| hook.kind == kind).copied();
        if let Some(hook) = of(native_hooks::Kind::Entered) {
            self.call(hook, &mut ops);
        }
        if let Some(hook) = of(native_hooks::Kind::Instead) {
            self.call(hook, &mut ops);
            self.cast(hook, &mut ops);
        } else if of(native_hooks::Kind::After).is_some() {
            // The runtime decides how deep a stack the native is asked for.
            for load in self.arguments() {
                let is_depth = matches!(load, Op::Load(Kind::Int, slot) if self.is_int(slot));
                ops.push(load);
                ops.extend(is_depth.then(|| Op::runtime(DEPTH)));
            }
            ops.push(self.twin(self.method.descriptor));
        } else {
            self.then_original(&mut ops);
        }
        let end = ops.len();
        let mut restore = restore(thread, saved);
        ops.extend(&restore);
        if let Entry::Event(method) = entry {
            ops.extend(Event::End { method, by_exception: false }.ops(self.slots, None));
            restore.extend(Event::End { method, by_exception: true }.ops(self.slots, None));
        }
        if let Some(hook) = of(native_hooks::Kind::Result) {
            ops.push(Op::runtime(hook.call));
            self.cast(hook, &mut ops);
        }
        if let Some(hook) = of(native_hooks::Kind::After) {
            self.call(hook, &mut ops);
            self.cast(hook, &mut ops);
        }
        if counts_objects && (has_node || matches!(entry, Entry::Event(_))) {
            ops.extend(self.makes().into_iter().flatten());
        }
        self.restoring(ops, start, end, restore)
    }

    /// The probe that counts the objects of the native.
    fn makes(&self) -> Option<Vec<Op<'static>>> {
        allocations::of_native(self.method.member_name(), self.slots)
    }

    /// The forwarder of a leaf native that allocates its result, which is counted below its node;
    /// `None` if this native does not.
    pub fn counted_with_result(&self, id: i64) -> Option<Straight<'_>> {
        let makes = self.makes()?;
        let mut ops = vec![
            Op::Load(Kind::Long, self.slots),
            Op::Long(id),
            Op::Int(0),
            Op::Helper(Helper::Enter),
            Op::Store(Kind::Long, self.slots),
        ];
        self.then_original(&mut ops);
        ops.extend(makes);
        Some(self.plain(ops, NATIVE_FORWARDER_LINE))
    }

    /// Calls the runtime with the receiver and the arguments.
    fn call<'s>(&'s self, hook: &'s NativeHook, ops: &mut Vec<Op<'s>>) {
        ops.extend(self.arguments());
        ops.push(Op::runtime(hook.call));
    }

    /// Casts the runtime's result, which may be any object, to the native's type.
    fn cast<'s>(&'s self, hook: &NativeHook, ops: &mut Vec<Op<'s>>) {
        let native = MethodDescriptor::parse(self.method.descriptor).map(|d| d.result);
        if let (Ok(FieldType::Class(class) | FieldType::Array(class)), true) =
            (native, hook.call.member.descriptor.ends_with(b")Ljava/lang/Object;"))
            && class != OBJECT
        {
            ops.push(Op::CheckCast(class));
        }
    }

    /// Replaces the class file among the arguments, with its offset and length if these are
    /// arguments too.
    fn define<'s>(&'s self, hook: &'s NativeHook, ops: &mut Vec<Op<'s>>) {
        let free = self.slots + 5;
        self.call(hook, ops);
        ops.push(Op::Store(Kind::Reference, free));
        let Ok(descriptor) = MethodDescriptor::parse(self.method.descriptor) else { return };
        let is_class_file =
            |t| matches!(t, FieldType::Array(b"[B") | FieldType::Class(b"java/nio/ByteBuffer"));
        let Some(number) = descriptor.arguments().position(is_class_file) else { return };
        let slot = self.arguments[number].1;
        if descriptor.arguments().nth(number + 1) == Some(FieldType::Base(b'I')) {
            for (place, tells) in (slot + 1..).zip([DEFINE_OFFSET, DEFINE_LENGTH]) {
                ops.extend([
                    Op::Load(Kind::Reference, free),
                    Op::Load(Kind::Reference, slot),
                    Op::Load(Kind::Int, place),
                    Op::runtime(tells),
                    Op::Store(Kind::Int, place),
                ]);
            }
        }
        ops.extend([Op::Load(Kind::Reference, free), Op::Store(Kind::Reference, slot)]);
    }

    /// Whether the argument in a local is exactly `int`, no shorter type.
    fn is_int(&self, slot: u16) -> bool {
        let number = self.arguments.iter().position(|(_, of)| *of == slot);
        let descriptor = MethodDescriptor::parse(self.method.descriptor).ok();
        descriptor.zip(number).is_some_and(|(d, n)| d.arguments().nth(n) == Some(FieldType::Base(b'I')))
    }

    /// Calls the original for the runtime, which cannot call private methods.
    pub fn for_the_runtime(&self) -> Straight<'_> {
        let mut ops = Vec::new();
        self.then_original(&mut ops);
        self.plain(ops, FORWARDER_LINE)
    }

    /// Calls a method of the runtime with the same descriptor.
    pub fn to_runtime<'s>(&'s self, runtime: MemberName<'s>) -> Straight<'s> {
        let method = MemberRef::new(runtime.class, runtime.name, self.method.descriptor);
        let callee = Callee { tag: tag::METHODREF, method };
        let mut ops = self.arguments();
        ops.push(Op::Invoke(opcode::INVOKESTATIC, callee, 0));
        self.plain(ops, FORWARDER_LINE)
    }

    /// A helper of `java/lang/Object`: it calls a method of the runtime with the same descriptor,
    /// and is too large for HotSpot's first compiler to inline.
    pub fn helper<'s>(&'s self, runtime: MemberName<'s>) -> Straight<'s> {
        let mut helper = self.to_runtime(runtime);
        helper.ops.splice(..0, [Op::Nothing; PADDING]);
        helper
    }

    /// A method that switches the recording.
    pub fn switch(&self, what: i32) -> Straight<'_> {
        let mut ops = vec![if self.slots == 0 { Op::Null } else { Op::Load(Kind::Reference, 0) }];
        ops.extend([Op::Int(what), Op::Helper(Helper::Record)]);
        ops.extend(self.result.is_none().then_some(Op::Pop));
        self.plain(ops, FORWARDER_LINE)
    }

    /// A leaf native with an event for its end.
    pub fn ended(&self, method: u32) -> Straight<'_> {
        let mut ops = Event::Start { method, ends_at_once: false }.ops(self.slots, None);
        let start = ops.len();
        self.then_original(&mut ops);
        let end = ops.len();
        ops.extend(Event::End { method, by_exception: false }.ops(self.slots, None));
        ops.push(Op::Return(self.result));
        let thrown = Event::End { method, by_exception: true }.ops(self.slots, None);
        let ours = vec![(self.slots, false)];
        Straight { ops, catch: Some((start, end, thrown)), ours, line: NATIVE_FORWARDER_LINE }
    }

    /// The forwarder of a leaf native that allocates its result, and whose start is its end; `None`
    /// if this native does not.
    pub fn started_with_result(&self, method: u32) -> Option<Straight<'_>> {
        let makes = self.makes()?;
        let mut ops = self.leaf(Entry::Event(method));
        self.then_original(&mut ops);
        ops.extend(makes);
        Some(self.plain(ops, NATIVE_FORWARDER_LINE))
    }

    /// A method through which a program queries the runtime.
    pub fn query(&self, helper: Helper) -> Straight<'_> {
        let mut ops = self.arguments();
        ops.push(Op::Helper(helper));
        self.plain(ops, FORWARDER_LINE)
    }

    /// The probe of a method that returns at once.
    fn leaf(&self, entry: Entry) -> Vec<Op<'a>> {
        let context = Op::Load(Kind::Long, self.slots);
        match entry {
            Entry::None | Entry::Value { place: None, .. } => Vec::new(),
            Entry::Node(id, bytecodes) => {
                vec![context, Op::Long(id), Op::Int(bytecodes), Op::Helper(Helper::Leaf)]
            }
            Entry::Event(method) => Event::Start { method, ends_at_once: true }.ops(self.slots, None),
            Entry::Value { place: Some(place), .. } => {
                vec![context, Op::Long(place), Op::Helper(Helper::At)]
            }
        }
    }

    fn then_original<'s>(&'s self, ops: &mut Vec<Op<'s>>) {
        ops.extend(self.arguments());
        ops.push(self.twin(self.method.descriptor));
    }

    fn then_original_and_restore<'s>(&'s self, mut ops: Vec<Op<'s>>, start: usize) -> Straight<'s> {
        let (thread, saved) = (self.slots + 2, self.slots + 3);
        self.then_original(&mut ops);
        let end = ops.len();
        let restore = restore(thread, saved);
        ops.extend(&restore);
        self.restoring(ops, start, end, restore)
    }

    /// Gives the thread back its context, also after an exception.
    fn restoring<'s>(
        &'s self,
        ops: Vec<Op<'s>>,
        start: usize,
        end: usize,
        restore: Vec<Op<'s>>,
    ) -> Straight<'s> {
        let (thread, saved) = (self.slots + 2, self.slots + 3);
        let ours = vec![(self.slots, false), (thread, true), (saved, false)];
        self.restoring_to(ops, start, end, restore, ours)
    }

    /// Gives the thread back its context, with these added locals in the handler.
    pub(crate) fn restoring_to<'s>(
        &'s self,
        mut ops: Vec<Op<'s>>,
        start: usize,
        end: usize,
        restore: Vec<Op<'s>>,
        ours: Vec<(u16, bool)>,
    ) -> Straight<'s> {
        ops.push(Op::Return(self.result));
        Straight { ops, catch: Some((start, end, restore)), ours, line: NATIVE_FORWARDER_LINE }
    }

    pub(crate) fn plain<'s>(&'s self, mut ops: Vec<Op<'s>>, line: u16) -> Straight<'s> {
        ops.push(Op::Return(self.result));
        Straight { ops, catch: None, ours: Vec::new(), line }
    }
}

pub(crate) fn read_thread(thread: u16, saved: u16) -> Vec<Op<'static>> {
    vec![
        Op::Helper(Helper::Thread),
        Op::Store(Kind::Reference, thread),
        Op::Load(Kind::Reference, thread),
        Op::Helper(Helper::Context),
        Op::Store(Kind::Long, saved),
    ]
}

pub(crate) fn restore(thread: u16, saved: u16) -> Vec<Op<'static>> {
    vec![Op::Load(Kind::Reference, thread), Op::Load(Kind::Long, saved), Op::Helper(Helper::Restore)]
}

impl Straight<'_> {
    /// Whether a method's code is this one.
    pub fn is<'a>(&self, class: &ClassFile<'a>, method: &Member<'a>) -> bool {
        self.is_with(&DebugTables::default(), class, method)
    }

    /// Whether a method's code is this one, with these tables.
    pub fn is_with<'a>(&self, tables: &DebugTables, class: &ClassFile<'a>, method: &Member<'a>) -> bool {
        let Ok(Some(code)) = Code::of(class, method) else { return false };
        let reader = Reader::new(class, &code);
        let mut ops = self.ops.clone();
        if let Some((.., handler)) = &self.catch {
            ops.extend(handler);
            ops.push(Op::Throw);
        }
        if reader.steps.len() != ops.len() || !reader.has(0, &ops) {
            return false;
        }
        let at = reader.bci(self.ops.len());
        let caught = match (&self.catch, &*code.handlers) {
            (None, []) => true,
            (Some((start, end, _)), [h]) => {
                (h.start, h.end) == (reader.bci(*start), reader.bci(*end))
                    && (h.handler, h.catch_type) == (at, 0)
                    && frames::is_forwarders(class, method, &code, at, &self.ours)
            }
            _ => false,
        };
        let is_known =
            |name: &[u8]| debug_tables::is_table(name) || self.catch.is_some() && name == b"StackMapTable";
        caught
            && code.attributes.iter().all(|attribute| is_known(attribute.name))
            && tables.are_of(class, &code, self.line)
            && limits::suffice(MethodCode { class, method, code: &code })
    }
}

/// Whether an added method of `java/lang/Object` is a helper of such an output.
pub fn is_helper(class: &ClassFile<'_>, method: &Member<'_>, expectation: &Expectation) -> bool {
    helpers(expectation).any(|(name, runtime)| {
        method.name_and_type() == NameAndType::new(name, runtime.member.descriptor)
            && Target::of(class, method.name_and_type(), true)
                .is_some_and(|t| t.helper(runtime.member.member_name()).is(class, method))
    })
}

/// Whether an added method calls a private native for the runtime.
pub fn is_call_for_the_runtime(class: &ClassFile<'_>, method: &Member<'_>, is_static: bool) -> bool {
    let Some(native) = method.name.strip_prefix(b"cct$") else { return false };
    CALLED_BY_RUNTIME.contains(&MemberName::new(class.name(), native))
        && Target::of(class, NameAndType::new(native, method.descriptor), is_static)
            .is_some_and(|t| t.for_the_runtime().is(class, method))
}

/// Whether a native became a method that calls the runtime's method of the same name.
pub fn is_replacement(class: &ClassFile<'_>, method: &Member<'_>) -> bool {
    Target::of(class, method.name_and_type(), true)
        .is_some_and(|t| t.to_runtime(MemberName::new(STACKS, method.name)).is(class, method))
}
