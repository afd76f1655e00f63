//! The meaning of a class file, independent of its compiler: its members, and the instructions of
//! its methods with the constants that they name.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::attributes::{AttributeInfo, ElementValue};
use cct_classfile::constant_pool::tag;
use cct_classfile::{Bci, ClassFile, Code, ConstantPool, Index, Instruction, Member, access, mutf8, opcode};

/// A class file without the order of its constants.
#[derive(Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Flags, names of superclass and interfaces, annotations, constant values, thrown exceptions:
    /// a line each.
    pub declarations: BTreeSet<String>,
    /// The methods' code, by name and descriptor.
    pub bodies: BTreeMap<String, Body>,
}

/// A method's code.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    /// The instructions, with jumps to numbers of instructions, followed by the exception table.
    pub instructions: Vec<String>,
    /// The code's effects beyond its own locals and stack: the members and types that it names, and
    /// its texts.
    pub effects: BTreeSet<String>,
}

/// Reads a class file, which must be sound.
pub fn meaning(bytes: &[u8]) -> Meaning {
    let class = ClassFile::parse(bytes).unwrap();
    let pool = &class.pool;
    let mut declarations = BTreeSet::new();
    let interfaces: Vec<_> = class.interface_names().map(text).collect();
    let super_name = class.super_name().map(text);
    // JDK 8's compiler makes anonymous classes final.
    let number = class.name().rsplit(|&byte| byte == b'$').next().unwrap_or_default();
    let is_anonymous = number.iter().all(u8::is_ascii_digit);
    let flags = class.access_flags & !if is_anonymous { access::FINAL } else { 0 };
    declarations
        .insert(format!("version {} flags {flags:x} {super_name:?} {interfaces:?}", class.major_version));
    declarations.extend(kept(class.attributes.iter(), pool).map(|line| format!("class: {line}")));
    let mut bodies = BTreeMap::new();
    for (kind, members) in [("field", &class.fields), ("method", &class.methods)] {
        for member in members {
            let name = format!("{}{}", text(member.name), text(member.descriptor));
            declarations.insert(format!("{kind} {name} flags {:x}", member.access_flags));
            declarations.extend(kept(member.attributes.iter(), pool).map(|line| format!("{name}: {line}")));
            if let Some(body) = body(&class, member) {
                bodies.insert(name, body);
            }
        }
    }
    Meaning { declarations, bodies }
}

fn text(bytes: &[u8]) -> String {
    mutf8::decode_lossy(bytes).into_owned()
}

/// The attributes that matter to a JVM or a program, except frames, lines and code.
fn kept<'c, 'a>(
    attributes: impl Iterator<Item = &'c cct_classfile::Attribute<'a>>,
    pool: &'c ConstantPool<'a>,
) -> impl Iterator<Item = String>
where
    'a: 'c,
{
    attributes.filter_map(|attribute| match AttributeInfo::parse(attribute, pool).unwrap() {
        AttributeInfo::ConstantValue(value) => Some(format!("value {}", constant(pool, value.0))),
        AttributeInfo::Exceptions(classes) => {
            Some(format!("throws {:?}", classes.iter().map(|c| constant(pool, c.0)).collect::<Vec<_>>()))
        }
        AttributeInfo::RuntimeVisibleAnnotations(list) | AttributeInfo::RuntimeInvisibleAnnotations(list) => {
            let list: Vec<_> = list
                .iter()
                .map(|annotation| {
                    let elements: Vec<_> = annotation
                        .elements
                        .iter()
                        .map(|pair| format!("{}={}", pool.utf8_lossy(pair.name), element(pool, &pair.value)))
                        .collect();
                    format!("{}{elements:?}", pool.utf8_lossy(annotation.type_index))
                })
                .collect();
            Some(format!("annotations {list:?}"))
        }
        AttributeInfo::Signature(signature) => Some(format!("signature {}", pool.utf8_lossy(signature.0))),
        _ => None,
    })
}

fn element(pool: &ConstantPool<'_>, value: &ElementValue) -> String {
    match value {
        ElementValue::Constant { value, .. } => constant(pool, *value),
        ElementValue::Enum { name, .. } => pool.utf8_lossy(*name).into_owned(),
        ElementValue::Class(name) => pool.utf8_lossy(*name).into_owned(),
        ElementValue::Array(values) => {
            format!("{:?}", values.iter().map(|v| element(pool, v)).collect::<Vec<_>>())
        }
        ElementValue::Annotation(_) => "an annotation".into(),
    }
}

