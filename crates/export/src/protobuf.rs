//! The wire format of Protocol Buffers, as far as `profile.proto` needs it: variable-length
//! integers, and fields with a length.
//!
//! Written by hand, because libraries for it hold a whole message before they write it. A profile's
//! samples repeat their stacks, and millions of them are gigabytes. Here each part of the outermost
//! message is written as soon as it is complete.

/// A message, or a part of one, in memory.
#[derive(Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

/// Wire type of integers.
const VARINT: u64 = 0;
/// Wire type of strings, messages, and packed repeated integers.
const LENGTH_DELIMITED: u64 = 2;

impl Message {
    pub(crate) fn new() -> Message {
        Message::default()
    }

    /// Adds an integer field. Omits 0, which readers assume for a missing field.
    pub(crate) fn integer(&mut self, field: u64, value: u64) -> &mut Message {
        if value != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(value);
        }
        self
    }

    /// Adds a repeated integer field, packed.
    pub(crate) fn integers(&mut self, field: u64, values: impl Iterator<Item = u64> + Clone) -> &mut Message {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(values.clone().map(|value| varint_length(value) as u64).sum());
        values.for_each(|value| self.varint(value));
        self
    }

    /// Adds a field of bytes: a string, or a message.
    pub(crate) fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Message {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
        self
    }

    /// Adds a message.
    pub(crate) fn message(&mut self, field: u64, message: &Message) -> &mut Message {
        self.bytes(field, &message.bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Empties it, for the next one.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

fn varint_length(value: u64) -> usize {
    // A byte holds seven bits; 0 needs one, too.
    ((63 - (value | 1).leading_zeros()) / 7 + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_specification() {
        // The examples of the encoding guide: 150 in field 1, "testing" in field 2, a message of
        // the former in field 3, packed 3, 270, 86942.
        let mut inner = Message::new();
        inner.integer(1, 150);
        assert_eq!(inner.as_bytes(), [0x08, 0x96, 0x01]);
        let mut message = Message::new();
        message
            .bytes(2, b"testing")
            .message(3, &inner)
            .integers(6, [3, 270, 86942].into_iter())
            .integer(7, 0);
        let expected = [
            &[0x12, 0x07][..],
            b"testing",
            &[0x1A, 0x03, 0x08, 0x96, 0x01, 0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05],
        ];
        assert_eq!(message.as_bytes(), expected.concat());
        message.clear();
        assert_eq!(message.as_bytes(), [0u8; 0]);
    }

    #[test]
    fn lengths_are_those_that_are_written() {
        for value in [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX] {
            let mut message = Message::new();
            message.varint(value);
            assert_eq!(message.bytes.len(), varint_length(value), "{value}");
        }
    }
}
