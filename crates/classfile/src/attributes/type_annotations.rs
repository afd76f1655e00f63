//! Annotations of types (JVMS 4.7.20, 4.7.21).

use crate::bytes::PutBytes;
use crate::error::{Error, ErrorKind, Result};

use super::annotations::Annotation;
use super::structure::{Reader, Structure};

/// Values of `target_type` (JVMS tables 4.7.20-A and 4.7.20-B).
#[allow(missing_docs)]
pub mod target_type {
    pub const CLASS_TYPE_PARAMETER: u8 = 0x00;
    pub const METHOD_TYPE_PARAMETER: u8 = 0x01;
    pub const SUPERTYPE: u8 = 0x10;
    pub const CLASS_TYPE_PARAMETER_BOUND: u8 = 0x11;
    pub const METHOD_TYPE_PARAMETER_BOUND: u8 = 0x12;
    pub const FIELD: u8 = 0x13;
    pub const METHOD_RETURN: u8 = 0x14;
    pub const METHOD_RECEIVER: u8 = 0x15;
    pub const METHOD_FORMAL_PARAMETER: u8 = 0x16;
    pub const THROWS: u8 = 0x17;
    pub const LOCAL_VARIABLE: u8 = 0x40;
    pub const RESOURCE_VARIABLE: u8 = 0x41;
    pub const EXCEPTION_PARAMETER: u8 = 0x42;
    pub const INSTANCEOF: u8 = 0x43;
    pub const NEW: u8 = 0x44;
    pub const CONSTRUCTOR_REFERENCE: u8 = 0x45;
    pub const METHOD_REFERENCE: u8 = 0x46;
    pub const CAST: u8 = 0x47;
    pub const CONSTRUCTOR_INVOCATION_TYPE_ARGUMENT: u8 = 0x48;
    pub const METHOD_INVOCATION_TYPE_ARGUMENT: u8 = 0x49;
    pub const CONSTRUCTOR_REFERENCE_TYPE_ARGUMENT: u8 = 0x4A;
    pub const METHOD_REFERENCE_TYPE_ARGUMENT: u8 = 0x4B;
}
use target_type::*;

/// An annotation of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeAnnotation<'a> {
    /// One of [`target_type`]; decides the kind of `target`.
    pub target_type: u8,
    /// The annotated type of the declaration or expression.
    pub target: Target,
    /// The annotated part of that type.
    pub path: TypePath<'a>,
    /// The annotation.
    pub annotation: Annotation,
}

/// The annotated type of a declaration or expression (`target_info`, JVMS 4.7.20.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The type parameter with this number.
    TypeParameter(u8),
    /// The superclass (65535), or the direct superinterface with this number.
    Supertype(u16),
    /// A bound of a type parameter.
    TypeParameterBound {
        /// Number of the type parameter.
        parameter: u8,
        /// Number of the bound.
        bound: u8,
    },
    /// The type of a field, the return type or the receiver.
    Empty,
    /// The formal parameter with this number.
    FormalParameter(u8),
    /// The entry with this number in the method's `Exceptions`.
    Throws(u16),
    /// A local variable, wherever it has a value.
    LocalVariable(Vec<LocalRange>),
    /// The entry with this number in the exception table.
    Catch(u16),
    /// The instruction at this bytecode index.
    Instruction(u16),
    /// A type argument or a part of an intersection cast.
    TypeArgument {
        /// Bytecode index of the instruction.
        bci: u16,
        /// Number of the argument.
        argument: u8,
    },
}

/// A range in which a local variable has a value, and its slot there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalRange {
    /// First bytecode index of the range.
    pub start: u16,
    /// Length of the range in bytes of code.
    pub length: u16,
    /// The variable's slot, the first one for a long or double.
    pub slot: u16,
}

/// Steps from a type to its annotated part (JVMS 4.7.20.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypePath<'a>(&'a [u8]);

/// A step of a [`TypePath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep {
    /// Into an array's element type.
    ArrayElement,
    /// Into a nested type.
    Nested,
    /// To a wildcard's bound.
    WildcardBound,
    /// To the type argument with this number.
    TypeArgument(u8),
}

impl<'a> TypePath<'a> {
    /// The steps in order.
    pub fn steps(&self) -> impl Iterator<Item = PathStep> + use<'a> {
        self.0.chunks_exact(2).map(|step| match step[0] {
            0 => PathStep::ArrayElement,
            1 => PathStep::Nested,
            2 => PathStep::WildcardBound,
            _ => PathStep::TypeArgument(step[1]),
        })
    }
}

