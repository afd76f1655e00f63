//! Small class files for tests: names, flags and hierarchy, with minimal code. Also executable
//! files that tests run ([`executable`]). For `dev-dependencies` only.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod executable;

use cct_classfile::bytes::PutBytes;
use cct_classfile::{access, opcode};

/// The builder of a class.
#[derive(Debug, Clone)]
pub struct TestClass {
    name: &'static str,
    superclass: &'static str,
    interfaces: Vec<&'static str>,
    access: u16,
    methods: Vec<(u16, &'static str, String)>,
    /// Methods that code may call: owner, name, descriptor.
    references: Vec<[&'static str; 3]>,
    /// Code of concrete methods: two instructions, so that no method is empty.
    code: Vec<u8>,
    /// Catch-all handlers of that code: start, end, handler.
    handlers: Vec<[u16; 3]>,
    /// Attributes of that code: names and contents.
    tables: Vec<(&'static str, Vec<u8>)>,
}

/// A public class without methods.
pub fn class(name: &'static str) -> TestClass {
    let access = access::PUBLIC | access::SUPER;
    let code = vec![opcode::ACONST_NULL, opcode::ATHROW];
    TestClass {
        name,
        superclass: "java/lang/Object",
        interfaces: Vec::new(),
        access,
        methods: Vec::new(),
        references: Vec::new(),
        code,
        handlers: Vec::new(),
        tables: Vec::new(),
    }
}

/// A public interface without methods.
pub fn interface(name: &'static str) -> TestClass {
    TestClass { access: access::PUBLIC | access::INTERFACE | access::ABSTRACT, ..class(name) }
}

/// `java/lang/Object`, as far as tests need it.
pub fn object() -> TestClass {
    TestClass { superclass: "", ..class("java/lang/Object") }
        .method(access::PUBLIC, "<init>", "()V")
        .method(access::PUBLIC | access::NATIVE | access::FINAL, "getClass", "()Ljava/lang/Class;")
        .method(access::PUBLIC | access::NATIVE, "hashCode", "()I")
        .method(access::PUBLIC, "toString", "()Ljava/lang/String;")
        .method(access::PROTECTED, "finalize", "()V")
}

impl TestClass {
    /// Sets the superclass.
    pub fn extends(mut self, name: &'static str) -> Self {
        self.superclass = name;
        self
    }

    /// Adds a superinterface.
    pub fn implements(mut self, name: &'static str) -> Self {
        self.interfaces.push(name);
        self
    }

    /// Adds access flags.
    pub fn flags(mut self, flags: u16) -> Self {
        self.access |= flags;
        self
    }

    /// Adds a method; code is added to one that is neither abstract nor native.
    pub fn method(mut self, flags: u16, name: &'static str, descriptor: impl Into<String>) -> Self {
        self.methods.push((flags, name, descriptor.into()));
        self
    }

    /// Adds a method that code may call: the first is number 6 in the constant pool, the next 12,
    /// and so on.
    pub fn reference(mut self, owner: &'static str, name: &'static str, descriptor: &'static str) -> Self {
        self.references.push([owner, name, descriptor]);
        self
    }

    /// Sets the code of all its concrete methods.
    pub fn with_code(mut self, code: Vec<u8>) -> Self {
        self.code = code;
        self
    }

    /// Sets the exception handlers of that code.
    pub fn with_handlers(mut self, handlers: Vec<[u16; 3]>) -> Self {
        self.handlers = handlers;
        self
    }

    /// Adds an attribute of that code: rows of numbers after their count. In a class without
    /// references, constant 1 is `Code`, 2 the class's name and 3 its superclass's.
    pub fn with_table<const N: usize>(mut self, name: &'static str, rows: &[[u16; N]]) -> Self {
        let mut table = Vec::new();
        table.put2(rows.len() as u16);
        rows.iter().flatten().for_each(|&number| table.put2(number));
        self.tables.push((name, table));
        self
    }

    /// The class file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut pool = Vec::new();
        let mut count = 1u16;
        for texts in &self.references {
            for text in texts {
                pool.put1(1);
                pool.put2(text.len() as u16);
                pool.extend_from_slice(text.as_bytes());
            }
            // CONSTANT_Class of the owner, NameAndType, Methodref.
            pool.put1(7);
            pool.put2(count);
            pool.put1(12);
            pool.put2(count + 1);
            pool.put2(count + 2);
            pool.put1(10);
            pool.put2(count + 3);
            pool.put2(count + 4);
            count += 6;
        }
        let mut utf8 = |text: &str| {
            pool.put1(1);
            pool.put2(text.len() as u16);
            pool.extend_from_slice(text.as_bytes());
            count += 1;
            count - 1
        };
        let code = utf8("Code");
        let names: Vec<u16> = [self.name, self.superclass]
            .iter()
            .chain(&self.interfaces)
            .filter(|n| !n.is_empty())
            .map(|n| utf8(n))
            .collect();
        let methods: Vec<(u16, u16)> = self.methods.iter().map(|(_, n, d)| (utf8(n), utf8(d))).collect();
        let tables: Vec<u16> = self.tables.iter().map(|(name, _)| utf8(name)).collect();
        let first_class = count;
        for name in &names {
            pool.put1(7);
            pool.put2(*name);
        }
        let total = first_class + names.len() as u16;
        let mut out = Vec::new();
        out.put4(0xCAFE_BABE);
        out.put2(0);
        out.put2(52);
        out.put2(total);
        out.extend(pool);
        out.put2(self.access);
        out.put2(first_class);
        let has_super = u16::from(!self.superclass.is_empty());
        out.put2(has_super * (first_class + 1));
        out.put2(self.interfaces.len() as u16);
        for i in 0..self.interfaces.len() as u16 {
            out.put2(first_class + 1 + has_super + i);
        }
        out.put2(0);
        out.put2(self.methods.len() as u16);
        for ((flags, ..), (name, descriptor)) in self.methods.iter().zip(methods) {
            out.put2(*flags);
            out.put2(name);
            out.put2(descriptor);
            if flags & (access::ABSTRACT | access::NATIVE) != 0 {
                out.put2(0);
                continue;
            }
            out.put2(1);
            out.put2(code);
            let of_tables: usize = self.tables.iter().map(|(_, table)| 6 + table.len()).sum();
            out.put4((12 + self.code.len() + 8 * self.handlers.len() + of_tables) as u32);
            out.put2(1);
            out.put2(4);
            out.put4(self.code.len() as u32);
            out.extend_from_slice(&self.code);
            out.put2(self.handlers.len() as u16);
            for handler in &self.handlers {
                handler.iter().for_each(|&bci| out.put2(bci));
                out.put2(0);
            }
            out.put2(tables.len() as u16);
            for (name, (_, table)) in tables.iter().zip(&self.tables) {
                out.put2(*name);
                out.put4(table.len() as u32);
                out.extend_from_slice(table);
            }
        }
        out.put2(0);
        out
    }
}
