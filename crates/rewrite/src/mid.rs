//! Method ids (docs/formats/index.md, *Method ids*): content hashes, so that separate runs agree without a registry.

use xxhash_rust::xxh3::xxh3_64;

use crate::convention::MAX_SLOTS;

/// Hash of a class file's original bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassHash(pub u64);

/// Names one rewritten body and carries its number of slots in the low seven bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mid(pub u64);

/// Low bits that hold the number of slots.
const SLOT_BITS: u64 = 0x7F;

impl ClassHash {
    /// The hash of a class file.
    pub fn of(bytes: &[u8]) -> Self {
        ClassHash(xxh3_64(bytes))
    }

    /// The MID of the `k`-th method (in class-file order) with this many slots.
    pub fn method(self, k: usize, slots: u8) -> Mid {
        let step = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Mid::new(mix(self.0.wrapping_add(step)), slots)
    }
}

impl Mid {
    fn new(hash: u64, slots: u8) -> Self {
        debug_assert!(u16::from(slots) <= MAX_SLOTS);
        // MIDs 0 to 0x7F are the runtime's own (sentinel, root, marker nodes): moved out of the way.
        let hash = if hash & !SLOT_BITS == 0 { hash | 0x80 } else { hash };
        Mid(hash & !SLOT_BITS | u64::from(slots))
    }

    /// The MID of a method without a body of ours, counted by its caller: a hash of its full name.
    pub fn foreign(owner: &[u8], name: &[u8], descriptor: &[u8], slots: u8) -> Self {
        let full: Vec<u8> = [owner, b".", name, b":", descriptor].concat();
        Mid::new(mix(xxh3_64(&full)), slots)
    }
}

/// The finaliser of splitmix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mids_carry_their_slots_and_differ() {
        let class = ClassHash::of(b"some class");
        let (a, b) = (class.method(0, 5), class.method(1, 5));
        assert_eq!((a.0 & 0x7F, b.0 & 0x7F), (5, 5));
        assert_ne!(a, b);
        assert_ne!(a, class.method(0, 6));
        assert_ne!(a, ClassHash::of(b"some clasS").method(0, 5));
    }

    #[test]
    fn the_runtime_computes_the_same() {
        // First output of splitmix64 seeded with 0 is mix(0x9E37...15).
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0xE220_A839_7B1D_CDAF);
    }
}