impl<'a> Structure<'a> for TypeAnnotation<'a> {
    const MIN_LENGTH: usize = 2 + Annotation::MIN_LENGTH;
    const PLURAL: &'static str = "type annotations";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let at = r.offset();
        let target_type = r.u1()?;
        let target = Target::read(target_type, r, at)?;
        Ok(TypeAnnotation { target_type, target, path: r.read()?, annotation: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        if !self.target.belongs_to(self.target_type) {
            return Err(
                ErrorKind::Malformed("a type annotation's target does not fit its target_type").into()
            );
        }
        out.put1(self.target_type);
        self.target.write(out)?;
        self.path.write(out)?;
        self.annotation.write(out)
    }
}

impl Target {
    fn read(target_type: u8, r: &mut Reader<'_, '_>, at: usize) -> Result<Self> {
        Ok(match target_type {
            CLASS_TYPE_PARAMETER | METHOD_TYPE_PARAMETER => Target::TypeParameter(r.u1()?),
            SUPERTYPE => Target::Supertype(r.u2()?),
            CLASS_TYPE_PARAMETER_BOUND | METHOD_TYPE_PARAMETER_BOUND => {
                Target::TypeParameterBound { parameter: r.u1()?, bound: r.u1()? }
            }
            FIELD..=METHOD_RECEIVER => Target::Empty,
            METHOD_FORMAL_PARAMETER => Target::FormalParameter(r.u1()?),
            THROWS => Target::Throws(r.u2()?),
            LOCAL_VARIABLE | RESOURCE_VARIABLE => Target::LocalVariable(r.read()?),
            EXCEPTION_PARAMETER => Target::Catch(r.u2()?),
            INSTANCEOF..=METHOD_REFERENCE => Target::Instruction(r.u2()?),
            CAST..=METHOD_REFERENCE_TYPE_ARGUMENT => Target::TypeArgument { bci: r.u2()?, argument: r.u1()? },
            _ => return Err(Error::at(ErrorKind::Malformed("unknown target_type of a type annotation"), at)),
        })
    }

    fn belongs_to(&self, target_type: u8) -> bool {
        match self {
            Target::TypeParameter(_) => matches!(target_type, CLASS_TYPE_PARAMETER | METHOD_TYPE_PARAMETER),
            Target::Supertype(_) => target_type == SUPERTYPE,
            Target::TypeParameterBound { .. } => {
                matches!(target_type, CLASS_TYPE_PARAMETER_BOUND | METHOD_TYPE_PARAMETER_BOUND)
            }
            Target::Empty => matches!(target_type, FIELD..=METHOD_RECEIVER),
            Target::FormalParameter(_) => target_type == METHOD_FORMAL_PARAMETER,
            Target::Throws(_) => target_type == THROWS,
            Target::LocalVariable(_) => matches!(target_type, LOCAL_VARIABLE | RESOURCE_VARIABLE),
            Target::Catch(_) => target_type == EXCEPTION_PARAMETER,
            Target::Instruction(_) => matches!(target_type, INSTANCEOF..=METHOD_REFERENCE),
            Target::TypeArgument { .. } => matches!(target_type, CAST..=METHOD_REFERENCE_TYPE_ARGUMENT),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Target::TypeParameter(number) | Target::FormalParameter(number) => out.put1(*number),
            Target::TypeParameterBound { parameter, bound } => {
                out.put1(*parameter);
                out.put1(*bound);
            }
            Target::Empty => {}
            Target::LocalVariable(ranges) => ranges.write(out)?,
            Target::Supertype(number)
            | Target::Throws(number)
            | Target::Catch(number)
            | Target::Instruction(number) => out.put2(*number),
            Target::TypeArgument { bci, argument } => {
                out.put2(*bci);
                out.put1(*argument);
            }
        }
        Ok(())
    }
}

impl<'a> Structure<'a> for LocalRange {
    const MIN_LENGTH: usize = 6;
    const PLURAL: &'static str = "ranges of a local variable";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(LocalRange { start: r.u2()?, length: r.u2()?, slot: r.u2()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        for part in [self.start, self.length, self.slot] {
            out.put2(part);
        }
        Ok(())
    }
}

