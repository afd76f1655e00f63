//! The fixed layouts of a zip archive: signatures, field offsets, flags. All numbers are
//! little-endian.

/// Local file header (APPNOTE 4.3.7): signature, fixed size, field offsets.
pub(super) mod local {
    pub(in crate::jar) const SIGNATURE: u32 = 0x0403_4b50;
    pub(in crate::jar) const SIZE: usize = 30;
    pub(in crate::jar) const VERSION: usize = 4;
    pub(in crate::jar) const FLAGS: usize = 6;
    pub(in crate::jar) const METHOD: usize = 8;
    pub(in crate::jar) const TIME: usize = 10;
    pub(in crate::jar) const DATE: usize = 12;
    pub(in crate::jar) const CRC: usize = 14;
    pub(in crate::jar) const PACKED_SIZE: usize = 18;
    pub(in crate::jar) const FULL_SIZE: usize = 22;
    pub(in crate::jar) const NAME_LEN: usize = 26;
    pub(in crate::jar) const EXTRA_LEN: usize = 28;
}

/// Central directory header (APPNOTE 4.3.12).
pub(super) mod central {
    pub(in crate::jar) const SIGNATURE: u32 = 0x0201_4b50;
    pub(in crate::jar) const SIZE: usize = 46;
    pub(in crate::jar) const MADE_BY: usize = 4;
    pub(in crate::jar) const VERSION: usize = 6;
    pub(in crate::jar) const FLAGS: usize = 8;
    pub(in crate::jar) const METHOD: usize = 10;
    pub(in crate::jar) const TIME: usize = 12;
    pub(in crate::jar) const DATE: usize = 14;
    pub(in crate::jar) const CRC: usize = 16;
    pub(in crate::jar) const PACKED_SIZE: usize = 20;
    pub(in crate::jar) const FULL_SIZE: usize = 24;
    pub(in crate::jar) const NAME_LEN: usize = 28;
    pub(in crate::jar) const EXTRA_LEN: usize = 30;
    pub(in crate::jar) const COMMENT_LEN: usize = 32;
    pub(in crate::jar) const DISK: usize = 34;
    pub(in crate::jar) const OFFSET: usize = 42;
}

/// End of central directory record (APPNOTE 4.3.16).
pub(super) mod end {
    pub(in crate::jar) const SIGNATURE: u32 = 0x0605_4b50;
    pub(in crate::jar) const SIZE: usize = 22;
    pub(in crate::jar) const DISK: usize = 4;
    pub(in crate::jar) const DIRECTORY_DISK: usize = 6;
    pub(in crate::jar) const COUNT_HERE: usize = 8;
    pub(in crate::jar) const COUNT: usize = 10;
    pub(in crate::jar) const DIRECTORY_SIZE: usize = 12;
    pub(in crate::jar) const DIRECTORY_OFFSET: usize = 16;
    pub(in crate::jar) const COMMENT_LEN: usize = 20;
}

/// Zip64 end of central directory record (APPNOTE 4.3.14).
pub(super) mod end64 {
    pub(in crate::jar) const SIGNATURE: u32 = 0x0606_4b50;
    pub(in crate::jar) const SIZE: usize = 56;
    /// Size of the rest after this field.
    pub(in crate::jar) const REST_SIZE: usize = 4;
    pub(in crate::jar) const MADE_BY: usize = 12;
    pub(in crate::jar) const VERSION: usize = 14;
    pub(in crate::jar) const COUNT_HERE: usize = 24;
    pub(in crate::jar) const COUNT: usize = 32;
    pub(in crate::jar) const DIRECTORY_SIZE: usize = 40;
    pub(in crate::jar) const DIRECTORY_OFFSET: usize = 48;
}

/// Zip64 end of central directory locator (APPNOTE 4.3.15).
pub(super) mod locator64 {
    pub(in crate::jar) const SIGNATURE: u32 = 0x0706_4b50;
    pub(in crate::jar) const SIZE: usize = 20;
    pub(in crate::jar) const OFFSET: usize = 8;
    pub(in crate::jar) const DISKS: usize = 16;
}

