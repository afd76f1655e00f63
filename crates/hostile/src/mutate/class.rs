//! Mutator for class files: it parses them loosely, changes them, and writes them with correct
//! lengths.
//!
//! Its parser is not the tested one: it only knows where parts begin and end.

use cct_classfile::bytes::{Cursor, PutBytes};
use cct_classfile::constant_pool::tag;
use cct_classfile::{Result, opcode};

use super::{MAX_BYTES, damage};
use crate::Dice;

/// A class file in parts.
#[derive(Debug, Clone)]
struct Class {
    version: [u16; 2],
    /// Constants with their tags; the entry after a long or double is empty.
    pool: Vec<Vec<u8>>,
    /// Flags, this class, superclass.
    head: [u16; 3],
    interfaces: Vec<u16>,
    /// Fields, then methods.
    members: [Vec<Member>; 2],
    attributes: Vec<Attribute>,
}

#[derive(Debug, Clone)]
struct Member {
    /// Flags, name, descriptor.
    head: [u16; 3],
    attributes: Vec<Attribute>,
}

#[derive(Debug, Clone)]
struct Attribute {
    name: u16,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Bytes(Vec<u8>),
    Code(Code),
}

#[derive(Debug, Clone)]
struct Code {
    max_stack: u16,
    max_locals: u16,
    bytes: Vec<u8>,
    handlers: Vec<[u16; 4]>,
    attributes: Vec<Attribute>,
}

/// Changes a class file in one to four places.
pub fn class(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Ok(mut class) = Class::parse(input) else { return super::bytes(input, dice) };
    for _ in 0..=dice.below(4) {
        class.change(dice);
    }
    let mut bytes = class.bytes();
    if dice.once_in(12) {
        damage(&mut bytes, dice);
    }
    if bytes.len() > MAX_BYTES { input.to_vec() } else { bytes }
}

