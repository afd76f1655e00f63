//! The static side of a class library that traces (`lib/cctrewrite/structure`;
//! docs/reference/formats/trace.md, "Classes"). Its statements about a class are compared with the
//! original class, and with the events in the rewritten class.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{Bci, Code, Instruction, Member, MemberName, MemberRef, NameAndType, access, opcode};
use cct_events::structure::{Block, CallSite, CalleeEvents, METRICS, Method, Recording};
use cct_events::{Class as Described, structure::Handler};
use cct_jdk::natives::leaf_throws;

use crate::allocations::{self, AllocatedObjects};
use crate::class::{Class, MethodEvents};
use crate::convention::{foreign_id, method_id};
use crate::faults::StaticSidePart;
use crate::finding::{Finding, Problem};
use crate::forms::ExtendedForm;
use crate::traces::{Level, Plan};

/// The statements about all classes, by the hash of each class file.
#[derive(Debug, Default)]
pub struct StaticSide {
    classes: BTreeMap<u64, Box<[u8]>>,
}

impl StaticSide {
    /// Adds the classes of a frame; `None` if it has other content.
    pub fn add(&mut self, mut content: &[u8]) -> Option<()> {
        while !content.is_empty() {
            let class = Described::split(&mut content)?;
            self.classes.insert(Described::head(class)?.hash, class.into());
        }
        Some(())
    }

    /// Number of its classes whose files have other hashes than these.
    pub fn others(&self, hashes: &BTreeSet<u64>) -> usize {
        self.classes.keys().filter(|hash| !hashes.contains(hash)).count()
    }
}

impl Class<'_, '_> {
    /// Compares the statements about the class with the class.
    pub(crate) fn described(&mut self, side: &StaticSide) {
        let Some(packed) = side.classes.get(&self.hash) else {
            if self.first_method.is_some() {
                self.find(Problem::Structure(StaticSidePart::NoClass));
            }
            return;
        };
        let Some(described) = Described::of_bytes(packed) else {
            return self.find(Problem::Structure(StaticSidePart::Bytes));
        };
        self.tally.described += 1;
        let before = self.before;
        let bytes = |name: Option<&[u8]>| name.map(cct_events::structure::Name::from);
        let is_right = [
            (StaticSidePart::Name, *described.name == *before.name()),
            (StaticSidePart::Superclass, described.super_name == bytes(before.super_name())),
            (
                StaticSidePart::Interfaces,
                described.interfaces.iter().map(|name| &**name).eq(before.interface_names()),
            ),
            (StaticSidePart::Flags, described.access == before.access_flags),
            (StaticSidePart::FieldBytes, described.field_bytes == self.field_bytes()),
            (StaticSidePart::Source, described.source == bytes(self.source())),
            (StaticSidePart::Methods, described.methods.len() == before.methods.len()),
            (StaticSidePart::FirstMethod, self.first_method.is_none_or(|n| n == described.first_method)),
        ];
        for (what, _) in is_right.into_iter().filter(|(_, is_right)| !is_right) {
            self.find(Problem::Structure(what));
        }
        for (number, (member, method)) in before.methods.iter().zip(&described.methods).enumerate() {
            for (what, bci) in self.wrong(number, member, method) {
                let finding = Finding::at(Problem::Structure(what), bci, None);
                self.findings.push(finding.in_member(member.name_and_type()));
            }
        }
    }

    /// Size in bytes of the class's own instance fields; references have four bytes.
    fn field_bytes(&self) -> u32 {
        let own = self.before.fields.iter().filter(|field| !field.is(access::STATIC));
        own.map(|field| match field.descriptor {
            b"J" | b"D" => 8,
            b"S" | b"C" => 2,
            b"B" | b"Z" => 1,
            _ => 4,
        })
        .sum()
    }

    fn source(&self) -> Option<&[u8]> {
        let attribute = self.before.attributes.find(b"SourceFile")?;
        let index = u16::from_be_bytes(attribute.data.try_into().ok()?);
        self.before.pool.utf8(index).ok()
    }

