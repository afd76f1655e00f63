//! A method with markers.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{Bci, ClassFile, Code, Member, opcode};

use crate::faults::MarkerFault;
use crate::finding::{Check, Finding, Problem};
use crate::marked::attribute::Descriptor;
use crate::marked::gate::Gate;
use crate::marked::helpers::Helper;
use crate::op::{Kind, Op};
use crate::probe::Reader;

/// A method and its markers.
pub struct Method<'m, 'a> {
    /// The original class.
    pub before: &'m ClassFile<'a>,
    /// The marked one.
    pub after: &'m ClassFile<'a>,
    /// The original method.
    pub original: &'m Member<'a>,
    /// The original code.
    pub code: &'m Code<'a>,
    /// All markers of the class.
    pub markers: &'m [Descriptor<'a>],
    /// The numbers of its own markers.
    pub own: &'m [usize],
    /// The route to the runtime.
    pub gate: Gate,
}

impl<'a> Method<'_, 'a> {
    /// Whether a marker is one of this method's.
    pub fn has(&self, marker: &Descriptor<'_>) -> bool {
        marker.method == self.original.name_and_type()
    }

    /// Number of tokens: each result of a helper is stored in a local.
    pub fn tokens(&self, at: u16, reader: &Reader<'_, 'a>) -> Check<u16> {
        let mut tokens = BTreeSet::new();
        for step in 1..reader.steps.len() {
            let (Op::Invoke(opcode::INVOKESTATIC, callee, _), Op::Store(Kind::Reference, local)) =
                (reader.op(step - 1), reader.op(step))
            else {
                continue;
            };
            if Helper::of(self.after, &callee, self.gate).is_some_and(|helper| helper.enters) {
                tokens.insert(local);
            }
        }
        let by = tokens.len() as u16;
        if tokens.into_iter().eq(at..at.saturating_add(by)) {
            Ok(by)
        } else {
            Err(Finding::of(Problem::Marker(MarkerFault::TokenLocal)))
        }
    }

    /// Number of calls that are regions, by bytecode index.
    pub fn calls(&self) -> BTreeMap<Bci, usize> {
        let mut calls = BTreeMap::new();
        let own = self.own.iter().map(|number| &self.markers[*number]);
        for marker in own.filter(|marker| marker.has_token() && marker.place == b"call") {
            *calls.entry(marker.bci).or_default() += 1;
        }
        calls
    }
}