/// The text of a constant. Since JDK 18 `getClass` is called by the receiver's type: here it counts
/// as one method.
fn constant(pool: &ConstantPool<'_>, index: Index) -> String {
    match pool.tag(index) {
        Some(tag::CLASS) => format!("class {}", text(pool.class(index).unwrap())),
        Some(tag::STRING) => format!("string {:?}", text(pool.string(index).unwrap())),
        Some(tag::UTF8) => format!("text {:?}", text(pool.utf8(index).unwrap())),
        Some(tag::INTEGER) => format!("int {}", pool.integer(index).unwrap()),
        Some(tag::LONG) => format!("long {}", pool.long(index).unwrap()),
        Some(tag::FLOAT) => format!("float {:x}", pool.float(index).unwrap().to_bits()),
        Some(tag::DOUBLE) => format!("double {:x}", pool.double(index).unwrap().to_bits()),
        Some(tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF) => {
            let member = pool.member_ref(index).unwrap();
            let get_class = member.name == b"getClass" && member.descriptor == b"()Ljava/lang/Class;";
            let owner = if get_class { "java/lang/Object".into() } else { text(member.class) };
            format!("{owner}.{}{}", text(member.name), text(member.descriptor))
        }
        other => format!("a constant of kind {other:?}"),
    }
}

fn body(class: &ClassFile<'_>, method: &Member<'_>) -> Option<Body> {
    let code = Code::of(class, method).unwrap()?;
    let pool = &class.pool;
    let numbers: BTreeMap<Bci, usize> =
        code.instructions().enumerate().map(|(number, instruction)| (instruction.bci, number)).collect();
    let number = |bci: Bci| numbers.get(&bci).copied().unwrap_or(numbers.len());
    let mut instructions = Vec::new();
    let mut effects = BTreeSet::new();
    for instruction in code.instructions() {
        instructions.push(spelled(&instruction, pool, &number));
        // Some compilers omit a cast that changes nothing.
        if let Some(index) = instruction.pool_index().filter(|_| instruction.opcode != opcode::CHECKCAST) {
            let named = constant(pool, index);
            // The null check of an outer instance: `getClass` up to JDK 8.
            let check =
                ["java/lang/Object.getClass()", "java/util/Objects.requireNonNull(Ljava/lang/Object;)"];
            if !check.iter().any(|check| named.starts_with(check)) {
                effects.insert(named);
            }
        }
    }
    for handler in &code.handlers {
        let caught = if handler.catch_type == 0 { "any".into() } else { constant(pool, handler.catch_type) };
        let [start, end, to] = [handler.start, handler.end, handler.handler].map(number);
        instructions.push(format!("{start} to {end}: {caught} at {to}"));
        // Compilers differ in how they close resources and reach `finally`.
        if !matches!(&*caught, "any" | "class java/lang/Throwable") {
            effects.insert(format!("catch {caught}"));
        }
    }
    Some(Body { instructions, effects })
}

/// The text of an instruction: its name, its constant, local or number, and its target
/// instructions.
fn spelled(instruction: &Instruction<'_>, pool: &ConstantPool<'_>, number: &dyn Fn(Bci) -> usize) -> String {
    // A constant with a large index takes a wider instruction, and so does a far jump.
    let code = match instruction.opcode {
        opcode::LDC_W => opcode::LDC,
        opcode::GOTO_W => opcode::GOTO,
        // `getClass` of an interface's instance (see `constant`).
        opcode::INVOKEINTERFACE
            if instruction.pool_index().is_some_and(|i| constant(pool, i).contains("Object.getClass")) =>
        {
            opcode::INVOKEVIRTUAL
        }
        code => code,
    };
    let mut line = opcode::MNEMONICS[usize::from(code)].to_owned();
    if let Some(index) = instruction.pool_index() {
        line += &format!(" {}", constant(pool, index));
    }
    if let Some((local, _)) = instruction.local() {
        line += &format!(" local {local}");
    }
    instruction.for_each_target(|bci| line += &format!(" to {}", number(bci)));
    if let Some(switch) = instruction.switch() {
        line += &format!(" keys {:?}", switch.cases().map(|(key, _)| key).collect::<Vec<_>>());
    }
    if matches!(
        code,
        opcode::BIPUSH | opcode::SIPUSH | opcode::NEWARRAY | opcode::MULTIANEWARRAY | opcode::IINC
    ) {
        let operands = &instruction.bytes[1 + usize::from(instruction.is_wide())..];
        let last = if code == opcode::MULTIANEWARRAY { &operands[2..] } else { operands };
        line += &format!(" {last:?}");
    }
    line
}
