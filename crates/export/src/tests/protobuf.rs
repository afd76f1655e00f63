//! A decoder of Protocol Buffers, for formats that consist of them.

/// The fields of a message: number and either integer or bytes.
pub(super) fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (varint, rest) = bytes.split_at(length);
        *bytes = rest;
        varint.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7F))
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        let (contents, rest) =
            if key & 7 == 2 { bytes.split_at(value as usize) } else { (&bytes[..0], bytes) };
        fields.push((key >> 3, value, contents));
        bytes = rest;
    }
    fields
}

/// The integers of a packed field.
pub(super) fn integers(mut bytes: &[u8]) -> Vec<u64> {
    let mut integers = Vec::new();
    while !bytes.is_empty() {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (integer, rest) = bytes.split_at(length);
        integers.push(integer.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7F)));
        bytes = rest;
    }
    integers
}