impl Class {
    fn parse(bytes: &[u8]) -> Result<Class> {
        let mut cursor = Cursor::new(bytes, 0);
        cursor.u4()?;
        let version = [cursor.u2()?, cursor.u2()?];
        let count = cursor.u2()?;
        let mut pool = vec![Vec::new()];
        while pool.len() < usize::from(count) {
            let tag = cursor.u1()?;
            let mut constant = vec![tag];
            let length = match tag {
                tag::UTF8 => {
                    let length = cursor.u2()?;
                    constant.put2(length);
                    usize::from(length)
                }
                tag::LONG | tag::DOUBLE => 8,
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
                tag::METHOD_HANDLE => 3,
                _ => 4,
            };
            constant.extend_from_slice(cursor.take(length)?);
            pool.push(constant);
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                pool.push(Vec::new());
            }
        }
        let head = [cursor.u2()?, cursor.u2()?, cursor.u2()?];
        let interfaces = (0..cursor.u2()?).map(|_| cursor.u2()).collect::<Result<_>>()?;
        let members = [members(&mut cursor, &pool)?, members(&mut cursor, &pool)?];
        let attributes = attributes(&mut cursor, &pool)?;
        Ok(Class { version, pool, head, interfaces, members, attributes })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put4(0xCAFE_BABE);
        self.version.iter().for_each(|&number| out.put2(number));
        out.put2(self.pool.len() as u16);
        self.pool.iter().for_each(|constant| out.extend_from_slice(constant));
        self.head.iter().for_each(|&number| out.put2(number));
        out.put2(self.interfaces.len() as u16);
        self.interfaces.iter().for_each(|&index| out.put2(index));
        for members in &self.members {
            out.put2(members.len() as u16);
            for member in members {
                member.head.iter().for_each(|&number| out.put2(number));
                write_attributes(&member.attributes, &mut out);
            }
        }
        write_attributes(&self.attributes, &mut out);
        out
    }

    /// Makes one change of any kind.
    fn change(&mut self, dice: &mut Dice) {
        match dice.below(16) {
            0 => self.version = [*dice.pick(&[0, 0, 0, 2, 3, 65535]), 44 + dice.below(28) as u16],
            1..=3 => self.change_constant(dice),
            4 => self.head[dice.below(3)] = dice.below(self.pool.len()) as u16,
            5 => match dice.below(3) {
                0 => self.interfaces.push(dice.below(self.pool.len()) as u16),
                1 => drop(self.interfaces.pop()),
                _ => self.head[0] ^= 1 << dice.below(16),
            },
            6 | 7 => self.change_members(dice),
            8 => self.change_attributes(dice),
            _ => self.change_code(dice),
        }
    }

    fn change_constant(&mut self, dice: &mut Dice) {
        let count = self.pool.len();
        let at = dice.below(count);
        if dice.once_in(4) {
            let copy = self.pool[at].clone();
            let is_two = copy.first().is_some_and(|tag| matches!(*tag, tag::LONG | tag::DOUBLE));
            if count < 65000 && !is_two {
                self.pool.push(copy);
            }
            return;
        }
        let constant = &mut self.pool[at];
        match constant.first().copied() {
            None => {}
            Some(tag::UTF8) => {
                let text: Vec<u8> = match dice.below(4) {
                    0 | 1 => dice.pick(WORDS).to_vec(),
                    2 => {
                        let mut text = constant[3..].to_vec();
                        damage(&mut text, dice);
                        text
                    }
                    _ => {
                        let unit: &[u8] = dice.pick::<&[u8]>(&[
                            &b"J"[..],
                            b"[",
                            b"D",
                            b"Ljava/lang/Object;",
                            b"a/",
                            b"\xED\xA0\x80",
                        ]);
                        let units = unit.repeat(*dice.pick(&[1, 126, 127, 128, 253, 254, 255, 256]));
                        [b"(", &units[..], b")V"].concat()
                    }
                };
                *constant = vec![tag::UTF8];
                constant.put2(text.len() as u16);
                constant.extend_from_slice(&text);
            }
            Some(tag) => {
                let length = constant.len();
                if dice.once_in(8) {
                    // A different kind of the same length.
                    let pairs = [
                        tag::FIELDREF,
                        tag::METHODREF,
                        tag::INTERFACE_METHODREF,
                        tag::NAME_AND_TYPE,
                        tag::DYNAMIC,
                    ];
                    constant[0] = match length {
                        5 => *dice
                            .pick(&[&pairs[..], &[tag::INTEGER, tag::FLOAT, tag::INVOKE_DYNAMIC]].concat()),
                        3 => *dice.pick(&[
                            tag::CLASS,
                            tag::STRING,
                            tag::METHOD_TYPE,
                            tag::MODULE,
                            tag::PACKAGE,
                        ]),
                        _ => tag,
                    };
                } else if length >= 3 {
                    let index = (dice.below(count) as u16).to_be_bytes();
                    let place = if length == 5 && dice.once_in(2) { 1 } else { length - 2 };
                    constant[place..place + 2].copy_from_slice(&index);
                }
            }
        }
    }

    fn change_members(&mut self, dice: &mut Dice) {
        let count = self.pool.len();
        let members = &mut self.members[usize::from(!dice.once_in(4))];
        if members.is_empty() {
            members
                .push(Member { head: [0, 0, 0].map(|_| dice.below(count) as u16), attributes: Vec::new() });
            return;
        }
        let (at, other) = (dice.below(members.len()), dice.below(members.len()));
        match dice.below(6) {
            0 => members[at].head[0] ^= 1 << dice.below(16),
            1 => members[at].head[1 + dice.below(2)] = dice.below(count) as u16,
            2 => {
                let name = members[other].head[1 + dice.below(2)];
                members[at].head[1] = name;
            }
            3 => {
                let copy = members[at].clone();
                members.insert(other, copy);
            }
            4 => drop(members.remove(at)),
            _ => {
                let attributes = members[other].attributes.clone();
                members[at].attributes = attributes;
            }
        }
    }

    /// All attribute tables, including those of code.
    fn tables(&mut self) -> Vec<&mut Vec<Attribute>> {
        let mut tables = Vec::new();
        for member in self.members.iter_mut().flatten() {
            tables.push(&mut member.attributes);
        }
        tables.push(&mut self.attributes);
        tables
    }

    fn change_attributes(&mut self, dice: &mut Dice) {
        let count = self.pool.len();
        let mut tables = self.tables();
        let (from, to) = (dice.below(tables.len()), dice.below(tables.len()));
        let Some(attribute) = tables[from].first().map(|_| dice.below(tables[from].len())) else { return };
        match dice.below(6) {
            0 => drop(tables[from].remove(attribute)),
            1 => {
                let copy = tables[from][attribute].clone();
                tables[to].push(copy);
            }
            2 => {
                let moved = tables[from].remove(attribute);
                tables[to].insert(0, moved);
            }
            3 => tables[from][attribute].name = dice.below(count) as u16,
            _ => match &mut tables[from][attribute].content {
                Content::Bytes(bytes) => damage(bytes, dice),
                Content::Code(code) => code.change_tables(count, dice),
            },
        }
    }

    fn change_code(&mut self, dice: &mut Dice) {
        let count = self.pool.len();
        let methods = &mut self.members[1];
        let attributes = methods.iter_mut().flat_map(|method| &mut method.attributes);
        let mut codes: Vec<&mut Code> = attributes
            .filter_map(|attribute| match &mut attribute.content {
                Content::Code(code) => Some(code),
                Content::Bytes(_) => None,
            })
            .collect();
        if codes.is_empty() {
            return;
        }
        let (at, other) = (dice.below(codes.len()), dice.below(codes.len()));
        match dice.below(10) {
            0 => {
                let bytes = codes[other].bytes.clone();
                codes[at].bytes = bytes;
            }
            1 | 2 => codes[at].change_tables(count, dice),
            _ => codes[at].change_instructions(count, dice),
        }
    }
}

