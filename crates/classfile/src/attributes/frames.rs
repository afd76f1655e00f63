//! The frames of a `StackMapTable` in their encoded form (JVMS 4.7.4): each states its difference
//! from the one before.

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{Error, ErrorKind, Result};

use super::structure::{Reader, Structure};

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Distance from the frame before: see [`bcis`].
    pub offset_delta: u16,
    /// The difference of locals and stack from the frame before.
    pub kind: FrameKind,
}

/// The difference of a frame from the one before. Where the JVMS has a short and an extended form
/// for the same meaning, both are kept separate, since compilers may use the extended one without
/// need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameKind {
    /// Same locals, empty stack. Written in the extended form when `offset_delta` is above 63.
    Same,
    /// Same locals, empty stack, in the extended form.
    SameExtended,
    /// Same locals, one stack item. Written in the extended form when `offset_delta` is above 63.
    SameLocals1(VerificationType),
    /// Same locals, one stack item, in the extended form.
    SameLocals1Extended(VerificationType),
    /// The last 1 to 3 locals are removed; empty stack.
    Chop(u8),
    /// 1 to 3 more locals; empty stack.
    Append(Vec<VerificationType>),
    /// All types stated.
    Full {
        /// The locals; a long or double takes one entry.
        locals: Vec<VerificationType>,
        /// The operand stack, its top last.
        stack: Vec<VerificationType>,
    },
}

/// The type of a local or stack item (`verification_type_info`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationType {
    /// Any value, hence unusable.
    Top,
    /// `int`, and types that the verifier treats as `int`.
    Integer,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `long`.
    Long,
    /// `null`.
    Null,
    /// `this` before the constructor of the superclass was called.
    UninitializedThis,
    /// An object of the `CONSTANT_Class` with this index.
    Object(Index),
    /// The object from the `new` at this bytecode index, before its constructor was called.
    Uninitialized(u16),
}

// Frame types (JVMS 4.7.4). 128 to 246 are reserved.
const SAME_LOCALS_1: u8 = 64;
const SAME_LOCALS_1_END: u8 = 127;
const SAME_LOCALS_1_EXTENDED: u8 = 247;
const CHOP_3: u8 = 248;
const CHOP_1: u8 = 250;
const SAME_EXTENDED: u8 = 251;
const APPEND_1: u8 = 252;
const APPEND_3: u8 = 254;
const FULL: u8 = 255;

/// Bytecode indices of a method's frames: the first is its `offset_delta`, each other one
/// `offset_delta + 1` after the previous index.
pub fn bcis(frames: &[Frame]) -> impl Iterator<Item = u32> + '_ {
    let mut next = 0;
    frames.iter().map(move |frame| {
        let bci = next + u32::from(frame.offset_delta);
        next = bci + 1;
        bci
    })
}

impl<'a> Structure<'a> for Frame {
    const MIN_LENGTH: usize = 1;
    const PLURAL: &'static str = "stack map frames";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let at = r.offset();
        let frame_type = r.u1()?;
        let offset_delta = match frame_type {
            0..SAME_LOCALS_1 => u16::from(frame_type),
            SAME_LOCALS_1..=SAME_LOCALS_1_END => u16::from(frame_type - SAME_LOCALS_1),
            SAME_LOCALS_1_EXTENDED.. => r.u2()?,
            _ => return Err(Error::at(ErrorKind::Malformed("reserved frame_type in a StackMapTable"), at)),
        };
        let kind = match frame_type {
            0..SAME_LOCALS_1 => FrameKind::Same,
            SAME_LOCALS_1..SAME_LOCALS_1_EXTENDED => FrameKind::SameLocals1(r.read()?),
            SAME_LOCALS_1_EXTENDED => FrameKind::SameLocals1Extended(r.read()?),
            CHOP_3..=CHOP_1 => FrameKind::Chop(SAME_EXTENDED - frame_type),
            SAME_EXTENDED => FrameKind::SameExtended,
            APPEND_1..=APPEND_3 => FrameKind::Append(r.list(usize::from(frame_type - SAME_EXTENDED))?),
            FULL => FrameKind::Full { locals: r.read()?, stack: r.read()? },
        };
        Ok(Frame { offset_delta, kind })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let delta = self.offset_delta;
        let short = u8::try_from(delta).ok().filter(|&delta| delta < SAME_LOCALS_1);
        let mut extended = |frame_type: u8| {
            out.put1(frame_type);
            out.put2(delta);
        };
        match (&self.kind, short) {
            (FrameKind::Same, Some(delta)) => out.put1(delta),
            (FrameKind::Same | FrameKind::SameExtended, _) => extended(SAME_EXTENDED),
            (FrameKind::SameLocals1(item), Some(delta)) => {
                out.put1(SAME_LOCALS_1 + delta);
                item.write(out)?;
            }
            (FrameKind::SameLocals1(item) | FrameKind::SameLocals1Extended(item), _) => {
                extended(SAME_LOCALS_1_EXTENDED);
                item.write(out)?;
            }
            (FrameKind::Chop(count @ 1..=3), _) => extended(SAME_EXTENDED - count),
            (FrameKind::Chop(_), _) => {
                return Err(
                    ErrorKind::Malformed("a chop_frame removes 1 to 3 locals, no more and no less").into()
                );
            }
            (FrameKind::Append(locals), _) => {
                let count @ 1..=3 = locals.len() else {
                    return Err(ErrorKind::Malformed(
                        "an append_frame adds 1 to 3 locals, no more and no less",
                    )
                    .into());
                };
                extended(SAME_EXTENDED + count as u8);
                locals.iter().try_for_each(|local| local.write(out))?;
            }
            (FrameKind::Full { locals, stack }, _) => {
                extended(FULL);
                locals.write(out)?;
                stack.write(out)?;
            }
        }
        Ok(())
    }
}

