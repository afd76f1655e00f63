//! Helpers for the tests of this module: a pool with one constant of each kind, and reading and
//! writing by attribute name.

use super::AttributeInfo;
use crate::bytes::Cursor;
use crate::class::Attribute;
use crate::constant_pool::ConstantPool;
use crate::error::{ErrorKind, Result};

pub(super) const UTF8: u8 = 1;
pub(super) const INTEGER: u8 = 2;
pub(super) const FLOAT: u8 = 3;
pub(super) const LONG: u8 = 4;
pub(super) const DOUBLE: u8 = 6;
pub(super) const CLASS: u8 = 8;
pub(super) const STRING: u8 = 9;
pub(super) const NAME_AND_TYPE: u8 = 10;
pub(super) const HANDLE: u8 = 11;
pub(super) const MODULE: u8 = 12;
pub(super) const PACKAGE: u8 = 13;

#[rustfmt::skip]
const POOL: &[u8] = &[
    0, 14, // count
    1, 0, 4, b't', b'e', b'x', b't',
    3, 0, 0, 0, 0,
    4, 0, 0, 0, 0,
    5, 0, 0, 0, 0, 0, 0, 0, 0,
    6, 0, 0, 0, 0, 0, 0, 0, 0,
    7, 0, UTF8,
    8, 0, UTF8,
    12, 0, UTF8, 0, UTF8,
    15, 6, 0, 0,
    19, 0, UTF8,
    20, 0, UTF8,
];

/// Reads an attribute whose content is at offset 0.
pub(super) fn parse<'a>(name: &'a [u8], data: &'a [u8]) -> Result<AttributeInfo<'a>> {
    let pool = ConstantPool::parse(POOL, &mut Cursor::new(POOL, 0)).unwrap();
    AttributeInfo::parse(&Attribute { name_index: UTF8.into(), name, data, offset: 0 }, &pool)
}

/// Reads an attribute, and checks that it is written back unchanged.
pub(super) fn round_trip<'a>(name: &'a [u8], data: &'a [u8]) -> AttributeInfo<'a> {
    let info = parse(name, data).unwrap();
    assert_eq!(info.name(), name);
    assert!(!matches!(info, AttributeInfo::Unknown { .. }), "{info:?}");
    let mut out = Vec::new();
    info.write(&mut out).unwrap();
    assert_eq!(out, data);
    info
}

/// Expects an error for the index at this offset, with the location.
pub(super) fn expect_bad_index(name: &[u8], data: &[u8], offset: usize) {
    let error = parse(name, data).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadIndex { .. }), "{error}");
    assert_eq!(error.offset(), Some(offset), "{error}");
    let name = String::from_utf8_lossy(name);
    assert!(error.to_string().contains(&*name), "{error}");
}
