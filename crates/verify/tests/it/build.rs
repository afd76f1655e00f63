//! Small class files that no compiler generates.

use std::collections::BTreeMap;

use cct_classfile::access;
use cct_classfile::constant_pool::tag;

/// Code: `max_stack` and `max_locals`, the bytes, and the exception table as in the file.
#[derive(Debug, Clone, Default)]
pub struct Body {
    pub limits: (u16, u16),
    pub code: Vec<u8>,
    pub handlers: Vec<[u16; 4]>,
    /// The frames as in a StackMapTable, and their number.
    pub frames: Option<(u16, Vec<u8>)>,
}

/// The builder of a class file.
#[derive(Debug, Clone)]
pub struct Builder {
    pool: Vec<u8>,
    count: u16,
    known: BTreeMap<Vec<u8>, u16>,
    head: [u16; 3],
    interfaces: Vec<u16>,
    fields: Vec<u8>,
    methods: Vec<u8>,
    numbers: [u16; 2],
    version: u8,
}

impl Builder {
    /// A public class.
    pub fn new(name: &str, superclass: Option<&str>) -> Self {
        let mut class = Builder {
            pool: Vec::new(),
            count: 1,
            known: BTreeMap::new(),
            head: [access::PUBLIC | access::SUPER, 0, 0],
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            numbers: [0; 2],
            version: 52,
        };
        class.head[1] = class.class(name);
        class.head[2] = superclass.map_or(0, |name| class.class(name));
        class
    }

    pub fn flags(mut self, flags: u16) -> Self {
        self.head[0] = flags;
        self
    }

    pub fn implements(mut self, names: &[&str]) -> Self {
        self.interfaces = names.iter().map(|name| self.class(name)).collect();
        self
    }

    fn constant(&mut self, bytes: Vec<u8>) -> u16 {
        if let Some(known) = self.known.get(&bytes) {
            return *known;
        }
        self.pool.extend(&bytes);
        self.known.insert(bytes, self.count);
        self.count += 1;
        self.count - 1
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> u16 {
        self.constant([&[tag][..], &first.to_be_bytes(), &second.to_be_bytes()].concat())
    }

    pub fn utf8(&mut self, text: &str) -> u16 {
        self.constant([&[tag::UTF8][..], &(text.len() as u16).to_be_bytes(), text.as_bytes()].concat())
    }

    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.constant([&[tag::CLASS][..], &name.to_be_bytes()].concat())
    }

    /// A reference to a method or a field.
    pub fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let (class, name, descriptor) = (self.class(class), self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.pair(tag::NAME_AND_TYPE, name, descriptor);
        self.pair(tag, class, name_and_type)
    }

    pub fn field(&mut self, flags: u16, name: &str, descriptor: &str) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        put(&mut self.fields, &[flags, name, descriptor, 0]);
        self.numbers[0] += 1;
    }

    pub fn method(&mut self, flags: u16, name: &str, descriptor: &str, body: Option<Body>) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        put(&mut self.methods, &[flags, name, descriptor]);
        self.numbers[1] += 1;
        let Some(body) = body else { return self.methods.extend([0, 0]) };
        let mut data = Vec::new();
        put(&mut data, &[body.limits.0, body.limits.1]);
        data.extend((body.code.len() as u32).to_be_bytes());
        data.extend(&body.code);
        data.extend((body.handlers.len() as u16).to_be_bytes());
        body.handlers.iter().for_each(|entry| put(&mut data, entry));
        match body.frames {
            None => data.extend([0, 0]),
            Some((count, frames)) => {
                let name = self.utf8("StackMapTable");
                data.extend([0, 1]);
                data.extend(name.to_be_bytes());
                data.extend((frames.len() as u32 + 2).to_be_bytes());
                data.extend(count.to_be_bytes());
                data.extend(frames);
            }
        }
        let name = self.utf8("Code");
        self.methods.extend([0, 1]);
        self.methods.extend(name.to_be_bytes());
        self.methods.extend((data.len() as u32).to_be_bytes());
        self.methods.extend(data);
    }

    /// Sets a version whose methods need no frames.
    pub fn old(mut self) -> Self {
        self.version = 49;
        self
    }

    /// The class file: of version 52, or of an old version.
    pub fn bytes(self) -> Vec<u8> {
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, self.version];
        out.extend(self.count.to_be_bytes());
        out.extend(&self.pool);
        put(&mut out, &self.head);
        out.extend((self.interfaces.len() as u16).to_be_bytes());
        put(&mut out, &self.interfaces);
        out.extend(self.numbers[0].to_be_bytes());
        out.extend(&self.fields);
        out.extend(self.numbers[1].to_be_bytes());
        out.extend(&self.methods);
        out.extend([0, 0]);
        out
    }
}

fn put(out: &mut Vec<u8>, parts: &[u16]) {
    parts.iter().for_each(|part| out.extend(part.to_be_bytes()));
}
