//! The members that a marked class gains (docs/research/markers.md, "What is inserted"): its
//! guards, its table, and the methods that read them.

use std::collections::BTreeMap;

use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::{FieldType, MethodDescriptor};
use cct_classfile::{ClassFile, Member, MemberRef, NameAndType, NameAndTypeBuf, access, opcode};

use super::attribute::{Descriptor, is_on};
use super::exactly::{Exactly, Step};
use crate::marked::gate::Gate;
use crate::op::{Callee, Kind};

const OBJECT: &[u8] = b"Ljava/lang/Object;";
const TABLE: &[u8] = b"cct$table";
const TO_OBJECT: &[u8] = b"()Ljava/lang/Object;";
const REGISTER: NameAndType<'_> = NameAndType::new(b"cct$register", TO_OBJECT);
const TAKES_OBJECT: &[u8] = b"(Ljava/lang/Object;)Ljava/lang/Object;";
const TAKES_TWO: &[u8] = b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;";

/// A helper, as the calling code names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Helper {
    /// Whether its name begins with `enter`: it returns a token.
    pub enters: bool,
    /// Whether it belongs to one marker, rather than to a group of 32.
    pub is_own: bool,
    /// The number of the marker, or of the group.
    pub number: u16,
    /// Descriptor of the helper.
    pub descriptor: Vec<u8>,
    /// Whether it gets the thread's position in its tree.
    pub has_slot: bool,
}

impl Helper {
    /// The helper that a call leads to; `None` if it leads to no helper.
    pub fn of(class: &ClassFile<'_>, callee: &Callee<'_>, gate: Gate) -> Option<Helper> {
        let method = callee.method;
        if method.class != class.name() || callee.tag != own_tag(class) {
            return None;
        }
        let (enters, rest) = match method.name.strip_prefix(b"cct$enter") {
            Some(rest) => (true, rest),
            None => (false, method.name.strip_prefix(b"cct$pass")?),
        };
        let (is_own, digits) = match rest.strip_prefix(b"$") {
            Some(digits) => (true, digits),
            None => (false, rest),
        };
        let number: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let descriptor = method.descriptor.to_vec();
        let helper = Helper { enters, is_own, number, descriptor, has_slot: gate.has_slot() };
        (helper.name() == method.name).then_some(helper)
    }

    /// Name of the helper.
    pub fn name(&self) -> Vec<u8> {
        let word = if self.enters { "enter" } else { "pass" };
        let own = if self.is_own { "$" } else { "" };
        format!("cct${word}{own}{}", self.number).into_bytes()
    }

    /// The types of the arguments that this marker passes to it, as in a descriptor; `None` if it
    /// is not a helper of the marker.
    pub fn arguments(&self, marker: &Descriptor<'_>) -> Option<&[u8]> {
        let result: &[u8] = if self.enters { b")Ljava/lang/Object;" } else { b")V" };
        let inner = self.descriptor.strip_prefix(b"(")?.strip_suffix(result)?;
        let inner = if self.has_slot { inner.strip_suffix(b"J")? } else { inner };
        if self.enters != marker.has_token() {
            return None;
        }
        if !self.is_own {
            return (inner == [OBJECT, b"I"].concat() && !marker.per_object && !marker.is_loop())
                .then_some(b"");
        }
        let again = if marker.is_loop() { OBJECT } else { b"" };
        inner.strip_prefix(&*[again, OBJECT].concat())
    }
}

/// The class, as far as its added members depend on it.
pub struct Gains<'g, 'a> {
    /// The rewritten class.
    pub class: &'g ClassFile<'a>,
    /// The route to the runtime.
    pub gate: Gate,
    /// The markers of the class.
    pub markers: &'g [Descriptor<'a>],
}

/// A field that a marked class gains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedField {
    /// Name and descriptor.
    pub field: NameAndTypeBuf,
    /// Access flags.
    pub flags: u16,
    /// Whether all bits are on initially.
    pub all_on: bool,
}

impl AddedField {
    /// Whether a field of the class is this one.
    pub fn is(&self, class: &ClassFile<'_>, field: &Member<'_>) -> bool {
        (field.name_and_type(), field.access_flags) == (self.field.name_and_type(), self.flags)
            && if self.all_on { is_on(class, field) } else { field.attributes.is_empty() }
    }
}

/// Expected methods: each with the codes of which it must have one. All have the same flags.
pub type ExpectedMethods = BTreeMap<NameAndTypeBuf, Vec<Exactly>>;

impl Gains<'_, '_> {
    fn words(&self) -> usize {
        self.markers.len().div_ceil(32)
    }

    fn own(&self, method: NameAndType<'_>) -> Step {
        Step::Call(own_tag(self.class), method.of_class(self.class.name()).into())
    }

