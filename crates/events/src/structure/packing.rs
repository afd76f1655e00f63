//! The packed form of classes: names once each, numbers with seven bits a byte.

use super::{Block, CallSite, CalleeEvents, Class, Handler, METRICS, Method, Name, Recording};
use crate::packed::{Unpacker, bytes, number};

/// The bits after those of a block's metrics. The first: the next block has no event, and its
/// number follows. The second: there is no other event up to the method's end.
const HAS_NEXT: u64 = 1 << METRICS.len();
const IS_LAST: u64 = HAS_NEXT << 1;

/// Names, each once.
#[derive(Debug, Default)]
struct Names {
    list: Vec<Box<[u8]>>,
    places: std::collections::BTreeMap<Box<[u8]>, u64>,
}

impl Names {
    fn place(&mut self, name: &[u8]) -> u64 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.list.len() as u64;
        self.list.push(name.into());
        self.places.insert(name.into(), place);
        place
    }
}

impl Class {
    /// Appends its bytes, preceded by their number.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let mut names = Names::default();
        let mut body = Vec::new();
        number(&mut body, names.place(&self.name));
        number(&mut body, self.super_name.as_ref().map_or(0, |name| 1 + names.place(name)));
        number(&mut body, self.interfaces.len() as u64);
        for name in &self.interfaces {
            number(&mut body, names.place(name));
        }
        number(&mut body, self.access.into());
        number(&mut body, self.field_bytes.into());
        number(&mut body, self.source.as_ref().map_or(0, |name| 1 + names.place(name)));
        number(&mut body, self.methods.len() as u64);
        for method in &self.methods {
            method.pack(&mut names, &mut body);
        }
        let mut whole = Vec::with_capacity(body.len() + 64);
        number(&mut whole, self.number.into());
        number(&mut whole, self.first_method.into());
        whole.extend_from_slice(&self.hash.to_le_bytes());
        number(&mut whole, names.list.len() as u64);
        for name in &names.list {
            bytes(&mut whole, name);
        }
        whole.extend_from_slice(&body);
        bytes(out, &whole);
    }

    /// Splits the bytes of one class off the front and parses them; `None` if they are invalid.
    pub fn unpack(from: &mut &[u8]) -> Option<Class> {
        Self::of_bytes(Self::split(from)?)
    }

    /// Splits the bytes of one class, without their number, off the front.
    pub fn split<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
        let mut unpacker = Unpacker(from);
        let whole = unpacker.bytes()?;
        *from = unpacker.0;
        Some(whole)
    }

    /// The head of a class, for finding it: numbers of the class, its first method and its methods,
    /// and its name.
    pub fn head(whole: &[u8]) -> Option<ClassHead<'_>> {
        let mut unpacker = Unpacker(whole);
        let (number, first_method) = (unpacker.u32()?, unpacker.u32()?);
        let (hash, rest) = unpacker.0.split_first_chunk()?;
        unpacker.0 = rest;
        let mut names = Vec::new();
        for _ in 0..unpacker.count()? {
            names.push(unpacker.bytes()?);
        }
        let name = names.get(unpacker.number()? as usize)?;
        unpacker.number()?;
        for _ in 0..unpacker.count()? {
            unpacker.number()?;
        }
        unpacker.u16()?;
        unpacker.number()?;
        unpacker.number()?;
        let methods = unpacker.number()? as u32;
        Some(ClassHead { number, first_method, methods, hash: u64::from_le_bytes(*hash), name })
    }

    /// Parses the class with these bytes.
    pub fn of_bytes(whole: &[u8]) -> Option<Class> {
        let mut unpacker = Unpacker(whole);
        let mut class = Class { number: unpacker.u32()?, first_method: unpacker.u32()?, ..Class::default() };
        let (hash, rest) = unpacker.0.split_first_chunk()?;
        class.hash = u64::from_le_bytes(*hash);
        unpacker.0 = rest;
        let mut names = Vec::new();
        for _ in 0..unpacker.count()? {
            // As in class files (JVMS 4.4.7).
            let name = unpacker.bytes().filter(|name| name.len() <= usize::from(u16::MAX))?;
            names.push(Name::from(name));
        }
        let name = |unpacker: &mut Unpacker<'_>| names.get(unpacker.number()? as usize).cloned();
        let maybe = |unpacker: &mut Unpacker<'_>| match unpacker.number()? {
            0 => Some(None),
            place => names.get(place as usize - 1).map(|name| Some(name.clone())),
        };
        class.name = name(&mut unpacker)?;
        class.super_name = maybe(&mut unpacker)?;
        for _ in 0..unpacker.count()? {
            class.interfaces.push(name(&mut unpacker)?);
        }
        class.access = unpacker.u16()?;
        class.field_bytes = unpacker.u32()?;
        class.source = maybe(&mut unpacker)?;
        for _ in 0..unpacker.count()? {
            class.methods.push(Method::unpack(&mut unpacker, &name)?);
        }
        // Each method has a number, and one more number follows the last.
        class.first_method.checked_add(u32::try_from(class.methods.len()).ok()?)?;
        unpacker.0.is_empty().then_some(class)
    }
}

