//! Consistency of entries and exits: each marker is reported where its descriptor says, and each
//! entered region is left on the paths that are followed.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{Bci, opcode};

use super::attribute::Descriptor;
use super::pieces::{Enter, ExitKind};
use super::places::{self, Places};
use crate::align::alignment::Alignment;
use crate::faults::MarkerFault;
use crate::finding::{Check, Finding, Problem};
use crate::handlers::Handlers;
use crate::marked::method::Method;
use crate::marked::piece_index::{EntryLocation, PieceIndex};

struct Order<'o, 'm, 'a> {
    method: &'o Method<'m, 'a>,
    walked: &'o PieceIndex,
    aligned: &'o Alignment<'a>,
    scratch: u16,
    /// The entries of each marker, by its number.
    entries: BTreeMap<usize, Vec<&'o (EntryLocation, Enter)>>,
    /// Labels at which tokens are left within the method.
    left: BTreeSet<(usize, u16)>,
    places: Places<'o, 'm, 'a>,
    /// Kind of region of each token.
    kinds: BTreeMap<u16, &'a [u8]>,
}

/// Checks the pieces of a method, whose locals from `scratch` on nothing else uses.
pub fn check(method: &Method<'_, '_>, walked: &PieceIndex, aligned: &Alignment<'_>, scratch: u16) -> Check {
    let mut entries: BTreeMap<usize, Vec<&(EntryLocation, Enter)>> = BTreeMap::new();
    for entered in &walked.entered {
        entries.entry(usize::from(entered.1.index)).or_default().push(entered);
    }
    let left = walked.left.iter().map(|(number, token, _)| (*number, *token)).collect();
    let places = Places::of(method, &aligned.originals);
    let mut order = Order { method, walked, aligned, scratch, entries, left, places, kinds: BTreeMap::new() };
    order.entries()?;
    order.beginning()?;
    order.returns()?;
    order.left()?;
    order.calls()?;
    order.blocks()
}

fn wrong<T>(bci: impl Into<Option<Bci>>, what: MarkerFault) -> Check<T> {
    Err(Finding::at(Problem::Marker(what), bci, None))
}