    /// A call of the runtime: its name in the gate's class, and the helper, with the same
    /// descriptor.
    fn gate(&self, name: &[u8], helper: NameAndType<'_>) -> Step {
        match self.gate {
            Gate::Class(gate) => {
                Step::Call(tag::METHODREF, MemberRef::new(gate, name, helper.descriptor).into())
            }
            Gate::Helpers => Step::Helper(helper.into()),
        }
    }

    /// The fields in their order.
    pub fn fields(&self) -> Vec<AddedField> {
        let gained = |name: &[u8], descriptor, flags, all_on| AddedField {
            field: NameAndType::new(name, descriptor).into(),
            flags,
            all_on,
        };
        if self.class.is_interface() {
            return Vec::new();
        }
        let flags = access::PRIVATE | access::STATIC | access::SYNTHETIC;
        let mut fields = Vec::new();
        for word in 0..self.words() {
            fields.push(gained(format!("cct$markers{word}").as_bytes(), &b"I"[..], flags, true));
        }
        fields.push(gained(TABLE, OBJECT, flags, false));
        if self.markers.iter().any(|marker| marker.per_object) {
            let flags = access::PRIVATE | access::TRANSIENT | access::SYNTHETIC;
            fields.push(gained(b"cct$skipped", b"I", flags, false));
        }
        fields
    }

    /// The methods for code that calls these helpers, each for one of the class's markers.
    pub fn methods(&self, called: &BTreeMap<Helper, u16>) -> ExpectedMethods {
        let mut wanted = ExpectedMethods::new();
        wanted.insert(NameAndType::new(TABLE, TO_OBJECT).into(), vec![self.table()]);
        let registers = [false, true].map(|by_class| self.register(by_class));
        wanted.insert(REGISTER.into(), registers.into());
        for (helper, &index) in called {
            let Some(marker) = self.markers.get(usize::from(index)) else { continue };
            let (name, descriptor) = (helper.name().into(), helper.descriptor.as_slice().into());
            wanted.insert(NameAndTypeBuf { name, descriptor }, self.helper(helper, marker));
        }
        wanted
    }

    fn table(&self) -> Exactly {
        let mut code = Exactly::default();
        if self.class.is_interface() {
            let takes = match self.gate {
                Gate::Class(_) => b"(Ljava/lang/Class;)Ljava/lang/Object;",
                Gate::Helpers => TAKES_OBJECT,
            };
            code.steps.extend([
                Step::Class(opcode::LDC, self.class.name().to_vec()),
                self.gate(b"tableOf", NameAndType::new(b"cct$markerTable", takes)),
            ])
        } else {
            code.steps.push(Step::Field(opcode::GETSTATIC, NameAndType::new(TABLE, OBJECT).into()))
        }
        code.steps.extend([Step::Store(0), Step::Load(Kind::Reference, 0)]);
        code.unless(opcode::IFNULL, vec![Step::Load(Kind::Reference, 0), Step::Plain(opcode::ARETURN)]);
        code.steps.extend([self.own(REGISTER), Step::Plain(opcode::ARETURN)]);
        code
    }

    /// The method that registers the class; `by_class`, since JDK 8 gives its own classes no
    /// lookup.
    fn register(&self, by_class: bool) -> Exactly {
        let mut code = Exactly::default();
        code.steps.push(self.gate(b"isReady", NameAndType::new(b"cct$markerReady", b"()Z")));
        code.unless(opcode::IFNE, vec![Step::Plain(opcode::ACONST_NULL), Step::Plain(opcode::ARETURN)]);
        let from = code.steps.len();
        match self.gate {
            Gate::Class(_) => code.steps.extend(self.said_at_once(by_class)),
            Gate::Helpers => {
                code.steps.push(Step::Plain(opcode::ACONST_NULL));
                for marker in self.markers {
                    code.steps.extend([
                        Step::Text(marker.text.to_vec()),
                        Step::Helper(NameAndType::new(b"cct$markerRow", TAKES_TWO).into()),
                    ]);
                }
                code.steps.extend([
                    Step::Class(opcode::LDC, self.class.name().to_vec()),
                    Step::Helper(NameAndType::new(b"cct$markerRegister", TAKES_TWO).into()),
                ]);
            }
        }
        if !self.class.is_interface() {
            code.steps.push(Step::Plain(opcode::DUP));
            code.steps.push(Step::Field(opcode::PUTSTATIC, NameAndType::new(TABLE, OBJECT).into()));
            for word in 0..self.words() {
                code.steps.extend([
                    Step::Plain(opcode::DUP),
                    Step::Int(word as u16),
                    self.gate(b"bits", NameAndType::new(b"cct$markerBits", b"(Ljava/lang/Object;I)I")),
                    guard(opcode::PUTSTATIC, word as u16),
                ]);
            }
        }
        code.steps.extend([
            Step::Plain(opcode::DUP),
            self.gate(b"settled", NameAndType::new(b"cct$markerSettled", b"(Ljava/lang/Object;)V")),
            Step::Plain(opcode::ARETURN),
        ]);
        code.caught = Some((from, code.steps.len()));
        let abandoned = self.gate(b"abandoned", NameAndType::new(b"cct$markerAbandoned", b"()V"));
        code.steps.extend([abandoned, Step::Plain(opcode::ATHROW)]);
        code
    }

