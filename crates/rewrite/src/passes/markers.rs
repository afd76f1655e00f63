//! Inserts markers into bodies that also record contexts (docs/research/markers.md). The crate
//! `markers` writes the code of the markers.

use cct_classfile::Result;
use cct_classfile::edit::Asm;
use cct_jdk::convention::SLOTS_OFFSET;
use cct_markers::Slot;

use crate::carrier::Context;
use crate::pass::{BodyWriter, Guard, Level, LocalsNeeded, MethodContext, MethodPass, Pass};

/// The pass that inserts markers.
pub struct Markers;

impl Pass for Markers {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        _level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        Ok(method.marker_tokens.map(|tokens| Box::new(MethodMarkers { tokens }) as _))
    }
}

/// The plan of the pass for one method.
struct MethodMarkers {
    tokens: u16,
}

impl MethodPass for MethodMarkers {
    fn locals(&self) -> LocalsNeeded {
        LocalsNeeded { tokens: Some(self.tokens), ..LocalsNeeded::default() }
    }

    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let slot = match body.context {
            Context::Node(local) => Slot { local, offset: SLOTS_OFFSET },
            Context::PassedThrough(local) => Slot { local, offset: 0 },
        };
        let Some(weaver) = &mut body.markers else { return Ok(()) };
        let (method, first) = (body.method, body.locals.first_token);
        body.thrown = weaver.weave(
            body.emitter.edit,
            &mut body.edit,
            method.position,
            method.signature,
            first,
            slot,
        )?;
        Ok(())
    }

    fn guard(&self, body: &BodyWriter<'_, '_, '_>) -> Guard<'_> {
        match body.thrown {
            Some(_) => Guard::Outermost,
            None => Guard::Nowhere,
        }
    }

    fn leave(&self, body: &mut BodyWriter<'_, '_, '_>, handler: &mut Asm) -> Result<()> {
        handler.bytes.extend(body.thrown.iter().flat_map(|thrown| &thrown.bytes));
        Ok(())
    }
}
