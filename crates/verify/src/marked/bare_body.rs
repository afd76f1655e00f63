//! Markers in classes that are also counted (docs/research/markers.md). The pieces are removed from
//! the counted bodies, with the same shapes and locations as elsewhere. Members added for markers
//! are separate from those for counts.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{ClassFile, Code, Instruction, Member, NameAndType, NameAndTypeBuf, access};

use super::attribute::{self, Descriptor};
use super::helpers::{AddedField, Gains, Helper};
use super::order;
use super::pieces::Pieces;
use super::places;
use super::skipped_pieces::SkippedPieces;
use crate::align::alignment::Alignment;
use crate::finding::Check;
use crate::marked::gate::Gate;
use crate::marked::method::Method;
use crate::marked::piece_index::PieceIndex;
use crate::probe::{Locals, Reader};

/// The markers of a class that is also counted.
#[derive(Default)]
pub(crate) struct CountedMarkers<'a> {
    /// All markers, by number.
    pub markers: Vec<Descriptor<'a>>,
    /// Markers that a body reports.
    told: BTreeSet<usize>,
    /// The helpers that bodies call, each for one of the class's markers.
    called: BTreeMap<Helper, u16>,
}

impl<'a> CountedMarkers<'a> {
    /// The markers that a class lists, none for one without the attribute; `None` if it cannot be
    /// read.
    pub fn of(class: &ClassFile<'a>) -> Option<CountedMarkers<'a>> {
        let markers = match class.attributes.find(attribute::NAME) {
            None => Vec::new(),
            Some(attribute) => attribute::read(attribute).filter(|markers| !markers.is_empty())?,
        };
        Some(CountedMarkers { markers, ..CountedMarkers::default() })
    }

    /// The numbers of a method's markers.
    pub fn of_method(&self, method: &Member<'_>) -> Vec<usize> {
        let is_own = |(number, marker): (usize, &Descriptor<'_>)| {
            (marker.method == method.name_and_type()).then_some(number)
        };
        self.markers.iter().enumerate().filter_map(is_own).collect()
    }

    /// Adds the markers that a body reports.
    pub fn add(&mut self, own: &[usize], called: BTreeMap<Helper, u16>) {
        self.told.extend(own);
        self.called.extend(called);
    }

    /// The method of the first marker that no body reports.
    pub fn unreported(&self) -> Option<NameAndType<'a>> {
        let number = (0..self.markers.len()).find(|number| !self.told.contains(number))?;
        Some(self.markers[number].method)
    }

    /// Whether per-object markers come first, since these have bits for 32.
    pub fn are_in_order(&self) -> bool {
        let asking = self.markers.iter().filter(|marker| marker.per_object).count();
        asking <= 32 && self.markers.iter().take(asking).all(|marker| marker.per_object)
    }

    /// The fields that the class gains.
    pub fn fields(&self, class: &ClassFile<'a>) -> Vec<AddedField> {
        if self.markers.is_empty() { Vec::new() } else { self.gains(class).fields() }
    }

    fn gains<'g>(&'g self, class: &'g ClassFile<'a>) -> Gains<'g, 'a> {
        Gains { class, gate: Gate::Helpers, markers: &self.markers }
    }

    /// Faulty ones among the added methods that have no other purpose, and missing ones, each with
    /// whether it exists.
    pub fn wrong_methods(&self, class: &ClassFile<'a>, added: &[&Member<'_>]) -> Vec<(NameAndTypeBuf, bool)> {
        let mut wanted =
            if self.markers.is_empty() { BTreeMap::new() } else { self.gains(class).methods(&self.called) };
        let mut wrong = Vec::new();
        for method in added {
            let key = NameAndTypeBuf::from(method.name_and_type());
            let is_right = method.access_flags == access::PRIVATE | access::STATIC | access::SYNTHETIC
                && method.attributes.iter().all(|a| a.name == b"Code")
                && wanted.remove(&key).is_some_and(|codes| codes.iter().any(|code| code.is(class, method)));
            if !is_right {
                wrong.push((key, true));
            }
        }
        wrong.extend(wanted.into_keys().map(|method| (method, false)));
        wrong
    }
}

/// A body without its pieces.
pub(crate) struct BareBody<'m, 'a> {
    method: Method<'m, 'a>,
}

impl<'m, 'a> BareBody<'m, 'a> {
    /// The body of this method. `own` are the numbers of its markers.
    pub fn of(
        before: &'m ClassFile<'a>,
        after: &'m ClassFile<'a>,
        original: &'m Member<'a>,
        code: &'m Code<'a>,
        markers: &'m [Descriptor<'a>],
        own: &'m [usize],
    ) -> Self {
        BareBody { method: Method { before, after, original, code, markers, own, gate: Gate::Helpers } }
    }

    /// Number of tokens after the locals for counts.
    pub fn tokens(&self, locals: &Locals, reader: &Reader<'_, 'a>) -> Check<u16> {
        self.method.tokens(locals.at.saturating_add(locals.by), reader)
    }

    /// The shapes of its pieces. `node` is the argument of helpers: a local, and the number added
    /// to it.
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

    /// The record of skipped pieces.
    pub fn told<'p>(&'p self, pieces: &'p Pieces<'p, 'a>) -> SkippedPieces<'p, 'p, 'a> {
        SkippedPieces::new(&self.method, pieces)
    }

    /// Checks that the pieces are where descriptors say, and that entered regions are left. Returns
    /// the helpers that are called.
    pub fn check(
        &self,
        told: &PieceIndex,
        aligned: &Alignment<'a>,
        locals: &Locals,
    ) -> Check<BTreeMap<Helper, u16>> {
        order::check(&self.method, told, aligned, self.scratch(locals))?;
        Ok(told.called_helpers())
    }

    /// The instructions whose exceptions must be reported if they leave the method; `None` if there
    /// are none.
    pub fn must_tell(&self, originals: &[Instruction<'a>]) -> Option<Vec<bool>> {
        let Method { before, original, code, .. } = self.method;
        places::can_throw(before, original, originals)
            .then(|| places::initialised(before, original, code, originals))
    }
}