    /// Pushes the class, and its texts in an array.
    fn said_at_once(&self, by_class: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        let (who, kind) = if by_class {
            (Step::Class(opcode::LDC, self.class.name().to_vec()), &b"Ljava/lang/Class;"[..])
        } else {
            let kind = b"Ljava/lang/invoke/MethodHandles$Lookup;";
            let descriptor = [b"()", &kind[..]].concat();
            let lookup = MemberRef::new(b"java/lang/invoke/MethodHandles", b"lookup", &descriptor);
            (Step::Call(tag::METHODREF, lookup.into()), &kind[..])
        };
        steps.extend([
            who,
            Step::Int(self.markers.len() as u16),
            Step::Class(opcode::ANEWARRAY, b"java/lang/String".to_vec()),
        ]);
        for (position, marker) in self.markers.iter().enumerate() {
            steps.extend([
                Step::Plain(opcode::DUP),
                Step::Int(position as u16),
                Step::Text(marker.text.to_vec()),
                Step::Plain(opcode::AASTORE),
            ]);
        }
        let descriptor = [b"(", kind, b"[Ljava/lang/String;)Ljava/lang/Object;"].concat();
        steps.push(self.gate(b"register", NameAndType::new(b"", &descriptor)));
        steps
    }

    /// A helper's code. There are two variants if an array without elements may be allocated or
    /// not.
    fn helper(&self, helper: &Helper, marker: &Descriptor<'_>) -> Vec<Exactly> {
        let Some(arguments) = helper.arguments(marker) else { return Vec::new() };
        let mut arrays = vec![Some(arguments)];
        if arguments.is_empty() {
            // A helper of one marker without objects or loops exists for the array.
            let for_array = helper.is_own && !marker.per_object && !marker.is_loop();
            arrays = if for_array { vec![Some(arguments)] } else { vec![None] };
            if helper.is_own && marker.per_object {
                arrays.push(Some(arguments));
            }
        }
        arrays.into_iter().map(|array| self.helper_with(helper, marker, array)).collect()
    }

    fn helper_with(&self, helper: &Helper, marker: &Descriptor<'_>, array: Option<&[u8]>) -> Exactly {
        let mut code = Exactly::default();
        let again = marker.is_loop();
        let receiver = u16::from(again);
        let index = if helper.is_own { Step::Int(helper.number) } else { Step::Load(Kind::Int, 1) };
        let nothing = if helper.enters {
            vec![Step::Plain(opcode::ACONST_NULL), Step::Plain(opcode::ARETURN)]
        } else {
            vec![Step::Plain(opcode::RETURN)]
        };
        let table = self.own(NameAndType::new(TABLE, TO_OBJECT));
        if again {
            code.steps.push(Step::Load(Kind::Reference, 0));
            code.unless(opcode::IFNULL, vec![Step::Load(Kind::Reference, 0), Step::Plain(opcode::ARETURN)]);
        }
        if self.class.is_interface() {
            let is_on = NameAndType::new(b"cct$markerIsOn", b"(Ljava/lang/Object;I)Z");
            let is_on = self.gate(b"isOn", is_on);
            code.steps.extend([table.clone(), index.clone(), is_on]);
        } else {
            let word = if helper.is_own { helper.number / 32 } else { helper.number };
            code.steps.push(guard(opcode::GETSTATIC, word));
            if marker.per_object {
                code.steps.extend([
                    Step::Load(Kind::Reference, receiver),
                    Step::Class(opcode::CHECKCAST, self.class.name().to_vec()),
                    Step::Field(opcode::GETFIELD, NameAndType::new(b"cct$skipped", b"I").into()),
                    Step::Plain(opcode::ICONST_M1),
                    Step::Plain(opcode::IXOR),
                    Step::Plain(opcode::IAND),
                ]);
            }
            code.steps.extend([
                Step::Int(1),
                index.clone(),
                Step::Plain(opcode::ISHL),
                Step::Plain(opcode::IAND),
            ]);
        }
        code.unless(opcode::IFNE, nothing);
        code.steps.extend([table, index, Step::Load(Kind::Reference, receiver)]);
        let mut slots = receiver + if helper.is_own { 1 } else { 2 };
        match (array, self.gate) {
            (Some(arguments), Gate::Class(_)) => code.steps.extend(making(arguments, slots)),
            (Some(arguments), Gate::Helpers) => {
                code.steps.extend(putting(arguments, &mut slots));
            }
            (None, Gate::Class(_)) => {}
            (None, Gate::Helpers) => code.steps.push(Step::Plain(opcode::ACONST_NULL)),
        }
        let (name, of_object, result): (&[u8], &[u8], &[u8]) = if helper.enters {
            (b"enter", b"cct$markerEnter", b")Ljava/lang/Object;")
        } else {
            (b"at", b"cct$markerAt", b")V")
        };
        let more: &[u8] = match (self.gate, array) {
            (Gate::Class(_), Some(_)) => b"[Ljava/lang/Object;",
            (Gate::Class(_), None) => b"",
            (Gate::Helpers, _) => {
                code.steps.push(Step::Load(Kind::Long, slots));
                b"Ljava/lang/Object;J"
            }
        };
        let descriptor = [b"(Ljava/lang/Object;ILjava/lang/Object;", more, result].concat();
        code.steps.push(self.gate(name, NameAndType::new(of_object, &descriptor)));
        code.steps.push(Step::Plain(if helper.enters { opcode::ARETURN } else { opcode::RETURN }));
        code
    }
}