impl<'a> Structure<'a> for TypePath<'a> {
    const MIN_LENGTH: usize = 1;
    const PLURAL: &'static str = "type paths";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let length = r.u1()?;
        let at = r.offset();
        let steps = r.take(2 * usize::from(length))?;
        // Only a step to a type argument (3) has a number.
        match steps.chunks_exact(2).position(|step| step[0] > 3 || (step[0] < 3 && step[1] != 0)) {
            Some(bad) => {
                Err(Error::at(ErrorKind::Malformed("malformed type_path of a type annotation"), at + 2 * bad))
            }
            None => Ok(TypePath(steps)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        // Reading accepts at most 255 steps, and nothing else creates a path.
        out.put1((self.0.len() / 2) as u8);
        out.extend_from_slice(self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{UTF8, parse, round_trip};
    use super::super::{AttributeInfo, Structure};
    use super::*;
    use crate::error::ErrorKind;

    fn encoded(target_type: u8, target_and_path: &[u8]) -> Vec<u8> {
        [&[0, 1, target_type], target_and_path, &[0, UTF8, 0, 0]].concat()
    }

    fn read(target_type: u8, target: &[u8]) -> Target {
        let bytes = encoded(target_type, &[target, &[0]].concat());
        let info = round_trip(b"RuntimeVisibleTypeAnnotations", &bytes);
        let AttributeInfo::RuntimeVisibleTypeAnnotations(list) = info else { panic!("{info:?}") };
        assert_eq!((list.len(), list[0].target_type), (1, target_type));
        list[0].target.clone()
    }

    #[test]
    fn every_target_type() {
        for t in [CLASS_TYPE_PARAMETER, METHOD_TYPE_PARAMETER] {
            assert_eq!(read(t, &[7]), Target::TypeParameter(7));
        }
        assert_eq!(read(SUPERTYPE, &[255, 255]), Target::Supertype(65535));
        for t in [CLASS_TYPE_PARAMETER_BOUND, METHOD_TYPE_PARAMETER_BOUND] {
            assert_eq!(read(t, &[1, 2]), Target::TypeParameterBound { parameter: 1, bound: 2 });
        }
        for t in [FIELD, METHOD_RETURN, METHOD_RECEIVER] {
            assert_eq!(read(t, &[]), Target::Empty);
        }
        assert_eq!(read(METHOD_FORMAL_PARAMETER, &[3]), Target::FormalParameter(3));
        assert_eq!(read(THROWS, &[1, 0]), Target::Throws(256));
        for t in [LOCAL_VARIABLE, RESOURCE_VARIABLE] {
            let range = LocalRange { start: 4, length: 8, slot: 2 };
            assert_eq!(read(t, &[0, 1, 0, 4, 0, 8, 0, 2]), Target::LocalVariable(vec![range]));
        }
        assert_eq!(read(EXCEPTION_PARAMETER, &[0, 1]), Target::Catch(1));
        for t in [INSTANCEOF, NEW, CONSTRUCTOR_REFERENCE, METHOD_REFERENCE] {
            assert_eq!(read(t, &[1, 1]), Target::Instruction(257));
        }
        for t in CAST..=METHOD_REFERENCE_TYPE_ARGUMENT {
            assert_eq!(read(t, &[1, 1, 2]), Target::TypeArgument { bci: 257, argument: 2 });
        }
        for unknown in [0x02, 0x0F, 0x18, 0x3F, 0x4C, 0xFF] {
            let error = parse(b"RuntimeVisibleTypeAnnotations", &encoded(unknown, &[0, 0])).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
        }
    }

    #[test]
    fn paths() {
        let steps = [4, 0, 0, 1, 0, 2, 0, 3, 5];
        let bytes = encoded(FIELD, &steps);
        let info = round_trip(b"RuntimeInvisibleTypeAnnotations", &bytes);
        let AttributeInfo::RuntimeInvisibleTypeAnnotations(list) = info else { panic!("{info:?}") };
        let expected =
            [PathStep::ArrayElement, PathStep::Nested, PathStep::WildcardBound, PathStep::TypeArgument(5)];
        assert_eq!(list[0].path.steps().collect::<Vec<_>>(), expected);
        for bad in [[1, 4, 0], [1, 0, 1]] {
            let error = parse(b"RuntimeVisibleTypeAnnotations", &encoded(FIELD, &bad)).unwrap_err();
            assert_eq!(error.offset(), Some(4), "{error}");
        }
    }

    #[test]
    fn a_target_of_the_wrong_kind_is_not_written() {
        let annotation = Annotation { type_index: 1, elements: Vec::new() };
        let path = TypePath::default();
        let wrong = TypeAnnotation { target_type: FIELD, target: Target::Throws(1), path, annotation };
        assert!(matches!(wrong.write(&mut Vec::new()).unwrap_err().kind(), ErrorKind::Malformed(_)));
    }
}
