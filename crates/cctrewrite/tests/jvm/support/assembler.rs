//! A small assembler for class files that no compiler produces.

use std::collections::HashMap;

use cct_classfile::bytes::PutBytes as _;
use cct_classfile::opcode as op;

/// Flag values (JVMS 4.1, 4.5, 4.6).
pub mod flags {
    pub const PUBLIC: u16 = 1;
    pub const STATIC: u16 = 8;
    pub const SUPER: u16 = 0x20;
    pub const INTERFACE: u16 = 0x200;
    pub const ABSTRACT: u16 = 0x400;
}

use flags::{PUBLIC, STATIC};

/// A class under construction.
#[derive(Debug)]
pub struct ClassAssembler {
    version: u16,
    access: u16,
    /// Internal name.
    pub name: String,
    super_name: String,
    interfaces: Vec<String>,
    pool: Pool,
    fields: Vec<Vec<u8>>,
    methods: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Pool {
    bytes: Vec<u8>,
    entries: HashMap<Vec<u8>, u16>,
    next: u16,
}

impl Pool {
    fn add(&mut self, entry: Vec<u8>) -> u16 {
        // The tags of long and double take two indices.
        let places = if matches!(entry[0], 5 | 6) { 2 } else { 1 };
        let next = self.next.max(1);
        if let Some(&index) = self.entries.get(&entry) {
            return index;
        }
        self.bytes.extend_from_slice(&entry);
        self.entries.insert(entry, next);
        self.next = next + places;
        next
    }

    fn utf8(&mut self, text: &str) -> u16 {
        let mut entry = vec![1];
        entry.put2(text.len() as u16);
        entry.extend_from_slice(text.as_bytes());
        self.add(entry)
    }

    fn pair(&mut self, tag: u8, a: u16, b: u16) -> u16 {
        let mut entry = vec![tag];
        entry.put2(a);
        entry.put2(b);
        self.add(entry)
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        let mut entry = vec![7];
        entry.put2(name);
        self.add(entry)
    }

    /// `tag` is 9 for fields, 10 for methods, 11 for methods of interfaces; `member` is
    /// `owner.name:descriptor`.
    fn member(&mut self, tag: u8, member: &str) -> u16 {
        let (owner, rest) = member.split_once('.').unwrap();
        let (name, descriptor) = rest.split_once(':').unwrap();
        let class = self.class(owner);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.pair(12, name, descriptor);
        self.pair(tag, class, name_and_type)
    }
}

impl ClassAssembler {
    /// A public class.
    pub fn new(version: u16, name: &str, super_name: &str) -> ClassAssembler {
        ClassAssembler {
            version,
            access: PUBLIC | flags::SUPER,
            name: name.to_owned(),
            super_name: super_name.to_owned(),
            interfaces: Vec::new(),
            pool: Pool::default(),
            fields: Vec::new(),
            methods: Vec::new(),
        }
    }

    /// A public interface.
    pub fn interface(version: u16, name: &str) -> ClassAssembler {
        let mut class = ClassAssembler::new(version, name, "java/lang/Object");
        class.access = PUBLIC | flags::INTERFACE | flags::ABSTRACT;
        class
    }

    /// Implements an interface.
    pub fn implement(&mut self, name: &str) {
        self.interfaces.push(name.to_owned());
    }

    /// Adds a field.
    pub fn field(&mut self, access: u16, name: &str, descriptor: &str) {
        let mut field = Vec::new();
        field.put2(access);
        field.put2(self.pool.utf8(name));
        field.put2(self.pool.utf8(descriptor));
        field.put2(0);
        self.fields.push(field);
    }

    /// Adds an abstract method.
    pub fn abstract_method(&mut self, name: &str, descriptor: &str) {
        let mut method = Vec::new();
        method.put2(PUBLIC | flags::ABSTRACT);
        method.put2(self.pool.utf8(name));
        method.put2(self.pool.utf8(descriptor));
        method.put2(0);
        self.methods.push(method);
    }