    /// The faults in the statements about a method.
    fn wrong(&self, number: usize, member: &Member<'_>, said: &Method) -> Vec<(StaticSidePart, Option<Bci>)> {
        let slots = (said.id & 0x7F) as usize;
        let ids = [
            method_id(self.hash, number, slots) as u64,
            foreign_id(member.of_class(self.before.name()), slots) as u64,
        ];
        let traced = self.traced.get(&number);
        let recording = match traced.map(|traced| traced.level) {
            Some(Level::Full) => Recording::Full,
            Some(Level::Blocks) => Recording::Blocks,
            Some(Level::Calls | Level::CallsWithoutObjects) => Recording::Calls,
            None => self.bodiless.get(&number).copied().unwrap_or_default(),
        };
        let mut wrong = Vec::new();
        let heads = [
            (
                StaticSidePart::Descriptor,
                NameAndType::new(&said.name, &said.descriptor) == member.name_and_type(),
            ),
            (StaticSidePart::Flags, said.access == member.access_flags),
            (StaticSidePart::Id, ids.contains(&said.id)),
            (StaticSidePart::Recording, said.recording == recording),
        ];
        wrong.extend(heads.into_iter().filter(|(_, is_right)| !is_right).map(|(what, _)| (what, None)));
        match (traced, Code::of(self.before, member)) {
            (Some(traced), Ok(Some(code))) if wrong.is_empty() => {
                self.body(number, member, &code, said, traced, &mut wrong);
            }
            (None, _) if said.recording == Recording::Leaf => {
                let straight = Code::of(self.before, member).ok().flatten();
                let straight = straight.map_or(0, |code| code.instructions().count() as u32);
                let bytecodes: Vec<u32> = said.blocks.iter().map(Block::bytecodes).collect();
                if bytecodes != [0] && bytecodes != [straight] {
                    wrong.push((StaticSidePart::LeafBytecodes, None));
                }
            }
            _ => {}
        }
        wrong
    }

    /// Checks the statements about a recorded body.
    fn body(
        &self,
        number: usize,
        member: &Member<'_>,
        code: &Code<'_>,
        said: &Method,
        traced: &MethodEvents,
        wrong: &mut Vec<(StaticSidePart, Option<Bci>)>,
    ) {
        let originals: Vec<_> = code.instructions().collect();
        let objects = self.expectation.allocations == Some(true);
        let first = self.first_method.and_then(|first| first.checked_add(number as u32));
        let plan =
            Plan::of(self.before, &self.own_fields, member, code, &originals, first, traced.level, objects);
        let block_of = |n: usize| plan.cut.partition_point(|block| block.end <= n);
        let number_of = |bci: Bci| originals.binary_search_by_key(&bci, |i| i.bci).ok();
        if *said.code != *code.bytes {
            wrong.push((StaticSidePart::Code, None));
        }
        if said.entry_is_target != plan.entry_is_target {
            wrong.push((StaticSidePart::FirstBlock, None));
        }
        if said.blocks.len() != plan.cut.len() {
            wrong.push((StaticSidePart::Blocks, None));
        }
        for (block, (cut, said)) in plan.cut.iter().zip(&said.blocks).enumerate() {
            let start = originals[cut.start].bci;
            let mut metrics = [0; METRICS.len()];
            originals[cut.clone()].iter().for_each(|i| self.measure(i, &mut metrics));
            let next = plan.quiet.next.get(block).copied().flatten().map(|next| next as u32);
            let is_last = plan.quiet.last.get(block) == Some(&true);
            let (next, is_last) = if plan.uses_local { (next, is_last) } else { (None, false) };
            let expected = Block { start, metrics, next, is_last };
            if *said == expected {
                continue;
            }
            let what = if said.start != start {
                StaticSidePart::BlockStart
            } else if said.metrics != metrics {
                StaticSidePart::Metrics
            } else {
                StaticSidePart::Next
            };
            wrong.push((what, Some(start)));
        }
        let calls = originals.iter().enumerate().filter(|(_, i)| opcode::is_invoke(i.opcode));
        let mut told = said.calls.iter();
        for (n, i) in calls {
            let place = (n - plan.cut.get(block_of(n)).map_or(0, |cut| cut.start)) as u32 + 1;
            let telling = traced.telling.binary_search_by_key(&i.bci, |(bci, _)| *bci);
            let telling = telling.ok().map(|at| traced.telling[at].1);
            if !told.next().is_some_and(|call| self.is_call(i, place, telling, call)) {
                wrong.push((StaticSidePart::CallSite, Some(i.bci)));
            }
        }
        if told.next().is_some() {
            wrong.push((StaticSidePart::CallSites, None));
        }
        let handlers = code.handlers.iter().map(|handler| {
            let catches = match handler.catch_type {
                0 => Some(&[][..]),
                index => self.before.pool.class(index).ok(),
            };
            let block = number_of(handler.handler).map_or(u32::MAX, |n| block_of(n) as u32);
            let (start, end) = (handler.start, handler.end);
            Handler { start, end, block, catches: catches.unwrap_or_default().into() }
        });
        if !handlers.eq(said.handlers.iter().cloned()) {
            wrong.push((StaticSidePart::Handlers, None));
        }
        let mut lines = Vec::new();
        for table in code.attributes.iter().filter(|attribute| attribute.name == b"LineNumberTable") {
            let count = table.data.first_chunk().map_or(0, |count| u16::from_be_bytes(*count).into());
            let rows = table.data.get(2..).unwrap_or_default().as_chunks::<4>().0;
            lines.extend(rows.iter().take(count).map(|&[a, b, c, d]| {
                (u32::from(u16::from_be_bytes([a, b])), u32::from(u16::from_be_bytes([c, d])))
            }));
        }
        lines.sort_by_key(|&(bci, _)| bci);
        if lines != said.lines {
            wrong.push((StaticSidePart::Lines, None));
        }
        let makes = originals.iter().filter(|_| plan.objects).filter_map(|i| {
            Some(match allocations::of(self.before, i)? {
                AllocatedObjects::One(of) => (i.bci, of.into()),
                AllocatedObjects::Arrays(types) => (i.bci, types.into_iter().next()?.into()),
                AllocatedObjects::Copy => return None,
            })
        });
        if !makes.eq(said.makes.iter().cloned()) {
            wrong.push((StaticSidePart::Objects, None));
        }
    }

