//! The code of a wrapper: straight, with at most one handler.

use cct_classfile::bytes::PutBytes;
use cct_classfile::edit::Asm;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::VerificationType;
use cct_classfile::{Result, opcode};

use super::Target;
use super::debug_tables::DebugTables;
use crate::carrier::Emitter;

/// Straight code in one line, with at most one catch-all over a part of it.
pub(super) struct Straight {
    pub(super) asm: Asm,
    pub(super) max_stack: u16,
    pub(super) max_locals: u16,
    pub(super) catch: Option<Catch>,
    pub(super) line: u16,
}

/// The handler after the code: it restores the context and rethrows.
pub(super) struct Catch {
    pub(super) start: u16,
    pub(super) end: u16,
    pub(super) restore: Asm,
    pub(super) locals: Vec<VerificationType>,
}

impl Straight {
    /// Adds the `Code` attribute.
    pub(super) fn write(self, emitter: &mut Emitter<'_, '_, '_>, head: &mut MemberBuilder) -> Result<()> {
        self.write_with(&DebugTables::default(), emitter, head)
    }

    /// Adds the `Code` attribute with the original's debug tables.
    pub(super) fn write_with(
        self,
        tables: &DebugTables,
        emitter: &mut Emitter<'_, '_, '_>,
        head: &mut MemberBuilder,
    ) -> Result<()> {
        let code_name = emitter.edit.names.code(&mut emitter.edit.additions)?;
        let lines_name = emitter.edit.names.line_number_table(&mut emitter.edit.additions)?;
        let mut frame = Vec::new();
        if let Some(catch) = &self.catch {
            frame.reserve(16 + 3 * catch.locals.len());
            let at = self.asm.bytes.len() as u16;
            // full_frame (JVMS 4.7.4), one Throwable on the stack
            frame.put2(1);
            frame.put1(255);
            frame.put2(at);
            frame.put2(catch.locals.len() as u16);
            for &t in &catch.locals {
                match t {
                    VerificationType::Long => frame.put1(4),
                    VerificationType::Object(class) => {
                        frame.put1(7);
                        frame.put2(class);
                    }
                    _ => frame.put1(0),
                }
            }
            frame.put2(1);
            frame.put1(7);
            frame.put2(emitter.constants.throwable(emitter.edit)?);
        }
        // Before version 50 the verifier infers types and takes no table.
        let version = emitter.edit.version();
        let frame_name = if !frame.is_empty() && version.has_frames() {
            Some(emitter.edit.names.stack_map_table(&mut emitter.edit.additions)?)
        } else {
            None
        };
        head.attribute(code_name, |out| {
            let handler = self.asm.bytes.len();
            let length = handler + self.catch.as_ref().map_or(0, |c| c.restore.bytes.len() + 1);
            version.put_code_head(self.max_stack, self.max_locals, length as u32, out)?;
            out.extend_from_slice(&self.asm.bytes);
            if let Some(catch) = &self.catch {
                out.extend_from_slice(&catch.restore.bytes);
                out.put1(opcode::ATHROW);
                out.put2(1);
                out.put2(catch.start);
                out.put2(catch.end);
                out.put2(handler as u16);
                out.put2(0);
            } else {
                out.put2(0);
            }
            out.put2(tables.count() + u16::from(frame_name.is_some()));
            tables.write(lines_name, self.line, &self.asm.bytes, length as u16, out);
            if let Some(name) = frame_name {
                out.put2(name);
                out.put4(frame.len() as u32);
                out.extend_from_slice(&frame);
            }
            Ok(())
        })
    }
}

/// The types of the locals in the handler: all arguments forgotten.
pub(super) fn forgotten(target: &Target<'_, '_>, ours: &[VerificationType]) -> Vec<VerificationType> {
    let arguments = usize::from(target.signature.argument_slots());
    let mut locals = Vec::with_capacity(arguments + ours.len());
    locals.resize(arguments, VerificationType::Top);
    locals.extend_from_slice(ours);
    locals
}