/// Names and texts with a meaning for the JVM or the rewriter.
const WORDS: &[&[u8]] = &[
    b"java/lang/Object",
    b"java/lang/Thread",
    b"java/lang/Throwable",
    b"java/lang/System",
    b"java/lang/ClassLoader",
    b"java/lang/Class",
    b"java/lang/ref/Reference",
    b"java/lang/invoke/MethodHandle",
    b"java/lang/VirtualThread",
    b"sun/misc/Unsafe",
    b"java/util/Random",
    b"jdk/internal/reflect/Reflection",
    b"sun/reflect/Reflection",
    b"java/lang/NullPointerException",
    b"cctrewrite/runtime/CctRuntime",
    b"cctrewrite/runtime/LoadTime",
    b"cctrewrite/api/Recording",
    b"cctrewrite/api/Counts",
    b"cctrewrite",
    b"cct$enter",
    b"<init>",
    b"<clinit>",
    b"finalize",
    b"getClass",
    b"hashCode",
    b"clone",
    b"getCallerClass",
    b"run",
    b"()V",
    b"(J[[[[J)V",
    b"()I",
    b"()Ljava/lang/Class;",
    b"()Ljava/lang/Object;",
    b"J",
    b"I",
    b"[I",
    b"[[Ljava/lang/Object;",
    b"LA;",
    b"Code",
    b"StackMapTable",
    b"LineNumberTable",
    b"LocalVariableTable",
    b"LocalVariableTypeTable",
    b"RuntimeVisibleTypeAnnotations",
    b"RuntimeVisibleAnnotations",
    b"BootstrapMethods",
    b"Module",
    b"ModulePackages",
    b"ModuleHashes",
    b"Exceptions",
    b"InnerClasses",
    b"NestHost",
    b"Record",
    b"Ljdk/internal/reflect/CallerSensitive;",
    b"Lsun/reflect/CallerSensitive;",
    b"Ljdk/internal/vm/annotation/IntrinsicCandidate;",
    b"a",
    b"",
    b"[",
    b"L;",
    b"/",
    b"a//b",
    b"a.b",
    b"\xED\xA0\x80\xED\xB0\x80",
    b"\xED\xA0\x80",
    b"\xC0\x80",
    b"\x00",
    b"\xFF",
    b"module-info",
];

