//! A method with locations that are marked.

use cct_classfile::{ClassFile, Member};

use super::throwing;
use crate::places::{MatchedPlace, Shape, Spot};
use crate::rules::Rule;

/// A method with matching locations.
pub(super) struct Place<'a> {
    pub(super) position: usize,
    pub(super) shape: Shape<'a>,
    pub(super) found: Vec<MatchedPlace>,
}

/// Whether entry and exit of a method are reported at once: if it has no other marker, which would
/// come between.
pub(super) fn is_instant(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    place: &Place<'_>,
    found: &MatchedPlace,
    rule: &Rule,
) -> bool {
    let is_of_method = found.spot == Spot::Method && member.name != b"<init>" && place.found.len() == 1;
    is_of_method
        && rule.pair
        && !rule.result
        && !class.is_interface()
        && throwing::only_reads(class, member, &place.shape.code)
}
