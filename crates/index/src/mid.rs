//! Method ids (docs/reference/formats/index.md, *Method ids*): content hashes, so that separate
//! runs agree without a registry.

use cct_classfile::MemberRef;
use xxhash_rust::xxh3::xxh3_64;

/// Hash of a class file's original bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassHash(pub u64);

/// Id of one rewritten body, with its [`Shape`] in the low twelve bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mid(pub u64);

/// The facts about a method that a MID holds besides the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Call-site slots of its nodes, 0 to [`MAX_SLOTS`].
    pub slots: u8,
    /// Bytecodes that each entry counts without adding them to the node, 0 to [`MAX_ON_ENTRY`]. A
    /// node has executed this many for each of its calls, plus those in its field.
    pub on_entry: u8,
}

/// Maximum number of slots of a node; call sites share them round-robin (`site % MAX_SLOTS`).
pub const MAX_SLOTS: u16 = 64;

/// The method name of a node that counts the objects of a type. No method can have this name (JVMS
/// 4.2.2).
pub const NEW: &[u8] = b"<new>";

/// The class name of a column's id, whose method name is the column's. No class has this name (JVMS
/// 4.2.1).
pub const COLUMN_CLASS: &[u8] = b"";

/// Maximum number of bytecodes that a MID can count on entry. The few methods with more add them to
/// the node.
pub const MAX_ON_ENTRY: u8 = 31;

/// The low bits that hold the number of slots; the position of those that hold the count of an
/// entry; and all of them.
const SLOT_BITS: u64 = 0x7F;
const ON_ENTRY_SHIFT: u32 = 7;
const SHAPE_BITS: u64 = 0xFFF;

impl Shape {
    /// The shape of a method whose entries count nothing without adding it to the node.
    pub fn of_slots(slots: u8) -> Self {
        Shape { slots, on_entry: 0 }
    }

    /// The shape from the bytes of a row; `None` if they exceed their limits and would give another
    /// method's id.
    pub fn checked(slots: u8, on_entry: u8) -> Option<Self> {
        (u16::from(slots) <= MAX_SLOTS && on_entry <= MAX_ON_ENTRY).then_some(Shape { slots, on_entry })
    }
}

impl ClassHash {
    /// The hash of a class file.
    pub fn of(bytes: &[u8]) -> Self {
        ClassHash(xxh3_64(bytes))
    }

    /// The MID of the `k`-th method (in class-file order) of this shape.
    pub fn method(self, k: usize, shape: Shape) -> Mid {
        let step = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Mid::new(mix(self.0.wrapping_add(step)), shape)
    }
}

impl Mid {
    fn new(hash: u64, shape: Shape) -> Self {
        let Shape { slots, on_entry } = shape;
        debug_assert!(u16::from(slots) <= MAX_SLOTS && on_entry <= MAX_ON_ENTRY);
        // MIDs 0 to 0xFFF are the runtime's own (sentinel, root, marker nodes), so avoid them.
        let hash = if hash & !SHAPE_BITS == 0 { hash | 0x1000 } else { hash };
        Mid(hash & !SHAPE_BITS | u64::from(on_entry) << ON_ENTRY_SHIFT | u64::from(slots))
    }

    /// Bytecodes that each entry counts without adding them to the node.
    pub fn on_entry(self) -> u64 {
        self.0 >> ON_ENTRY_SHIFT & u64::from(MAX_ON_ENTRY)
    }

    /// Slots of its nodes.
    pub fn slots(self) -> u64 {
        self.0 & SLOT_BITS
    }

    /// Number of bytecodes that a node of the method has executed, by its fields. Differences of
    /// two states of a node may be negative.
    pub fn bytecodes(self, calls: u64, field: u64) -> u64 {
        calls.wrapping_mul(self.on_entry()).wrapping_add(field)
    }

    /// The MID of a method without an instrumented body, which its caller counts: a hash of its
    /// full name.
    pub fn foreign(method: MemberRef<'_>, slots: u8) -> Self {
        let full: Vec<u8> = [method.class, b".", method.name, b":", method.descriptor].concat();
        Mid::new(mix(xxh3_64(&full)), Shape::of_slots(slots))
    }

    /// The id under which the objects of a type are counted: a class's name, or an array's
    /// descriptor. Types of one name in several loaders share it, since they cannot be
    /// distinguished before they are resolved.
    pub fn of_type(name: &[u8]) -> Self {
        Mid::foreign(MemberRef::new(name, NEW, b""), 0)
    }

    /// The id of the cells of a column. Cells are leaves below a node, and their calls are the
    /// node's number in the column.
    pub fn of_column(name: &[u8]) -> Self {
        Mid::foreign(MemberRef::new(COLUMN_CLASS, name, b""), 0)
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
    fn mids_carry_their_shapes_and_differ() {
        let class = ClassHash::of(b"some class");
        let shape = Shape { slots: 5, on_entry: 31 };
        let (a, b) = (class.method(0, shape), class.method(1, shape));
        assert_eq!((a.0 & 0xFFF, b.0 & 0xFFF), (31 << 7 | 5, 31 << 7 | 5));
        assert_eq!((a.slots(), a.on_entry(), a.bytecodes(3, 4)), (5, 31, 97));
        assert_eq!(a.bytecodes(1_u64.wrapping_neg(), 0), 31_u64.wrapping_neg());
        assert_ne!(a, b);
        assert_ne!(a, class.method(0, Shape { slots: 6, on_entry: 31 }));
        assert_ne!(a, class.method(0, Shape::of_slots(5)));
        assert_ne!(a, ClassHash::of(b"some clasS").method(0, shape));
    }

    #[test]
    fn shapes_out_of_bounds_are_none() {
        assert_eq!(Shape::checked(64, 31), Some(Shape { slots: 64, on_entry: 31 }));
        assert_eq!((Shape::checked(65, 0), Shape::checked(0, 32)), (None, None));
    }

    #[test]
    fn the_runtime_computes_the_same() {
        // First output of splitmix64 seeded with 0 is mix(0x9E37...15).
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0xE220_A839_7B1D_CDAF);
    }
}