/// The head of a packed class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassHead<'a> {
    /// The class's number.
    pub number: u32,
    /// The number of its first method.
    pub first_method: u32,
    /// Number of its methods.
    pub methods: u32,
    /// Hash of the original class file.
    pub hash: u64,
    /// The class's name.
    pub name: &'a [u8],
}

impl Method {
    fn pack(&self, names: &mut Names, out: &mut Vec<u8>) {
        number(out, names.place(&self.name));
        number(out, names.place(&self.descriptor));
        number(out, self.access.into());
        out.extend_from_slice(&self.id.to_le_bytes());
        number(out, self.recording as u64 | u64::from(self.entry_is_target) << 4);
        number(out, self.blocks.len() as u64);
        let mut before = 0;
        for block in &self.blocks {
            number(out, (block.start - before).into());
            before = block.start;
            let given = block.metrics.iter().enumerate().filter(|(_, value)| **value != 0);
            let metrics: u64 = given.clone().map(|(metric, _)| 1 << metric).sum();
            let next = if block.next.is_some() { HAS_NEXT } else { 0 };
            number(out, metrics | next | if block.is_last { IS_LAST } else { 0 });
            given.for_each(|(_, value)| number(out, (*value).into()));
            if let Some(next) = block.next {
                number(out, next.into());
            }
        }
        number(out, self.calls.len() as u64);
        let mut before = 0;
        for call in &self.calls {
            number(out, (call.bci - before).into());
            before = call.bci;
            number(out, call.place.into());
            out.push(call.opcode);
            number(out, names.place(&call.class));
            number(out, names.place(&call.name));
            number(out, names.place(&call.descriptor));
            out.push(call.counted as u8);
            if call.counted != CalleeEvents::Itself {
                number(out, names.place(&call.callee));
                number(out, call.bytecodes.into());
                out.extend_from_slice(&call.id.to_le_bytes());
            }
        }
        number(out, self.makes.len() as u64);
        for (bci, of) in &self.makes {
            number(out, (*bci).into());
            number(out, names.place(of));
        }
        number(out, self.handlers.len() as u64);
        for handler in &self.handlers {
            number(out, handler.start.into());
            number(out, (handler.end - handler.start).into());
            number(out, handler.block.into());
            number(out, names.place(&handler.catches));
        }
        number(out, self.lines.len() as u64);
        for &(bci, line) in &self.lines {
            number(out, bci.into());
            number(out, line.into());
        }
        bytes(out, &self.code);
    }

