//! Whether the extended forms that classes call are there: what no class tells by itself.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{ClassFile, mutf8};

use crate::convention::EXTENSION;

/// Name and descriptor.
type Signature = (Box<[u8]>, Box<[u8]>);

/// What one class gives to others, and wants of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    name: Box<[u8]>,
    /// The superclass first, then interfaces.
    supers: Vec<Box<[u8]>>,
    /// Extended forms.
    defined: BTreeSet<Signature>,
    /// References to such: owner, name and descriptor.
    wanted: Vec<[Box<[u8]>; 3]>,
}

/// What became of all references to extended forms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linked {
    /// Those that lead to one.
    pub found: u64,
    /// Those whose owner, or a class above it, is not among the classes.
    pub unknown: u64,
    /// Those that lead nowhere: the class that has it, and what it names.
    pub missing: Vec<(String, String)>,
}

impl Links {
    /// Those of a rewritten class; `None` of what is no class.
    pub fn of(rewritten: &[u8]) -> Option<Links> {
        let class = ClassFile::parse(rewritten).ok()?;
        let is_extended = |descriptor: &[u8]| {
            let close = descriptor.iter().rposition(|&b| b == b')').unwrap_or_default();
            descriptor[..close].ends_with(EXTENSION)
        };
        let methods = class.methods.iter().filter(|m| is_extended(m.descriptor));
        let references = class.pool.indices().filter_map(|index| class.pool.member_ref(index).ok());
        let wanted = references.filter(|r| is_extended(r.descriptor));
        Some(Links {
            name: class.name().into(),
            supers: class.super_name().into_iter().chain(class.interface_names()).map(Into::into).collect(),
            defined: methods.map(|m| (m.name.into(), m.descriptor.into())).collect(),
            wanted: wanted.map(|r| [r.class.into(), r.name.into(), r.descriptor.into()]).collect(),
        })
    }
}

/// Follows all references, as the JVM does when it resolves them (JVMS 5.4.3.3): the class that is named, and those above it.
pub fn follow(classes: &[Links]) -> Linked {
    let mut by_name: BTreeMap<&[u8], Vec<&Links>> = BTreeMap::new();
    for class in classes {
        by_name.entry(&*class.name).or_default().push(class);
    }
    let mut linked = Linked::default();
    for class in classes {
        for [owner, name, descriptor] in &class.wanted {
            let signature = (name.clone(), descriptor.clone());
            let (mut due, mut seen) = (vec![&**owner], BTreeSet::new());
            let (mut is_found, mut is_unknown) = (false, false);
            while let (Some(next), false) = (due.pop(), is_found) {
                if !seen.insert(next) {
                    continue;
                }
                let there = by_name.get(next).map_or(&[][..], Vec::as_slice);
                is_unknown |= there.is_empty();
                is_found = there.iter().any(|c| c.defined.contains(&signature));
                due.extend(there.iter().flat_map(|c| c.supers.iter()).map(|s| &**s));
            }
            match (is_found, is_unknown) {
                (true, _) => linked.found += 1,
                (false, true) => linked.unknown += 1,
                (false, false) => {
                    let callee = [&**owner, b".", name, descriptor].concat();
                    let text = |bytes: &[u8]| mutf8::decode_lossy(bytes).into_owned();
                    linked.missing.push((text(&class.name), text(&callee)));
                }
            }
        }
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, supers: &[&str], defined: &[&str], wanted: &[[&str; 2]]) -> Links {
        let bytes = |text: &str| text.as_bytes().into();
        let descriptor = || bytes("(J[[[[J)V");
        Links {
            name: bytes(name),
            supers: supers.iter().map(|s| bytes(s)).collect(),
            defined: defined.iter().map(|d| (bytes(d), descriptor())).collect(),
            wanted: wanted.iter().map(|[owner, name]| [bytes(owner), bytes(name), descriptor()]).collect(),
        }
    }

    #[test]
    fn references_are_followed_upwards() {
        let object = class("O", &[], &[], &[]);
        let i = class("I", &["O"], &["d"], &[]);
        let a = class("A", &["O", "I"], &["m"], &[]);
        let wanted = [["B", "m"], ["B", "d"], ["B", "gone"], ["X", "m"], ["C", "m"]];
        let b = class("B", &["A"], &[], &wanted);
        // A cycle, and a class that is not there.
        let c = class("C", &["C", "X"], &[], &[]);
        let linked = follow(&[object, i, a, b, c]);
        assert_eq!((linked.found, linked.unknown), (2, 2));
        assert_eq!(linked.missing, [("B".to_owned(), "B.gone(J[[[[J)V".to_owned())]);
    }
}