    /// Adds a method with code.
    pub fn method(
        &mut self,
        access: u16,
        signature: &str,
        max_stack: u16,
        max_locals: u16,
        code: impl FnOnce(&mut CodeAssembler<'_>),
    ) {
        let at = signature.find('(').unwrap();
        let (name, descriptor) = signature.split_at(at);
        let mut assembler = CodeAssembler {
            pool: &mut self.pool,
            bytes: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
            handlers: Vec::new(),
            frames: Vec::new(),
            attributes: Vec::new(),
        };
        code(&mut assembler);
        let attribute = assembler.finish(max_stack, max_locals);
        let mut method = Vec::new();
        method.put2(access);
        method.put2(self.pool.utf8(name));
        method.put2(self.pool.utf8(descriptor));
        method.put2(1);
        method.extend_from_slice(&attribute);
        self.methods.push(method);
    }

    /// Adds `public static int run()`.
    pub fn run(&mut self, max_stack: u16, max_locals: u16, code: impl FnOnce(&mut CodeAssembler<'_>)) {
        self.method(PUBLIC | STATIC, "run()I", max_stack, max_locals, code);
    }

    /// The class file.
    pub fn finish(mut self) -> Vec<u8> {
        let (this_class, super_class) = (self.pool.class(&self.name), self.pool.class(&self.super_name));
        let interfaces: Vec<u16> = self.interfaces.iter().map(|name| self.pool.class(name)).collect();
        let mut out = Vec::new();
        out.put4(0xCAFE_BABE);
        out.put2(0);
        out.put2(self.version);
        out.put2(self.pool.next);
        out.extend_from_slice(&self.pool.bytes);
        out.put2(self.access);
        out.put2(this_class);
        out.put2(super_class);
        out.put2(interfaces.len() as u16);
        interfaces.iter().for_each(|i| out.put2(*i));
        for members in [&self.fields, &self.methods] {
            out.put2(members.len() as u16);
            members.iter().for_each(|m| out.extend_from_slice(m));
        }
        out.put2(0);
        out
    }
}

/// A place in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// A verification type of a stack-map frame (JVMS 4.7.4).
#[derive(Debug, Clone, Copy)]
pub enum Type {
    Int,
    Long,
    UninitializedThis,
    Object(&'static str),
}

/// The code of a method under construction.
#[derive(Debug)]
pub struct CodeAssembler<'p> {
    pool: &'p mut Pool,
    bytes: Vec<u8>,
    labels: Vec<usize>,
    /// Start of the instruction, position of the offset, whether it has four bytes, target.
    jumps: Vec<(usize, usize, bool, Label)>,
    handlers: Vec<(Label, Label, Label, u16)>,
    frames: Vec<(usize, Vec<u8>)>,
    attributes: Vec<(String, Vec<u8>)>,
}

impl CodeAssembler<'_> {
    /// Instructions without operands.
    pub fn ops(&mut self, opcodes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(opcodes);
        self
    }

    /// An instruction whose operand is one byte: a local or a small number.
    pub fn with(&mut self, opcode: u8, operand: u8) -> &mut Self {
        self.ops(&[opcode, operand])
    }

    fn indexed(&mut self, opcode: u8, index: u16) -> &mut Self {
        self.bytes.push(opcode);
        self.bytes.put2(index);
        self
    }

    /// An instruction on a class.
    pub fn class(&mut self, opcode: u8, name: &str) -> &mut Self {
        let index = self.pool.class(name);
        self.indexed(opcode, index)
    }

    /// An instruction on a field, `owner.name:descriptor`.
    pub fn field(&mut self, opcode: u8, member: &str) -> &mut Self {
        let index = self.pool.member(9, member);
        self.indexed(opcode, index)
    }

    /// A call, `owner.name:descriptor`.
    pub fn call(&mut self, opcode: u8, member: &str) -> &mut Self {
        let index = self.pool.member(10, member);
        self.indexed(opcode, index)
    }

    /// A call of an interface's method; `slots` counts `this` too.
    pub fn call_interface(&mut self, member: &str, slots: u8) -> &mut Self {
        let index = self.pool.member(11, member);
        self.indexed(op::INVOKEINTERFACE, index).ops(&[slots, 0])
    }

    /// A label that is placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// Places an existing label here.
    pub fn place(&mut self, label: Label) -> &mut Self {
        self.labels[label.0] = self.bytes.len();
        self
    }

    /// Places a new label here.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    /// Adds a jump.
    pub fn jump(&mut self, opcode: u8, to: Label) -> &mut Self {
        let wide = matches!(opcode, op::GOTO_W | op::JSR_W);
        self.jumps.push((self.bytes.len(), self.bytes.len() + 1, wide, to));
        self.bytes.push(opcode);
        self.bytes.extend_from_slice(if wide { &[0; 4] } else { &[0; 2] });
        self
    }

    /// A handler; `None` catches everything.
    pub fn handler(&mut self, start: Label, end: Label, handler: Label, class: Option<&str>) -> &mut Self {
        let class = class.map_or(0, |name| self.pool.class(name));
        self.handlers.push((start, end, handler, class));
        self
    }

    /// Adds a stack-map frame with these types.
    pub fn frame(&mut self, locals: &[Type], stack: &[Type]) -> &mut Self {
        let mut frame = Vec::new();
        for types in [locals, stack] {
            frame.put2(types.len() as u16);
            for t in types {
                match t {
                    Type::Int => frame.push(1),
                    Type::Long => frame.push(4),
                    Type::UninitializedThis => frame.push(6),
                    Type::Object(name) => {
                        frame.push(7);
                        frame.put2(self.pool.class(name));
                    }
                }
            }
        }
        self.frames.push((self.bytes.len(), frame));
        self
    }

    /// Adds an attribute of the code, with any content.
    #[allow(dead_code, reason = "for crates/hostile, which has use for this file too")]
    pub fn attribute(&mut self, name: &str, content: Vec<u8>) -> &mut Self {
        self.attributes.push((name.to_owned(), content));
        self
    }

    /// Adds a constant for attributes to refer to.
    #[allow(dead_code, reason = "for crates/hostile, which has use for this file too")]
    pub fn utf8(&mut self, text: &str) -> u16 {
        self.pool.utf8(text)
    }

    fn finish(mut self, max_stack: u16, max_locals: u16) -> Vec<u8> {
        for (start, at, wide, label) in std::mem::take(&mut self.jumps) {
            let offset = self.labels[label.0] as i64 - start as i64;
            if wide {
                self.bytes[at..at + 4].copy_from_slice(&(offset as i32).to_be_bytes());
            } else {
                let short = i16::try_from(offset).expect("a jump within reach");
                self.bytes[at..at + 2].copy_from_slice(&short.to_be_bytes());
            }
        }
        let mut out = Vec::new();
        out.put2(max_stack);
        out.put2(max_locals);
        out.put4(self.bytes.len() as u32);
        out.extend_from_slice(&self.bytes);
        out.put2(self.handlers.len() as u16);
        for (start, end, handler, class) in &self.handlers {
            for label in [start, end, handler] {
                out.put2(self.labels[label.0] as u16);
            }
            out.put2(*class);
        }
        if !self.frames.is_empty() {
            self.frames.sort_by_key(|(at, _)| *at);
            let mut table = Vec::new();
            table.put2(self.frames.len() as u16);
            let mut before = None;
            for (at, frame) in &self.frames {
                table.push(255);
                table.put2(before.map_or(*at, |b| at - b - 1) as u16);
                table.extend_from_slice(frame);
                before = Some(*at);
            }
            self.attributes.push(("StackMapTable".to_owned(), table));
        }
        out.put2(self.attributes.len() as u16);
        for (name, content) in &self.attributes {
            out.put2(self.pool.utf8(name));
            out.put4(content.len() as u32);
            out.extend_from_slice(content);
        }
        let mut attribute = Vec::new();
        attribute.put2(self.pool.utf8("Code"));
        attribute.put4(out.len() as u32);
        attribute.extend_from_slice(&out);
        attribute
    }
}