/// Allocates an array with the locals from `first` on, numbers as objects.
fn making(arguments: &[u8], first: u16) -> Vec<Step> {
    let descriptor = [b"(", arguments, b")V"].concat();
    let Ok(parsed) = MethodDescriptor::parse(&descriptor) else { return Vec::new() };
    let mut steps = vec![
        Step::Int(parsed.arguments().count() as u16),
        Step::Class(opcode::ANEWARRAY, b"java/lang/Object".to_vec()),
    ];
    let mut local = first;
    for (position, argument) in parsed.arguments().enumerate() {
        steps.extend([Step::Plain(opcode::DUP), Step::Int(position as u16)]);
        steps.extend(Kind::of(argument).map(|kind| Step::Load(kind, local)));
        if let FieldType::Base(base) = argument {
            let name: &[u8] = match base {
                b'Z' => b"java/lang/Boolean",
                b'B' => b"java/lang/Byte",
                b'C' => b"java/lang/Character",
                b'S' => b"java/lang/Short",
                b'I' => b"java/lang/Integer",
                b'J' => b"java/lang/Long",
                b'F' => b"java/lang/Float",
                _ => b"java/lang/Double",
            };
            let descriptor = [b"(", &[base][..], b")L", name, b";"].concat();
            let value_of = MemberRef::new(name, b"valueOf", &descriptor);
            steps.push(Step::Call(tag::METHODREF, value_of.into()));
        }
        steps.push(Step::Plain(opcode::AASTORE));
        local += argument.slots();
    }
    steps
}

/// Allocates an array through helpers; `local` then follows the arguments.
fn putting(arguments: &[u8], local: &mut u16) -> Vec<Step> {
    let descriptor = [b"(", arguments, b")V"].concat();
    let Ok(parsed) = MethodDescriptor::parse(&descriptor) else { return Vec::new() };
    let helper = |name: &[u8], descriptor: &[u8]| Step::Helper(NameAndType::new(name, descriptor).into());
    let array = helper(b"cct$markerArray", b"(I)Ljava/lang/Object;");
    let mut steps = vec![Step::Int(parsed.arguments().count() as u16), array];
    for (position, argument) in parsed.arguments().enumerate() {
        steps.extend([Step::Plain(opcode::DUP), Step::Int(position as u16)]);
        steps.extend(Kind::of(argument).map(|kind| Step::Load(kind, *local)));
        let value = match argument {
            FieldType::Base(base) => vec![base],
            _ => OBJECT.to_vec(),
        };
        let descriptor = [b"(Ljava/lang/Object;I", &value[..], b")V"].concat();
        steps.push(helper(b"cct$markerPut", &descriptor));
        *local += argument.slots();
    }
    steps
}

fn guard(opcode: u8, word: u16) -> Step {
    let name = format!("cct$markers{word}");
    Step::Field(opcode, NameAndType::new(name.as_bytes(), b"I").into())
}

/// The tag of references to methods of the class itself.
fn own_tag(class: &ClassFile<'_>) -> u8 {
    if class.is_interface() { tag::INTERFACE_METHODREF } else { tag::METHODREF }
}