    /// Whether a call site is that of an instruction. `telling` is whether its event is written
    /// only if the callee is the one that the site names; `None` if it has no event.
    fn is_call(&self, i: &Instruction<'_>, place: u32, telling: Option<bool>, said: &CallSite) -> bool {
        let pool = &self.before.pool;
        let index = i.pool_index().unwrap_or_default();
        let names = match i.opcode {
            opcode::INVOKEDYNAMIC => pool.dynamic(index).ok().map(|(_, named)| named.of_class(b"")),
            _ => pool.member_ref(index).ok(),
        };
        let counted = match telling {
            None => CalleeEvents::Itself,
            Some(false) => CalleeEvents::Always,
            Some(true) => CalleeEvents::Perhaps,
        };
        let slots = (said.id & 0x7F) as usize;
        let reference = MemberRef::new(&said.class, &said.name, &said.descriptor);
        let is_callee = match telling {
            None => said.callee.is_empty() && said.id == 0 && said.bytecodes == 0,
            // The only method of that kind with a body is the constructor of `Object`, a return.
            Some(_) => {
                foreign_id(MemberRef { class: &said.callee, ..reference }, slots) as u64 == said.id
                    && (*said.name != *b"<init>" || said.bytecodes == 1)
            }
        };
        (said.bci, said.place, said.opcode, said.counted) == (i.bci, place, i.opcode, counted)
            && names == Some(reference)
            && is_callee
    }

    /// Adds an instruction to the metrics of its block, in the order of the documents.
    fn measure(&self, i: &Instruction<'_>, metrics: &mut [u32; METRICS.len()]) {
        use opcode::*;
        let mut is = |metric: usize| metrics[metric] += 1;
        is(0);
        let member = i.pool_index().and_then(|index| self.before.pool.member_ref(index).ok());
        let is_other = member.is_some_and(|member| member.class != self.before.name());
        match i.opcode {
            IALOAD..=SALOAD => is(1),
            IASTORE..=SASTORE => is(2),
            FADD | DADD | FSUB | DSUB | FMUL | DMUL | FDIV | DDIV | FREM | DREM | FNEG | DNEG | FCMPL
            | FCMPG | DCMPL | DCMPG | I2F | I2D | L2F | L2D | F2I | F2L | F2D | D2I | D2L | D2F => is(3),
            ALOAD | ALOAD_0..=ALOAD_3 => is(4),
            op if is_conditional(op) || is_switch(op) => is(5),
            GOTO | GOTO_W | JSR | JSR_W | RET => is(6),
            GETSTATIC | GETFIELD | PUTSTATIC | PUTFIELD => {
                let is_reference =
                    member.is_some_and(|of| matches!(of.descriptor.first(), Some(b'L' | b'[')));
                let writes = usize::from(matches!(i.opcode, PUTSTATIC | PUTFIELD));
                is(if is_other { 11 } else { 7 } + if is_reference { 0 } else { 2 } + writes);
            }
            NEW | NEWARRAY | ANEWARRAY | MULTIANEWARRAY => is(16),
            _ => {}
        }
        if is_invoke(i.opcode) && i.opcode != INVOKEDYNAMIC && is_other {
            is(15);
        }
        match i.opcode {
            INVOKEVIRTUAL | INVOKEINTERFACE => is(17),
            INVOKESTATIC => is(18),
            _ => {}
        }
    }

    /// Notes the recorded amount for a method without a recorded body, whose extended form is this
    /// one.
    pub(crate) fn without_body(&mut self, number: usize, original: &Member<'_>, form: &ExtendedForm) {
        if self.first_method.is_none() || self.is_recorded != Some(true) {
            return;
        }
        let is_native = original.is(access::NATIVE);
        let recording = match form {
            ExtendedForm::ToNative => Recording::Native,
            ExtendedForm::Counted(_)
                if is_native && leaf_throws(MemberName::new(self.before.name(), original.name)) =>
            {
                Recording::Native
            }
            ExtendedForm::Counted(_) | ExtendedForm::Bypassed => Recording::Leaf,
            _ => return,
        };
        self.bodiless.insert(number, recording);
    }
}
