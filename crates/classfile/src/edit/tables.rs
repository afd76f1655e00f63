//! Debug tables and type annotations of code, moved along with the instructions.

use crate::bytes::{Cursor, PutBytes};
use crate::class::Attribute;
use crate::edit::layout::Layout;
use crate::edit::locals::LocalShift;
use crate::error::{ErrorKind, Result};

/// The new index of a table entry at `bci`, which is also the target of jumps. An entry that holds
/// from the method's beginning also holds before the first instruction. So an exception that leaves
/// the prologue has a line, and a debugger that stops there finds the arguments.
fn place(layout: &Layout, bci: u32) -> Result<u32> {
    match bci {
        0 => Ok(0),
        _ => layout.label_around(bci),
    }
}

/// LineNumberTable (JVMS 4.7.12).
pub(crate) fn line_numbers(attribute: &Attribute<'_>, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
    let mut cursor = attribute.cursor();
    let count = cursor.u2()?;
    out.put2(count);
    for _ in 0..count {
        out.put2(place(layout, u32::from(cursor.u2()?))? as u16);
        out.put2(cursor.u2()?);
    }
    cursor.finish()
}

/// LocalVariableTable and LocalVariableTypeTable (JVMS 4.7.13, 4.7.14), which have the same shape.
pub(crate) fn local_variables(
    attribute: &Attribute<'_>,
    layout: &Layout,
    shift: LocalShift,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut cursor = attribute.cursor();
    let count = cursor.u2()?;
    out.put2(count);
    for _ in 0..count {
        range(&mut cursor, layout, out)?;
        out.put2(cursor.u2()?);
        out.put2(cursor.u2()?);
        out.put2(shift.apply(cursor.u2()?, false)?);
    }
    cursor.finish()
}

/// Copies a range, a start and a length, with new indices.
fn range(cursor: &mut Cursor<'_>, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
    let (start, length) = (u32::from(cursor.u2()?), u32::from(cursor.u2()?));
    let (new_start, new_end) = (place(layout, start)?, place(layout, start + length)?);
    out.put2(new_start as u16);
    out.put2((new_end - new_start) as u16);
    Ok(())
}

/// Runtime(In)VisibleTypeAnnotations of code (JVMS 4.7.20): only the target changes.
pub(crate) fn type_annotations(
    attribute: &Attribute<'_>,
    layout: &Layout,
    shift: LocalShift,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut cursor = attribute.cursor();
    let count = cursor.u2()?;
    out.put2(count);
    for _ in 0..count {
        let target_type = cursor.u1()?;
        out.put1(target_type);
        match target_type {
            // localvar_target
            0x40 | 0x41 => {
                let entries = cursor.u2()?;
                out.put2(entries);
                for _ in 0..entries {
                    range(&mut cursor, layout, out)?;
                    out.put2(shift.apply(cursor.u2()?, false)?);
                }
            }
            // catch_target: an index into the exception table, whose old entries stay first
            0x42 => out.put2(cursor.u2()?),
            // offset_target
            0x43..=0x46 => out.put2(layout.instruction(u32::from(cursor.u2()?))? as u16),
            // type_argument_target
            0x47..=0x4B => {
                out.put2(layout.instruction(u32::from(cursor.u2()?))? as u16);
                out.put1(cursor.u1()?);
            }
            _ => {
                return Err(cursor
                    .error(ErrorKind::Malformed("a type annotation's target does not belong into code")));
            }
        }
        let path = usize::from(cursor.u1()?);
        out.put1(path as u8);
        out.extend_from_slice(cursor.take(path * 2)?);
        copy(&mut cursor, out, |c| annotation(c, 0))?;
    }
    cursor.finish()
}

/// Copies the bytes that `skip` skips.
fn copy<'a>(
    cursor: &mut Cursor<'a>,
    out: &mut Vec<u8>,
    skip: impl FnOnce(&mut Cursor<'a>) -> Result<()>,
) -> Result<()> {
    let mut before = cursor.clone();
    skip(cursor)?;
    out.extend_from_slice(before.take(cursor.offset() - before.offset())?);
    Ok(())
}

fn annotation(cursor: &mut Cursor<'_>, depth: u32) -> Result<()> {
    cursor.u2()?;
    for _ in 0..cursor.u2()? {
        cursor.u2()?;
        element_value(cursor, depth + 1)?;
    }
    Ok(())
}

fn element_value(cursor: &mut Cursor<'_>, depth: u32) -> Result<()> {
    if depth > 64 {
        return Err(cursor.error(ErrorKind::Malformed("annotations nested more than 64 deep")));
    }
    match cursor.u1()? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => cursor.u2().map(drop),
        b'e' => cursor.u4().map(drop),
        b'@' => annotation(cursor, depth + 1),
        b'[' => {
            for _ in 0..cursor.u2()? {
                element_value(cursor, depth + 1)?;
            }
            Ok(())
        }
        _ => Err(cursor.error(ErrorKind::Malformed("an unknown annotation element"))),
    }
}