    fn unpack(
        unpacker: &mut Unpacker<'_>,
        name: &impl Fn(&mut Unpacker<'_>) -> Option<Name>,
    ) -> Option<Method> {
        let mut method = Method {
            name: name(unpacker)?,
            descriptor: name(unpacker)?,
            access: unpacker.u16()?,
            id: id(unpacker)?,
            ..Method::default()
        };
        let how = unpacker.number()?;
        method.recording = *Recording::ALL.get(how as usize & 0xF)?;
        method.entry_is_target = how & 0x10 != 0;
        let mut start = 0_u32;
        for _ in 0..unpacker.count()? {
            start = start.checked_add(unpacker.u32()?)?;
            let mut block = Block { start, ..Block::default() };
            let given = unpacker.number()?;
            for (metric, value) in block.metrics.iter_mut().enumerate() {
                if given & 1 << metric != 0 {
                    *value = unpacker.u32()?;
                }
            }
            if given & HAS_NEXT != 0 {
                block.next = Some(unpacker.u32()?);
            }
            block.is_last = given & IS_LAST != 0;
            method.blocks.push(block);
        }
        let mut bci = 0_u32;
        for _ in 0..unpacker.count()? {
            bci = bci.checked_add(unpacker.u32()?)?;
            let (place, opcode) = (unpacker.u32()?, unpacker.u8()?);
            let (class, name_, descriptor) = (name(unpacker)?, name(unpacker)?, name(unpacker)?);
            let counted = match unpacker.u8()? {
                0 => CalleeEvents::Itself,
                1 => CalleeEvents::Always,
                2 => CalleeEvents::Perhaps,
                _ => return None,
            };
            let mut call = CallSite {
                bci,
                place,
                opcode,
                class,
                name: name_,
                descriptor,
                counted,
                ..CallSite::default()
            };
            if counted != CalleeEvents::Itself {
                (call.callee, call.bytecodes, call.id) = (name(unpacker)?, unpacker.u32()?, id(unpacker)?);
            }
            method.calls.push(call);
        }
        for _ in 0..unpacker.count()? {
            method.makes.push((unpacker.u32()?, name(unpacker)?));
        }
        for _ in 0..unpacker.count()? {
            let start = unpacker.u32()?;
            let end = start.checked_add(unpacker.u32()?)?;
            method.handlers.push(Handler { start, end, block: unpacker.u32()?, catches: name(unpacker)? });
        }
        for _ in 0..unpacker.count()? {
            method.lines.push((unpacker.u32()?, unpacker.u32()?));
        }
        method.code = unpacker.bytes()?.into();
        Some(method)
    }
}

fn id(unpacker: &mut Unpacker<'_>) -> Option<u64> {
    let (id, rest) = unpacker.0.split_first_chunk()?;
    unpacker.0 = rest;
    Some(u64::from_le_bytes(*id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class() -> Class {
        let mut block = Block { start: 3, ..Block::default() };
        block.metrics[0] = 7;
        block.metrics[18] = 1;
        (block.next, block.is_last) = (Some(0), true);
        let leaf = CallSite {
            bci: 9,
            place: 2,
            opcode: 182,
            class: (*b"a/B").into(),
            name: (*b"hashCode").into(),
            descriptor: (*b"()I").into(),
            counted: CalleeEvents::Perhaps,
            callee: (*b"java/lang/Object").into(),
            bytecodes: 1,
            id: u64::MAX - 5,
        };
        let method = Method {
            name: (*b"m").into(),
            descriptor: (*b"()V").into(),
            access: 0x21,
            id: 1 << 63 | 5,
            recording: Recording::Full,
            entry_is_target: true,
            blocks: vec![Block::default(), block],
            calls: vec![
                leaf.clone(),
                CallSite {
                    bci: 12,
                    counted: CalleeEvents::Itself,
                    callee: [].into(),
                    bytecodes: 0,
                    id: 0,
                    ..leaf
                },
            ],
            makes: vec![(2, (*b"[I").into())],
            handlers: vec![Handler { start: 1, end: 9, block: 1, catches: [].into() }],
            lines: vec![(0, 70000)],
            code: (*b"\0\x01\x02").into(),
        };
        Class {
            number: 300,
            first_method: 1 << 20,
            hash: 77,
            name: (*b"a/B").into(),
            super_name: Some((*b"java/lang/Object").into()),
            interfaces: vec![(*b"a/I").into()],
            access: 0x421,
            field_bytes: 12,
            source: Some((*b"B.java").into()),
            methods: vec![method, Method::default()],
        }
    }

    #[test]
    fn packed_bytes_unpack() {
        let (mut packed, class) = (Vec::new(), class());
        class.pack(&mut packed);
        Class::default().pack(&mut packed);
        let mut rest = &packed[..];
        let whole = Class::split(&mut rest).unwrap();
        let head = Class::head(whole).unwrap();
        assert_eq!((head.number, head.first_method, head.methods, head.hash), (300, 1 << 20, 2, 77));
        assert_eq!(head.name, b"a/B");
        assert_eq!(Class::of_bytes(whole), Some(class));
        assert_eq!(Class::unpack(&mut rest), Some(Class::default()));
        assert!(rest.is_empty());
    }

    /// Otherwise a compressed file of some kilobytes would take gigabytes.
    #[test]
    fn a_name_is_there_once_however_many_use_it() {
        let name: Name = vec![b'a'; 0xFFFF].into();
        let class = Class { name: name.clone(), interfaces: vec![name; 1 << 16], ..Class::default() };
        let mut packed = Vec::new();
        class.pack(&mut packed);
        assert!(packed.len() < 3 << 16, "{}", packed.len());
        let read = Class::unpack(&mut &packed[..]).unwrap();
        assert_eq!(read.interfaces.len(), 1 << 16);
        assert!(read.interfaces.iter().all(|interface| std::sync::Arc::ptr_eq(interface, &read.name)));
        let longer = Class { name: vec![b'a'; 0x1_0000].into(), ..Class::default() };
        let mut packed = Vec::new();
        longer.pack(&mut packed);
        assert_eq!(Class::unpack(&mut &packed[..]), None, "no class file has such a name");
    }

    /// Otherwise a loop over methods and their numbers would overflow.
    #[test]
    fn methods_have_numbers() {
        for (first_method, is_class) in [(u32::MAX - 2, true), (u32::MAX - 1, false), (u32::MAX, false)] {
            let mut packed = Vec::new();
            Class { first_method, ..class() }.pack(&mut packed);
            assert_eq!(Class::unpack(&mut &packed[..]).is_some(), is_class, "{first_method}");
        }
    }

    #[test]
    fn truncated_and_altered_bytes_are_no_class_and_no_panic() {
        let mut packed = Vec::new();
        class().pack(&mut packed);
        for length in 0..packed.len() {
            assert_eq!(Class::unpack(&mut &packed[..length]), None);
        }
        arbtest::arbtest(|u| {
            let mut altered = packed.clone();
            for _ in 0..u.int_in_range(1..=4)? {
                let at = u.choose_index(altered.len())?;
                altered[at] = u.arbitrary()?;
            }
            let _ = Class::unpack(&mut &altered[..]);
            let _ = Class::head(&altered);
            Ok(())
        });
    }

    #[test]
    fn blocks_are_found_by_what_is_in_them() {
        let method = &class().methods[0];
        assert_eq!([0, 2, 3, 100].map(|bci| method.block_at(bci)), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(method.call_at(12).map(|call| call.bci), Some(12));
        assert_eq!(method.call_at(10), None);
        assert_eq!((method.made_at(2), method.made_at(3)), (Some(&b"[I"[..]), None));
    }
}