impl<'a> Structure<'a> for VerificationType {
    const MIN_LENGTH: usize = 1;
    const PLURAL: &'static str = "locals or stack items in a stack map frame";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let at = r.offset();
        Ok(match r.u1()? {
            0 => VerificationType::Top,
            1 => VerificationType::Integer,
            2 => VerificationType::Float,
            3 => VerificationType::Double,
            4 => VerificationType::Long,
            5 => VerificationType::Null,
            6 => VerificationType::UninitializedThis,
            7 => VerificationType::Object(r.index(ConstantPool::class)?),
            8 => VerificationType::Uninitialized(r.u2()?),
            _ => {
                let kind = ErrorKind::Malformed("unknown tag of a verification type in a StackMapTable");
                return Err(Error::at(kind, at));
            }
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        match *self {
            VerificationType::Top => out.put1(0),
            VerificationType::Integer => out.put1(1),
            VerificationType::Float => out.put1(2),
            VerificationType::Double => out.put1(3),
            VerificationType::Long => out.put1(4),
            VerificationType::Null => out.put1(5),
            VerificationType::UninitializedThis => out.put1(6),
            VerificationType::Object(class) => {
                out.put1(7);
                out.put2(class);
            }
            VerificationType::Uninitialized(bci) => {
                out.put1(8);
                out.put2(bci);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AttributeInfo;
    use super::super::testing::{CLASS, UTF8, expect_bad_index, parse, round_trip};
    use super::VerificationType::*;
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        match round_trip(b"StackMapTable", bytes) {
            AttributeInfo::StackMapTable(frames) => frames,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_form_of_frame() {
        let read = frames(&[
            0,
            9,  // count
            63, // same
            64 + 5,
            1, // same_locals_1_stack_item
            247,
            0,
            3,
            7,
            0,
            CLASS, // the same, extended without need
            248,
            1,
            0, // chop 3
            250,
            0,
            0, // chop 1
            251,
            0,
            1, // same, extended without need
            252,
            0,
            0,
            8,
            0,
            9, // append 1
            254,
            0,
            0,
            0,
            2,
            3, // append 3
            255,
            0,
            2,
            0,
            2,
            4,
            6,
            0,
            1,
            5, // full
        ]);
        let expected = [
            (63, FrameKind::Same),
            (5, FrameKind::SameLocals1(Integer)),
            (3, FrameKind::SameLocals1Extended(Object(CLASS.into()))),
            (256, FrameKind::Chop(3)),
            (0, FrameKind::Chop(1)),
            (1, FrameKind::SameExtended),
            (0, FrameKind::Append(vec![Uninitialized(9)])),
            (0, FrameKind::Append(vec![Top, Float, Double])),
            (2, FrameKind::Full { locals: vec![Long, UninitializedThis], stack: vec![Null] }),
        ];
        assert_eq!(read, expected.map(|(offset_delta, kind)| Frame { offset_delta, kind }));
        assert_eq!(bcis(&read).collect::<Vec<_>>(), [63, 69, 73, 330, 331, 333, 334, 335, 338]);
    }

    #[test]
    fn unknown_sections_are_refused() {
        for reserved in [128, 200, 246] {
            assert_eq!(parse(b"StackMapTable", &[0, 1, reserved]).unwrap_err().offset(), Some(2));
        }
        assert_eq!(parse(b"StackMapTable", &[0, 1, 64, 9]).unwrap_err().offset(), Some(3));
        expect_bad_index(b"StackMapTable", &[0, 1, 64, 7, 0, UTF8], 4);
    }

    #[test]
    fn a_delta_too_large_for_the_short_form_takes_the_extended_one() {
        let written = |kind| {
            let mut out = Vec::new();
            Frame { offset_delta: 64, kind }.write(&mut out).unwrap();
            out
        };
        assert_eq!(written(FrameKind::Same), [251, 0, 64]);
        assert_eq!(written(FrameKind::SameLocals1(Null)), [247, 0, 64, 5]);
    }

    #[test]
    fn frames_without_an_encoding_are_not_written() {
        for kind in [
            FrameKind::Chop(0),
            FrameKind::Chop(4),
            FrameKind::Append(vec![]),
            FrameKind::Append(vec![Top; 4]),
        ] {
            assert!(Frame { offset_delta: 0, kind }.write(&mut Vec::new()).is_err());
        }
    }
}
