//! Modified UTF-8 (JVMS 4.4.7): like UTF-8, except that NUL is two bytes and characters beyond the
//! BMP are surrogate pairs of three bytes each.

use std::borrow::Cow;

/// Splits off the first UTF-16 code unit. `None` when the bytes are malformed.
fn next_unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let continuation = |b: u8| (b & 0xC0 == 0x80).then_some(u16::from(b & 0x3F));
    match *bytes {
        [a @ 0x01..=0x7F, ref rest @ ..] => Some((u16::from(a), rest)),
        [a @ 0xC0..=0xDF, b, ref rest @ ..] => Some((u16::from(a & 0x1F) << 6 | continuation(b)?, rest)),
        [a @ 0xE0..=0xEF, b, c, ref rest @ ..] => {
            Some((u16::from(a & 0x0F) << 12 | continuation(b)? << 6 | continuation(c)?, rest))
        }
        _ => None,
    }
}

/// Whether `bytes` are modified UTF-8. Forms longer than needed are not, except for NUL, which must
/// take two bytes. (HotSpot accepts them in class files below version 48.)
pub fn is_valid(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        if (0x01..=0x7F).contains(&first) {
            rest = &rest[1..];
            continue;
        }
        let Some((unit, after)) = next_unit(rest) else { return false };
        let shortest = match unit {
            0x0001..=0x007F => 1,
            0x0000 | 0x0080..=0x07FF => 2,
            _ => 3,
        };
        if rest.len() - after.len() != shortest {
            return false;
        }
        rest = after;
    }
    true
}

/// Decodes a name for people; U+FFFD replaces bytes that are not modified UTF-8.
pub fn lossy(name: &[u8]) -> String {
    decode_lossy(name).into_owned()
}

/// Decodes for people; U+FFFD replaces lone surrogates and malformed bytes. Plain ASCII is
/// borrowed.
pub fn decode_lossy(bytes: &[u8]) -> Cow<'_, str> {
    if bytes.is_ascii()
        && !bytes.contains(&0)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        match next_unit(rest) {
            Some((unit, after)) => {
                units.push(unit);
                rest = after;
            }
            None => {
                units.push(0xFFFD);
                rest = &rest[1..];
            }
        }
    }
    Cow::Owned(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Encodes a Rust string as modified UTF-8.
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    if text.bytes().all(|b| (0x01..=0x7F).contains(&b)) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for unit in text.encode_utf16() {
        match unit {
            0x0001..=0x007F => out.push(unit as u8),
            0x0000 | 0x0080..=0x07FF => out.extend([0xC0 | (unit >> 6) as u8, 0x80 | (unit & 0x3F) as u8]),
            _ => out.extend([
                0xE0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3F) as u8,
                0x80 | (unit & 0x3F) as u8,
            ]),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_and_supplementary_characters_take_their_modified_forms() {
        assert_eq!(&*encode("a\0"), b"a\xC0\x80");
        assert_eq!(&*encode("\u{1F600}"), b"\xED\xA0\xBD\xED\xB8\x80");
        for text in ["", "plain", "a\0b", "\u{e9}\u{4e2d}\u{1F600}"] {
            let bytes = encode(text);
            assert!(is_valid(&bytes));
            assert_eq!(decode_lossy(&bytes), text);
        }
    }

    #[test]
    fn lone_surrogates_are_valid_and_shown_as_replacement() {
        assert!(is_valid(b"\xED\xA0\xBD"));
        assert_eq!(decode_lossy(b"x\xED\xA0\xBDy"), "x\u{FFFD}y");
    }

    #[test]
    fn overlong_forms_are_refused() {
        for bad in [&b"\xC1\x81"[..], b"\xE0\x81\x81", b"\xE0\x80\x80"] {
            assert!(!is_valid(bad), "{bad:?}");
        }
    }

    #[test]
    fn malformed_bytes_are_refused_but_shown() {
        for bad in [&b"\0"[..], b"\xF0\x9F\x98\x80", b"\xC3", b"\xE0\x80", b"\x80", b"\xC3a"] {
            assert!(!is_valid(bad), "{bad:?}");
            assert!(!decode_lossy(bad).is_empty());
        }
    }
}