/// Optional signature of a data descriptor (APPNOTE 4.3.9.3).
pub(super) const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;

/// General purpose flags (APPNOTE 4.4.4).
pub(super) const ENCRYPTED: u16 = 1;
pub(super) const DESCRIPTOR_FOLLOWS: u16 = 1 << 3;
pub(super) const NAME_IS_UTF8: u16 = 1 << 11;

/// Compression methods (APPNOTE 4.4.5).
pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;

/// Versions needed to extract (APPNOTE 4.4.3.2): 2.0 for deflate, 4.5 for zip64.
pub(super) const VERSION_PLAIN: u16 = 20;
pub(super) const VERSION_ZIP64: u16 = 45;

/// Field values that mean "see the zip64 record".
pub(super) const IN_ZIP64_16: u16 = u16::MAX;
pub(super) const IN_ZIP64_32: u32 = u32::MAX;

/// 1980-01-01, the first day that a DOS date can express: the date of added entries.
pub(super) const DOS_EPOCH: u16 = 1 << 5 | 1;

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Overwrites `value.len()` bytes of a header that has room for them.
pub(super) fn put(header: &mut [u8], at: usize, value: &[u8]) {
    header[at..at + value.len()].copy_from_slice(value);
}

/// Extra fields (APPNOTE 4.5): id, length, data.
pub(super) mod extra {
    use super::u16_at;

    /// Zip64 extended information (APPNOTE 4.5.3).
    const ZIP64: u16 = 1;

    /// Splits off the first field: its id, its data, and the rest. `None` at the end, or if the
    /// rest is no field (padding and damage occur; both are kept).
    fn split(extra: &[u8]) -> Option<(u16, &[u8], &[u8])> {
        let id = u16_at(extra, 0)?;
        let len = usize::from(u16_at(extra, 2)?);
        let (data, rest) = extra[4..].split_at_checked(len)?;
        Some((id, data, rest))
    }

    /// The data of the zip64 field.
    pub(in crate::jar) fn zip64(mut extra: &[u8]) -> Option<&[u8]> {
        while let Some((id, data, rest)) = split(extra) {
            if id == ZIP64 {
                return Some(data);
            }
            extra = rest;
        }
        None
    }

    /// The fields with the zip64 field containing `values`, at its place or else at the end;
    /// without it if there are no values.
    pub(in crate::jar) fn with_zip64(mut extra: &[u8], values: &[u64]) -> Vec<u8> {
        let mut out = Vec::with_capacity(extra.len() + 28);
        let mut put = values.is_empty();
        let field = |out: &mut Vec<u8>| {
            out.extend(ZIP64.to_le_bytes());
            // At most three values of eight bytes.
            out.extend((values.len() as u16 * 8).to_le_bytes());
            out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        };
        while let Some((id, _, rest)) = split(extra) {
            if id != ZIP64 {
                out.extend_from_slice(&extra[..extra.len() - rest.len()]);
            } else if !put {
                field(&mut out);
                put = true;
            }
            extra = rest;
        }
        if !put {
            field(&mut out);
        }
        out.extend_from_slice(extra);
        out
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_zip64_field_is_replaced_in_place_added_or_taken_out() {
            let other = [0xFE, 0xCA, 1, 0, 9];
            let old = [1, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8];
            let new = [1, 0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0];
            let tail = [0, 0, 0];
            assert_eq!(zip64(&[&other[..], &old].concat()), Some(&old[4..]));
            assert_eq!(
                with_zip64(&[&old[..], &other, &tail].concat(), &[5]),
                [&new[..], &other, &tail].concat()
            );
            assert_eq!(with_zip64(&other, &[5]), [&other[..], &new].concat());
            assert_eq!(with_zip64(&[&other[..], &old].concat(), &[]), other);
            assert_eq!(
                with_zip64(&[1, 0, 200, 0, 1], &[]),
                [1, 0, 200, 0, 1],
                "a field that overruns is kept"
            );
        }
    }
}
