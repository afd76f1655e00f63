//! Markers beside what counts (docs/research/markers.md): the pieces are taken out of bodies that
//! count, with the same shapes and places as elsewhere; what the class gains for them is apart from
//! what counts.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{ClassFile, Code, Instruction, Member, access};

use super::attribute::{self, Descriptor};
use super::helpers::{Gains, Helper};
use super::order;
use super::pieces::Pieces;
use super::places;
use super::told::Told;
use crate::align::aligned::Aligned;
use crate::finding::Check;
use crate::marked::gate::Gate;
use crate::marked::method::Method;
use crate::marked::walked::Walked;
use crate::probe::{Locals, Reader};

/// The markers of a class that counts, too.
#[derive(Default)]
pub(crate) struct Beside<'a> {
    /// All of them, by their numbers.
    pub markers: Vec<Descriptor<'a>>,
    /// Those whose methods have bodies, where they are told of.
    told: BTreeSet<usize>,
    /// The helpers that are called, each for one of its markers.
    called: BTreeMap<Helper, u16>,
}

impl<'a> Beside<'a> {
    /// What a class says of its markers: nothing of one without; `None` if that cannot be read.
    pub fn of(class: &ClassFile<'a>) -> Option<Beside<'a>> {
        let markers = match class.attributes.find(attribute::NAME) {
            None => Vec::new(),
            Some(attribute) => attribute::read(attribute).filter(|markers| !markers.is_empty())?,
        };
        Some(Beside { markers, ..Beside::default() })
    }

    /// The numbers of a method's markers.
    pub fn of_method(&self, method: &Member<'_>) -> Vec<usize> {
        let is_own = |(number, marker): (usize, &Descriptor<'_>)| {
            (marker.method == (method.name, method.descriptor)).then_some(number)
        };
        self.markers.iter().enumerate().filter_map(is_own).collect()
    }

    /// A body tells of these.
    pub fn add(&mut self, own: &[usize], called: BTreeMap<Helper, u16>) {
        self.told.extend(own);
        self.called.extend(called);
    }

    /// The first marker that no body tells of: its method.
    pub fn untold(&self) -> Option<(&'a [u8], &'a [u8])> {
        let number = (0..self.markers.len()).find(|number| !self.told.contains(number))?;
        Some(self.markers[number].method)
    }

    /// Whether those that ask objects come first, since these have bits for 32.
    pub fn are_in_order(&self) -> bool {
        let asking = self.markers.iter().filter(|marker| marker.per_object).count();
        asking <= 32 && self.markers.iter().take(asking).all(|marker| marker.per_object)
    }

    /// The fields that the class gains: name, descriptor, flags, and whether all bits are on in the
    /// beginning.
    pub fn fields(&self, class: &ClassFile<'a>) -> Vec<(Vec<u8>, &'static [u8], u16, bool)> {
        if self.markers.is_empty() { Vec::new() } else { self.gains(class).fields() }
    }

    fn gains<'g>(&'g self, class: &'g ClassFile<'a>) -> Gains<'g, 'a> {
        Gains { class, gate: Gate::Helpers, markers: &self.markers }
    }

    /// Of added methods that have no other meaning those that are not as they must be; and those
    /// that are missing.
    pub fn wrong_methods(
        &self,
        class: &ClassFile<'a>,
        added: &[&Member<'_>],
    ) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
        let mut wanted =
            if self.markers.is_empty() { BTreeMap::new() } else { self.gains(class).methods(&self.called) };
        let mut wrong = Vec::new();
        for method in added {
            let key = (method.name.to_vec(), method.descriptor.to_vec());
            let is_right = method.access_flags == access::PRIVATE | access::STATIC | access::SYNTHETIC
                && method.attributes.iter().all(|a| a.name == b"Code")
                && wanted.remove(&key).is_some_and(|codes| codes.iter().any(|code| code.is(class, method)));
            if !is_right {
                wrong.push((key.0, key.1, true));
            }
        }
        wrong.extend(wanted.into_keys().map(|(name, descriptor)| (name, descriptor, false)));
        wrong
    }
}

/// A body without its pieces.
pub(crate) struct Erased<'m, 'a> {
    method: Method<'m, 'a>,
}

impl<'m, 'a> Erased<'m, 'a> {
    /// Of this method. `own` are the numbers of its markers.
    pub fn of(
        before: &'m ClassFile<'a>,
        after: &'m ClassFile<'a>,
        original: &'m Member<'a>,
        code: &'m Code<'a>,
        markers: &'m [Descriptor<'a>],
        own: &'m [usize],
    ) -> Self {
        Erased { method: Method { before, after, original, code, markers, own, gate: Gate::Helpers } }
    }

    /// How many tokens there are behind the locals that count.
    pub fn tokens(&self, locals: &Locals, reader: &Reader<'_, 'a>) -> Check<u16> {
        self.method.tokens(locals.at.saturating_add(locals.by), reader)
    }

    /// The shapes of its pieces. `node` is what helpers are told: a local, and what is added to it.
    pub fn pieces<'p>(&self, locals: &Locals, reader: &'p Reader<'p, 'a>, node: (u16, i32)) -> Pieces<'p, 'a>
    where
        'm: 'p,
    {
        let tokens = locals.tokens;
        let first = locals.at.saturating_add(locals.by).saturating_sub(tokens);
        Pieces {
            class: self.method.after,
            code: reader,
            locals: Locals { at: first, by: tokens, ..*locals },
            scratch: self.scratch(locals),
            gate: Gate::Helpers,
            markers: self.method.markers,
            node: Some(node),
        }
    }

    fn scratch(&self, locals: &Locals) -> u16 {
        self.method.code.max_locals.max(locals.at).saturating_add(locals.by)
    }

    /// What is passed over.
    pub fn told<'p>(&'p self, pieces: &'p Pieces<'p, 'a>) -> Told<'p, 'p, 'a> {
        Told::new(&self.method, pieces)
    }

    /// Whether the pieces stand where descriptors say, and regions that are entered are left. Gives
    /// the helpers that are called.
    pub fn check(
        &self,
        told: &Walked,
        aligned: &Aligned<'a>,
        locals: &Locals,
    ) -> Check<BTreeMap<Helper, u16>> {
        order::check(&self.method, told, aligned, self.scratch(locals))?;
        Ok(told.called_helpers())
    }

    /// The instructions whose exceptions must be told, if they leave the method; `None` if there
    /// are none.
    pub fn must_tell(&self, originals: &[Instruction<'a>]) -> Option<Vec<bool>> {
        let Method { before, original, code, .. } = self.method;
        places::can_throw(before, original, originals)
            .then(|| places::initialised(before, original, code, originals))
    }
}