impl Code {
    /// The starts of instructions, as far as the code can be decoded.
    fn starts(&self) -> Vec<usize> {
        let (mut starts, mut at) = (Vec::new(), 0);
        while let Some(length) = instruction_length(&self.bytes, at) {
            starts.push(at);
            at += length;
        }
        if starts.is_empty() { vec![0] } else { starts }
    }

    fn change_tables(&mut self, constants: usize, dice: &mut Dice) {
        let starts = self.starts();
        let place = |dice: &mut Dice| *dice.pick(&starts) as u16;
        match dice.below(8) {
            0 => self.max_stack = dice.number(),
            1 => self.max_locals = dice.number(),
            2 => {
                let end = if dice.once_in(3) { self.bytes.len() as u16 } else { place(dice) };
                let catch = if dice.once_in(2) { 0 } else { dice.below(constants) as u16 };
                let handler = [place(dice), end, place(dice), catch];
                let copies = if dice.once_in(10) { 1 + dice.below(3000) } else { 1 };
                self.handlers.extend(std::iter::repeat_n(handler, copies));
                self.handlers.truncate(65535);
            }
            3 if !self.handlers.is_empty() => {
                let at = dice.below(self.handlers.len());
                self.handlers[at][dice.below(4)] = place(dice);
            }
            // A handler that covers itself.
            4 if !self.handlers.is_empty() => {
                let at = dice.below(self.handlers.len());
                self.handlers[at][0] = self.handlers[at][2];
                self.handlers[at][1] = self.bytes.len() as u16;
            }
            5 if !self.attributes.is_empty() => {
                let at = dice.below(self.attributes.len());
                match dice.below(3) {
                    0 => drop(self.attributes.remove(at)),
                    1 => {
                        let copy = self.attributes[at].clone();
                        self.attributes.push(copy);
                    }
                    _ => self.attributes[at].name = dice.below(constants) as u16,
                }
            }
            _ => {
                if let Some(Attribute { content: Content::Bytes(bytes), .. }) = self.attributes.first_mut() {
                    damage(bytes, dice);
                }
            }
        }
    }

    fn change_instructions(&mut self, constants: usize, dice: &mut Dice) {
        let starts = self.starts();
        let at = *dice.pick(&starts);
        let Some(length) = instruction_length(&self.bytes, at) else { return damage(&mut self.bytes, dice) };
        let target = (*dice.pick(&starts) as i64 - at as i64) as i32;
        match dice.below(12) {
            // A different instruction of the same length.
            0..=2 => {
                let same: Vec<u8> = (0..=u8::MAX)
                    .filter(|&op| usize::from(opcode::LENGTHS[usize::from(op)]) == length)
                    .collect();
                if !same.is_empty() {
                    self.bytes[at] = *dice.pick(&same);
                }
            }
            // A jump to an instruction.
            3 | 4 if length >= 3 => {
                let jumps = [opcode::GOTO, opcode::JSR, opcode::IFEQ, opcode::IFNULL, opcode::IF_ACMPEQ];
                self.bytes[at] = *dice.pick(&jumps);
                self.bytes[at + 1..at + 3].copy_from_slice(&(target as i16).to_be_bytes());
                self.bytes[at + 3..at + length].fill(opcode::NOP);
            }
            5 if length >= 5 => {
                self.bytes[at] = *dice.pick(&[opcode::GOTO_W, opcode::JSR_W]);
                self.bytes[at + 1..at + 5].copy_from_slice(&target.to_be_bytes());
                self.bytes[at + 5..at + length].fill(opcode::NOP);
            }
            6 if length >= 3 => {
                let index = (dice.below(constants) as u16).to_be_bytes();
                self.bytes[at + 1..at + 3].copy_from_slice(&index);
            }
            7 if length >= 4 => {
                let local = dice.number().to_be_bytes();
                self.bytes[at..at + 2].copy_from_slice(&[
                    opcode::WIDE,
                    *dice.pick(&[opcode::ILOAD, opcode::LSTORE, opcode::RET]),
                ]);
                self.bytes[at + 2..at + 4].copy_from_slice(&local);
                self.bytes[at + 4..at + length].fill(opcode::NOP);
            }
            8 if length >= 2 => self.bytes[at + 1 + dice.below(length - 1)] = dice.any() as u8,
            // After the end: the code there need not be valid.
            9 => {
                let tail = self.bytes[at..].to_vec();
                self.bytes.extend_from_slice(&tail);
            }
            10 => {
                let more = *dice.pick(&[1, 200, 33_000, 65_535]);
                let nops = more.min(65_535usize.saturating_sub(self.bytes.len()));
                self.bytes.extend(std::iter::repeat_n(opcode::NOP, nops));
            }
            _ => self.bytes.truncate(at.max(1)),
        }
        self.bytes.truncate(65_535);
    }
}