impl<'o, 'a> Order<'o, '_, 'a> {
    fn bci(&self, number: usize) -> Option<Bci> {
        self.aligned.originals.get(number).map(|i| i.bci)
    }

    /// The entries of a marker.
    fn of(&self, index: usize) -> &[&'o (EntryLocation, Enter)] {
        self.entries.get(&index).map_or(&[], |entries| entries)
    }

    /// The markers of the method, with their numbers.
    fn markers(&self) -> impl Iterator<Item = (usize, &Descriptor<'a>)> {
        self.method.own.iter().map(|number| (*number, &self.method.markers[*number]))
    }

    /// Checks that each marker is reported at one location; for a constructor, after each call of
    /// another one.
    fn entries(&mut self) -> Check {
        let mut kinds = BTreeMap::new();
        for (index, marker) in self.markers() {
            let is_once = marker.place != b"method" || self.method.original.name != b"<init>";
            match self.of(index).len() {
                0 => return wrong(marker.bci, MarkerFault::NotInCode),
                1 => {}
                _ if is_once => return wrong(marker.bci, MarkerFault::Duplicate),
                _ => {}
            }
            for (at, enter) in self.of(index).iter().copied() {
                if let Some(what) = places::wrong(&self.places, marker, *at, enter, self.scratch) {
                    return wrong(marker.bci, what);
                }
                if enter.token.is_some() != marker.has_token()
                    || enter.again != enter.token.filter(|_| marker.is_loop())
                {
                    return wrong(marker.bci, MarkerFault::Token);
                }
                if let Some(token) = enter.token
                    && kinds.insert(token, marker.place).is_some_and(|kind| kind != marker.place)
                {
                    return wrong(marker.bci, MarkerFault::OtherToken);
                }
            }
        }
        let is_methods = |marker: &Descriptor<'_>| marker.place == b"method" && marker.has_token();
        let methods = self.markers().filter(|(_, marker)| is_methods(marker)).count();
        if kinds.values().filter(|kind| **kind == b"method").count() != methods {
            return wrong(None, MarkerFault::SharedToken);
        }
        self.kinds = kinds;
        Ok(())
    }

    /// Checks that tokens are null initially, except those that a method gets at once.
    fn beginning(&self) -> Check {
        let is_constructor = self.method.original.name == b"<init>" && self.method.before.super_class != 0;
        let wanted = self.kinds.iter().filter(|(_, kind)| is_constructor || **kind != b"method");
        if wanted.map(|(token, _)| *token).eq(self.walked.nulls.iter().copied()) {
            Ok(())
        } else {
            wrong(None, MarkerFault::TokenAtStart)
        }
    }

    /// Checks that all tokens are left before each return, the last one first.
    fn returns(&self) -> Check {
        let is_constructor = self.method.original.name == b"<init>";
        let is_boolean = self.method.original.descriptor.ends_with(b")Z");
        let mut told = self.walked.returns.iter().peekable();
        for (number, i) in self.aligned.originals.iter().enumerate() {
            if !opcode::is_return(i.opcode) {
                continue;
            }
            for (token, kind) in self.kinds.iter().rev() {
                let is_method = *kind == b"method";
                let is_right = |how| match how {
                    ExitKind::Normal => true,
                    ExitKind::Made => is_method && is_constructor,
                    ExitKind::Result => is_method && i.opcode == opcode::ARETURN,
                    ExitKind::Answer => is_method && i.opcode == opcode::IRETURN && is_boolean,
                    ExitKind::Thrown => false,
                };
                match told.next_if(|(at, of, _)| (at, of) == (&number, token)) {
                    Some((.., how)) if is_right(*how) => {}
                    _ => return wrong(i.bci, MarkerFault::NotLeft),
                }
            }
        }
        match told.next() {
            None => Ok(()),
            Some((number, ..)) => wrong(self.bci(*number), MarkerFault::ReturnedTwice),
        }
    }

    /// Checks that exits at labels are of regions within the method, and by an exception at the
    /// start of a handler.
    fn left(&self) -> Check {
        let mut seen = BTreeSet::new();
        for (number, token, how) in &self.walked.left {
            let bci = self.bci(*number);
            let is_handler = bci.is_some_and(|bci| self.places.is_handler(bci));
            let wanted = if is_handler { ExitKind::Thrown } else { ExitKind::Normal };
            if *how != wanted {
                return wrong(bci, MarkerFault::LeftOtherwise);
            }
            if self.kinds.get(token).is_none_or(|kind| *kind == b"method") {
                return wrong(bci, MarkerFault::LeftWithin);
            }
            if !seen.insert((number, token)) {
                return wrong(bci, MarkerFault::LeftTwice);
            }
        }
        Ok(())
    }

    fn is_left(&self, bci: Bci, token: u16) -> bool {
        let number = self.aligned.number(bci);
        number.is_some_and(|number| self.left.contains(&(number, token)))
    }

    /// Checks that a call's region is left after the call, and at the handlers of its exceptions.
    fn calls(&self) -> Check {
        let mut wanted: Vec<(usize, u16)> = Vec::new();
        // If there are too many to follow, which is reported for counts elsewhere, no compiler
        // generated them.
        let handlers = Handlers::of(self.method.code, &self.aligned.originals).unwrap_or_default();
        for (index, marker) in self.markers().filter(|(_, m)| m.place == b"call" && m.has_token()) {
            for (_, enter) in self.of(index).iter().copied() {
                let (Some(token), Some(number)) = (enter.token, self.aligned.number(marker.bci)) else {
                    continue;
                };
                wanted.push((number, token));
                for handler in handlers.of_instruction(number) {
                    if !self.left.contains(&(*handler as usize, token)) {
                        return wrong(marker.bci, MarkerFault::CallNotLeft);
                    }
                }
            }
        }
        let mut told: Vec<(usize, u16)> =
            self.walked.called.iter().map(|(number, token, _)| (*number, *token)).collect();
        wanted.sort_unstable();
        told.sort_unstable();
        let is_right = |number: usize, how: ExitKind| match how {
            ExitKind::Normal | ExitKind::Result => true,
            ExitKind::Answer => self.answers(number),
            ExitKind::Made | ExitKind::Thrown => false,
        };
        if wanted != told || !self.walked.called.iter().all(|(number, _, how)| is_right(*number, *how)) {
            return wrong(None, MarkerFault::CallLeftElsewhere);
        }
        Ok(())
    }

    /// Whether an instruction calls a method that returns a boolean.
    fn answers(&self, number: usize) -> bool {
        let pool = &self.method.before.pool;
        let Some(i) = self.aligned.originals.get(number) else { return false };
        let Some(index) = i.pool_index() else { return false };
        let descriptor = match i.opcode {
            opcode::INVOKEDYNAMIC => pool.dynamic(index).ok().map(|(_, named)| named.descriptor),
            _ => pool.member_ref(index).ok().map(|member| member.descriptor),
        };
        descriptor.is_some_and(|descriptor| descriptor.ends_with(b")Z"))
    }

    /// Checks that a block's region is left wherever its last instruction leads, apart from
    /// handlers.
    fn blocks(&self) -> Check {
        let mut of_tokens: BTreeMap<u16, BTreeSet<Bci>> = BTreeMap::new();
        for (index, marker) in self.markers().filter(|(_, m)| m.place == b"block" && m.has_token()) {
            for token in self.of(index).iter().filter_map(|(_, enter)| enter.token) {
                of_tokens.entry(token).or_default().insert(marker.bci);
            }
        }
        for (token, starts) in &of_tokens {
            for (number, i) in self.aligned.originals.iter().enumerate() {
                let next = self.bci(number + 1).filter(|_| !opcode::ends_flow(i.opcode));
                let mut to = Vec::new();
                i.for_each_target(|target| to.push(target));
                let ends = !to.is_empty() || next.is_some_and(|next| starts.contains(&next));
                to.extend(next.filter(|_| ends));
                // Code before the first marked block is in no block.
                let is_inside = starts.first().is_some_and(|first| *first <= i.bci);
                if is_inside && to.iter().any(|to| !self.is_left(*to, *token)) {
                    return wrong(i.bci, MarkerFault::BlockNotLeft);
                }
            }
        }
        Ok(())
    }
}
