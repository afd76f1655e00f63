//! Markers in classes that are also counted (docs/research/markers.md): the methods that can have
//! some, and the obstacles in others.

use std::sync::Arc;

use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, ErrorKind, NameAndType, access};
use cct_index::treatment::Treatment;
use cct_markers::{ClassMarkers, LeftOut, Rules, Slot, World, library};
use rustc_hash::FxHashSet;

use crate::carrier::Constants;
use crate::error::{Error, Result};
use crate::planned_treatment::PlannedTreatment;

/// The size in bytes above which HotSpot does not compile a method (`HugeMethodLimit`).
const HUGE: u32 = 8000;

/// The rules of markers, and the hierarchy in which they match.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The class hierarchy.
    pub world: World,
}

/// Markers that all writers of classes share.
pub type SharedMarkers = Arc<Markers>;

/// Reasons why a class is not written.
#[derive(Debug)]
pub(crate) enum ClassFailure {
    /// An error of rewriting.
    Failed(Error),
    /// The body or the class is too large with these markers: write it again without them.
    Without(LeftOut),
}

impl From<Error> for ClassFailure {
    fn from(error: Error) -> Self {
        ClassFailure::Failed(error)
    }
}

impl From<cct_classfile::Error> for ClassFailure {
    fn from(error: cct_classfile::Error) -> Self {
        ClassFailure::Failed(error.into())
    }
}

/// Inserts the markers of one class into the bodies of its methods.
pub trait Weaver {
    /// Inserts the markers of the method at this position into one of its bodies. Each frame of the
    /// body declares the types of the locals from `first` on. Returns the code to run when an
    /// exception leaves the method, if there is any.
    ///
    /// # Errors
    /// If the class has no room for the constants of the markers.
    fn weave(
        &mut self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        position: usize,
        signature: &Signature<'_>,
        first: u16,
        slot: Slot,
    ) -> cct_classfile::Result<Option<Asm>>;
}

impl Weaver for ClassMarkers<'_, '_, '_> {
    fn weave(
        &mut self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        position: usize,
        signature: &Signature<'_>,
        first: u16,
        slot: Slot,
    ) -> cct_classfile::Result<Option<Asm>> {
        ClassMarkers::weave(self, edit, code_edit, position, signature, first, slot)
    }
}

/// The markers of a class that is written by this plan.
pub(crate) fn of_class<'r, 'c, 'a>(
    markers: &'r Markers,
    edit: &mut ClassEdit<'c, 'a>,
    constants: &mut Constants,
    planned: &[PlannedTreatment],
    left_out: &LeftOut,
) -> Result<ClassMarkers<'r, 'c, 'a>> {
    let class: &'c ClassFile<'a> = edit.class();
    let bodiless: FxHashSet<NameAndType<'_>> = class
        .methods
        .iter()
        .zip(planned)
        .filter(|(member, planned)| !member.is(access::NATIVE) && !has_body(planned.treatment))
        .map(|(member, _)| member.name_and_type())
        .collect();
    let whole = library::unmarked(class.name());
    let objection = |method: NameAndType<'_>| {
        let is_bodiless = bodiless.contains(&method);
        let why =
            is_bodiless.then_some("in counted programs it has no body; mark its calls with at = \"call\"");
        whole.or(why)
    };
    let carrier = constants.helpers_owner(edit)?;
    Ok(ClassMarkers::of(edit, &markers.rules, &markers.world, &objection, left_out, carrier)?)
}

/// Whether a method of this treatment is written with a body.
fn has_body(treatment: Treatment) -> bool {
    matches!(
        treatment,
        Treatment::Wrapped | Treatment::Duplicated | Treatment::Redispatched | Treatment::OriginalOnly
    )
}

/// Size in bytes above which a body with markers is refused; `None` if the original, of this size,
/// is already too large for HotSpot to compile.
pub(crate) fn limit(original: u32) -> Option<u32> {
    (original <= HUGE).then_some(HUGE)
}

/// The reason to omit markers from a body that is too large with them; `None` for other errors.
pub(crate) fn why_too_large(error: &cct_classfile::Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::MethodTooLarge(size) if *size <= usize::from(u16::MAX) => {
            Some("with markers and counting it would exceed 8,000 bytes, the limit of HotSpot's compilers")
        }
        ErrorKind::MethodTooLarge(_) | ErrorKind::JumpTooFar(_) => {
            Some("with markers and counting it would exceed the size limit of methods")
        }
        _ => None,
    }
}

/// Whether the error says that a class exceeds the limits of class files.
pub(crate) fn is_outgrown(error: &Error) -> bool {
    matches!(error, Error::Class(e) if matches!(e.kind(), ErrorKind::PoolTooLarge | ErrorKind::TooMany(_)))
}