fn instruction_length(code: &[u8], at: usize) -> Option<usize> {
    let word = |at: usize| Some(i32::from_be_bytes(*code.get(at..)?.first_chunk()?));
    let aligned = (at & !3) + 4;
    let length = match *code.get(at)? {
        opcode::TABLESWITCH => {
            let cases = i64::from(word(aligned + 8)?) - i64::from(word(aligned + 4)?) + 1;
            aligned + 12 - at + 4 * usize::try_from(cases).ok()?
        }
        opcode::LOOKUPSWITCH => aligned + 8 - at + 8 * usize::try_from(word(aligned + 4)?).ok()?,
        opcode::WIDE if code.get(at + 1) == Some(&opcode::IINC) => 6,
        opcode::WIDE => 4,
        op => match opcode::LENGTHS[usize::from(op)] {
            0 => return None,
            length => usize::from(length),
        },
    };
    (length > 0 && at + length <= code.len()).then_some(length)
}

fn members(cursor: &mut Cursor<'_>, pool: &[Vec<u8>]) -> Result<Vec<Member>> {
    let count = cursor.u2()?;
    let member = |_| {
        let head = [cursor.u2()?, cursor.u2()?, cursor.u2()?];
        Ok(Member { head, attributes: attributes(cursor, pool)? })
    };
    (0..count).map(member).collect()
}

fn attributes(cursor: &mut Cursor<'_>, pool: &[Vec<u8>]) -> Result<Vec<Attribute>> {
    let count = cursor.u2()?;
    let mut list = Vec::new();
    for _ in 0..count {
        let name = cursor.u2()?;
        let length = cursor.u4()?;
        let bytes = cursor.take(length as usize)?;
        let is_code = pool.get(usize::from(name)).is_some_and(|constant| constant[..] == *b"\x01\0\x04Code");
        let content = match is_code.then(|| code(bytes, pool)) {
            Some(Ok(code)) => Content::Code(code),
            _ => Content::Bytes(bytes.to_vec()),
        };
        list.push(Attribute { name, content });
    }
    Ok(list)
}

fn code(bytes: &[u8], pool: &[Vec<u8>]) -> Result<Code> {
    let mut cursor = Cursor::new(bytes, 0);
    let (max_stack, max_locals) = (cursor.u2()?, cursor.u2()?);
    let length = cursor.u4()?;
    let code = cursor.take(length as usize)?.to_vec();
    let count = cursor.u2()?;
    let mut handlers = Vec::new();
    for _ in 0..count {
        handlers.push([cursor.u2()?, cursor.u2()?, cursor.u2()?, cursor.u2()?]);
    }
    let attributes = attributes(&mut cursor, pool)?;
    cursor.finish()?;
    Ok(Code { max_stack, max_locals, bytes: code, handlers, attributes })
}

fn write_attributes(attributes: &[Attribute], out: &mut Vec<u8>) {
    out.put2(attributes.len() as u16);
    for attribute in attributes {
        out.put2(attribute.name);
        let start = out.len();
        out.put4(0);
        match &attribute.content {
            Content::Bytes(bytes) => out.extend_from_slice(bytes),
            Content::Code(code) => {
                out.put2(code.max_stack);
                out.put2(code.max_locals);
                out.put4(code.bytes.len() as u32);
                out.extend_from_slice(&code.bytes);
                out.put2(code.handlers.len() as u16);
                code.handlers.iter().flatten().for_each(|&number| out.put2(number));
                write_attributes(&code.attributes, out);
            }
        }
        let length = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}
