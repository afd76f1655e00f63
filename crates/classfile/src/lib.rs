//! Class files (JVMS 4): reading in place, editing, writing. Knows the JVM specification and
//! nothing of profiling.
//!
//! A file that is not edited is written back byte for byte. In an edited one, the constant pool
//! keeps its order and only grows, and unchanged attributes are copied as bytes.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod access;
pub mod attributes;
pub mod bytes;
pub mod class;
pub mod code;
pub mod constant_pool;
pub mod descriptor;
pub mod edit;
pub mod error;
pub mod mutf8;
pub mod names;
pub mod opcode;
pub mod stack;
pub mod wellformed;

pub use class::{Attribute, Attributes, ClassFile, Member};
pub use code::{Bci, BciSet, Code, Handler, Instruction, Switch};
pub use constant_pool::{ConstantPool, Index, MemberConstant, PoolAdditions};
pub use error::{Error, ErrorKind, Result};
pub use names::{MemberName, MemberRef, MemberRefBuf, NameAndType, NameAndTypeBuf};
