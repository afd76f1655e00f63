//! Rewriting of classes by the plan. [`shared`] holds the data for all classes, [`state`] the data
//! of one class. [`class`] goes through its methods, [`bodies`] writes their bodies, and
//! [`additions`] the members that the class gains.

mod additions;
mod bodies;
mod class;
mod shared;
mod state;
#[cfg(test)]
mod tests;
mod treatments;

use cct_classfile::{ClassFile, Code, access};
use cct_index::mid::ClassHash;
use cct_markers::{LeftOut, MarkedClass};

use crate::error::{Error, Result};
use crate::markers::ClassFailure;
use crate::module_descriptor;
use crate::report::ClassReport;
use crate::world::ClassId;
use state::ClassRewriter;

pub use shared::{Rewriter, RewrittenClass, tells_of_null_references};

impl Rewriter {
    /// Rewrites a class that was surveyed as an input.
    pub fn rewrite(&self, bytes: &[u8]) -> Result<RewrittenClass> {
        self.rewrite_checked(&ClassFile::parse(bytes)?, &[], ClassHash::of(bytes))
    }

    /// Rewrites a class that was surveyed as an input, with method code that was decoded [for a
    /// check](cct_classfile::wellformed::check).
    pub fn rewrite_checked<'a>(
        &self,
        class: &ClassFile<'a>,
        code: &[Option<Code<'a>>],
        hash: ClassHash,
    ) -> Result<RewrittenClass> {
        let not_surveyed = || Error::NotSurveyed(cct_classfile::mutf8::lossy(class.name()));
        let id = self.world.class_hashed(hash).ok_or_else(not_surveyed)?;
        self.rewrite_decoded(class, code, id)
    }

    /// Rewrites the class that is `id` in the world. Its method ids follow from the hash in its
    /// summary.
    pub fn rewrite_as(&self, class: &ClassFile<'_>, id: ClassId) -> Result<RewrittenClass> {
        self.rewrite_decoded(class, &[], id)
    }

    fn rewrite_decoded<'a>(
        &self,
        class: &ClassFile<'a>,
        code: &[Option<Code<'a>>],
        id: ClassId,
    ) -> Result<RewrittenClass> {
        if class.is(access::MODULE) {
            let bytes = module_descriptor::without(class, module_descriptor::HASHES);
            return Ok(RewrittenClass {
                bytes,
                record: None,
                structure: None,
                report: ClassReport::untouched(class.name()),
                marked: MarkedClass::default(),
            });
        }
        let mut left_out = LeftOut::new();
        loop {
            let written = ClassRewriter::new(self, class, code, id, &left_out).map_err(ClassFailure::Failed);
            match written.and_then(ClassRewriter::run) {
                Ok(rewritten) => return Ok(rewritten),
                // Each round has fewer markers.
                Err(ClassFailure::Without(more)) => left_out.extend(more),
                Err(ClassFailure::Failed(Error::Class(e))) => return Err(Error::Class(class.locate(e))),
                Err(ClassFailure::Failed(other)) => return Err(other),
            }
        }
    }
}
