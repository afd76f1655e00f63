//! A reader of profiles, written from docs/reference/formats/profile.md alone; it checks the
//! format's guarantees.

use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    pub meta: BTreeMap<String, String>,
    pub notes: Vec<String>,
    /// The methods: `class.namedescriptor`, flags, MID.
    pub methods: Vec<(String, u64, u64)>,
    pub trees: Vec<Tree>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    pub name: String,
    pub threads: u64,
    pub flags: u64,
    /// The nodes in preorder.
    pub nodes: Vec<Node>,
    pub sections: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Node {
    /// Index into `methods` plus one; 0 for the root.
    pub method: usize,
    pub calls: u64,
    pub bytecodes: u64,
    pub children: u64,
    pub depth: usize,
}

impl Profile {
    pub fn tree(&self, name: &str) -> &Tree {
        let mut named = self.trees.iter().filter(|tree| tree.name == name);
        let tree = named.next().unwrap_or_else(|| panic!("no thread {name}"));
        assert!(named.next().is_none(), "two trees {name}");
        tree
    }

    /// A tree as indented lines `method calls bytecodes`, without its root.
    pub fn text(&self, tree: &str) -> String {
        let nodes = &self.tree(tree).nodes[1..];
        let line = |n: &Node| {
            format!(
                "{}{} {} {}\n",
                "  ".repeat(n.depth - 1),
                self.methods[n.method - 1].0,
                n.calls,
                n.bytecodes
            )
        };
        nodes.iter().map(line).collect()
    }
}

pub fn read(bytes: &[u8]) -> Profile {
    assert_eq!(&bytes[..12], b"\x89CCT\r\n\x1a\n\0\0\0\x01");
    let mut at = 12;
    let mut tags = Vec::new();
    let mut profile =
        Profile { meta: BTreeMap::new(), notes: Vec::new(), methods: Vec::new(), trees: Vec::new() };
    let mut strings = Vec::new();
    let mut open = Vec::new();
    while at < bytes.len() {
        let tag = String::from_utf8(bytes[at..at + 4].to_vec()).unwrap();
        let length = u64::from_be_bytes(bytes[at + 4..at + 12].try_into().unwrap()) as usize;
        let end = at + 12 + length;
        let crc = u32::from_be_bytes(bytes[end..end + 4].try_into().unwrap());
        assert_eq!(crc, crc32fast::hash(&bytes[at..end]), "checksum of {tag}");
        let mut input = Input { bytes: &bytes[at + 12..end] };
        match tag.as_str() {
            "META" => {
                while !input.bytes.is_empty() {
                    let key = input.string();
                    assert!(profile.meta.last_key_value().is_none_or(|last| *last.0 < key));
                    profile.meta.insert(key, input.string());
                }
            }
            "NOTE" => {
                while !input.bytes.is_empty() {
                    profile.notes.push(input.string());
                }
                assert!(profile.notes.is_sorted());
            }
            "STRS" => {
                strings = (0..input.varint()).map(|_| input.string()).collect();
                assert!(strings.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()));
            }
            "METH" => profile.methods = methods(&mut input, &strings),
            "THRD" => {
                assert!(open.is_empty(), "incomplete tree");
                let name = strings[input.varint() as usize].clone();
                assert!(profile.trees.last().is_none_or(|last| last.name <= name));
                let (threads, flags) = (input.varint(), input.varint());
                profile.trees.push(Tree { name, threads, flags, nodes: Vec::new(), sections: 0 });
                open.push((1, 0));
            }
            "NODE" => nodes(&mut input, profile.trees.last_mut().unwrap(), &mut open),
            "DONE" => assert_eq!(end + 4, bytes.len()),
            other => panic!("section {other}"),
        }
        assert!(input.bytes.is_empty(), "{tag} is longer than its content");
        tags.push(tag);
        at = end + 4;
    }
    assert!(open.is_empty(), "incomplete tree");
    tags.dedup();
    assert_eq!(tags.last().unwrap(), "DONE");
    let first: Vec<&str> = tags.iter().map(String::as_str).filter(|t| *t != "NOTE").take(5).collect();
    assert_eq!(first, ["META", "STRS", "METH", "THRD", "NODE"]);
    profile
}

fn methods(input: &mut Input, strings: &[String]) -> Vec<(String, u64, u64)> {
    let mut last = None;
    let methods = (0..input.varint()).map(|_| {
        let names = [input.varint(), input.varint(), input.varint()];
        let flags = input.varint();
        let mid = u64::from_be_bytes(input.bytes[..8].try_into().unwrap());
        input.bytes = &input.bytes[8..];
        assert!(last.is_none_or(|last| last < (names, mid)), "methods are sorted");
        last = Some((names, mid));
        let [class, name, descriptor] = names.map(|n| strings[n as usize].as_str());
        (format!("{class}.{name}{descriptor}"), flags, mid)
    });
    methods.collect()
}

/// Reads a node section. `open` has, for each level, the number of nodes still to follow and the
/// method of the last one.
fn nodes(input: &mut Input, tree: &mut Tree, open: &mut Vec<(u64, usize)>) {
    tree.sections += 1;
    while !input.bytes.is_empty() {
        let method = input.varint() as usize;
        let node = Node {
            method,
            calls: input.varint(),
            bytecodes: input.varint(),
            children: input.varint(),
            depth: open.len() - 1,
        };
        let level = open.last_mut().unwrap();
        assert!(node.depth == 0 || level.1 < method, "children are sorted");
        *level = (level.0 - 1, method);
        open.push((node.children, 0));
        while open.last().is_some_and(|level| level.0 == 0) {
            open.pop();
        }
        tree.nodes.push(node);
    }
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl Input<'_> {
    fn varint(&mut self) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let x = self.bytes[0];
            self.bytes = &self.bytes[1..];
            value |= u64::from(x & 0x7F) << shift;
            shift += 7;
            if x < 0x80 {
                return value;
            }
        }
    }

    fn string(&mut self) -> String {
        let length = self.varint() as usize;
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }
}
