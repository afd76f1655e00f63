//! Markers of a class that also gets other inserted code, where the program is counted
//! (docs/research/markers.md, *With a calling-context tree*).
//!
//! The writer of the class has the edits of its bodies, at the indices of the original. This module
//! tells it how many locals the markers of a body need, adds them to the edit, and finally adds the
//! members that they call to the class.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::constant_pool::Index;
use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, ErrorKind, Result as Edited};

use super::method::Method;
use super::place::Place;
use super::{
    Library, MarkedClass, Objection, Result, Way, check_names, describe, find, method_name, number, refuse,
};
use crate::attribute::{self, Descriptor};
use crate::gate::Gate;
use crate::helpers::{Helper, Helpers, Slot};
use crate::places;
use crate::rules::Rules;
use crate::world::World;

/// Methods whose markers are omitted, by position: the rules that would mark them, and the reason.
pub type LeftOut = BTreeMap<usize, (BTreeSet<usize>, &'static str)>;

/// The markers of a class that is being written.
pub struct ClassMarkers<'r, 'c, 'a> {
    class: &'c ClassFile<'a>,
    rules: &'r Rules,
    places: Vec<Place<'a>>,
    /// The numbers of the markers at each location.
    numbers: Vec<Vec<u16>>,
    described: Vec<(Descriptor, usize)>,
    helpers: Helpers,
    list: Vec<Option<Helper>>,
    marked: MarkedClass,
}

impl<'r, 'c, 'a> ClassMarkers<'r, 'c, 'a> {
    /// The markers that the rules match in a class. `carrier` is the class constant by which it
    /// names helpers of `java.lang.Object`.
    pub fn of(
        edit: &ClassEdit<'c, 'a>,
        rules: &'r Rules,
        world: &World,
        objection: Objection<'_>,
        left_out: &LeftOut,
        carrier: Index,
    ) -> Result<ClassMarkers<'r, 'c, 'a>> {
        let class = edit.class();
        let of_class = places::of_class(class, rules, world);
        let mut marked = MarkedClass::default();
        let skipped = left_out.keys().copied().collect();
        let way = Way { library: Some(Library::Counted), objection, ..Way::new(rules, world) };
        let places = find(class, &of_class, &way, &skipped, &mut marked.refused)?;
        if !places.is_empty() {
            check_names(class)?;
        }
        for (&position, (rules, why)) in left_out {
            let name = method_name(class, &class.methods[position]);
            refuse(&mut marked.refused, rules.iter().copied(), &name, why);
        }
        let (described, numbers) = number(describe(class, &places, rules))?;
        let mut rest = &numbers[..];
        let numbers = places.iter().map(|place| {
            let (own, others) = rest.split_at(place.found.len());
            rest = others;
            own.to_vec()
        });
        Ok(ClassMarkers {
            class,
            rules,
            numbers: numbers.collect(),
            places,
            list: vec![None; described.len()],
            described,
            helpers: Helpers::new(edit, Gate::Helpers(carrier), true),
            marked,
        })
    }

    /// Whether the class has no markers.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The methods with markers, as methods whose markers are omitted for a reason.
    pub fn left_out(&self, why: &'static str) -> LeftOut {
        let rules = |place: &Place<'_>| place.found.iter().map(|found| found.rule).collect();
        self.places.iter().map(|place| (place.position, (rules(place), why))).collect()
    }

    fn place(&self, position: usize) -> Option<usize> {
        self.places.binary_search_by_key(&position, |place| place.position).ok()
    }

    /// Number of locals with objects that the markers of the method at this position need; `None`
    /// for a method without markers.
    pub fn locals(&mut self, position: usize) -> Option<u16> {
        let at = self.place(position)?;
        let count = self.method(at, None).token_count();
        u16::try_from(count).ok()
    }

    /// Inserts the markers of a method into one of its bodies. Each frame of the body states the
    /// locals from `first` on. Returns the code to run when an exception leaves the method, if
    /// there is any.
    pub fn weave(
        &mut self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        position: usize,
        signature: &Signature<'_>,
        first: u16,
        slot: Slot,
    ) -> Edited<Option<Asm>> {
        match self.place(position) {
            Some(at) => self.method(at, Some(slot)).weave(edit, code_edit, signature, first),
            None => Ok(None),
        }
    }

    fn method(&mut self, at: usize, slot: Option<Slot>) -> Method<'_, 'c, 'a> {
        let place = &self.places[at];
        Method {
            class: self.class,
            member: &self.class.methods[place.position],
            place,
            rules: self.rules,
            numbers: &self.numbers[at],
            helpers: &self.helpers,
            list: &mut self.list,
            slot,
        }
    }

    /// Adds the members that the markers call, and the attribute that lists them, to the class.
    pub fn finish(mut self, edit: &mut ClassEdit<'_, '_>) -> Edited<MarkedClass> {
        if self.is_empty() {
            return Ok(self.marked);
        }
        for (descriptor, rule) in self.described {
            self.marked.descriptors.push(descriptor);
            self.marked.rules.push(rule);
        }
        let texts: Vec<Vec<u8>> = self.marked.descriptors.iter().map(Descriptor::text).collect();
        let list: Vec<Helper> = self.list.into_iter().flatten().collect();
        if list.len() != texts.len() {
            return Err(ErrorKind::Malformed("a method with markers was written without them").into());
        }
        self.helpers.add(edit, &list, &texts)?;
        edit.add_attribute(attribute::NAME, attribute::write(&self.marked.descriptors))?;
        Ok(self.marked)
    }
}
