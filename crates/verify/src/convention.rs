//! Ids, and the helpers and fields that an output must have (docs/internals/runtime.md,
//! docs/reference/formats/index.md). The computation of ids is written a second time here: a
//! checker that shared the rewriter's would share its faults. The tables are facts of [`cct_jdk`].

use cct_classfile::{Bci, MemberRef, NameAndType};
use cct_jdk::Mode;
use cct_jdk::helpers::{self, Helper};
use cct_jdk::runtime_method::RuntimeMethod;
use xxhash_rust::xxh3::xxh3_64;

use crate::expectation::{Expectation, Tool};

/// The type of the second parameter that extended forms add.
pub const MARKER: &[u8] = b"[[[[J";

/// Maximum number of slots of a node.
pub const MAX_SLOTS: usize = 64;

/// Name of the attribute of rewritten classes.
pub const ATTRIBUTE: &[u8] = b"cctrewrite";

/// The only native of `Object` that classes override and that every class may call.
pub const HASH_CODE: NameAndType<'_> = NameAndType::new(b"hashCode", b"()I");

/// The factor by which a caller's value is multiplied.
pub const FACTOR: i64 = 3;

/// Helpers for markers in outputs that also count.
const OF_MARKERS: &[NameAndType<'_>] = &[
    NameAndType::new(b"cct$markerReady", b"()Z"),
    NameAndType::new(b"cct$markerBits", b"(Ljava/lang/Object;I)I"),
    NameAndType::new(b"cct$markerSettled", b"(Ljava/lang/Object;)V"),
    NameAndType::new(b"cct$markerAbandoned", b"()V"),
    NameAndType::new(b"cct$markerTable", b"(Ljava/lang/Object;)Ljava/lang/Object;"),
    NameAndType::new(b"cct$markerIsOn", b"(Ljava/lang/Object;I)Z"),
    NameAndType::new(
        b"cct$markerEnter",
        b"(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;J)Ljava/lang/Object;",
    ),
    NameAndType::new(b"cct$markerAt", b"(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;J)V"),
    NameAndType::new(b"cct$markerExit", b"(Ljava/lang/Object;)V"),
    NameAndType::new(b"cct$markerMade", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
    NameAndType::new(b"cct$markerThrown", b"(Ljava/lang/Object;)V"),
    NameAndType::new(b"cct$markerReturned", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
    NameAndType::new(b"cct$markerAnswered", b"(Ljava/lang/Object;Z)V"),
    NameAndType::new(b"cct$markerRow", b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    NameAndType::new(b"cct$markerRegister", b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    NameAndType::new(b"cct$markerArray", b"(I)Ljava/lang/Object;"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;ILjava/lang/Object;)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;IZ)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;IB)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;IC)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;IS)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;II)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;IJ)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;IF)V"),
    NameAndType::new(b"cct$markerPut", b"(Ljava/lang/Object;ID)V"),
];

/// The helpers that `java/lang/Object` has in an output: each with its name, and the method of the
/// runtime that it forwards to.
pub fn helpers(expectation: &Expectation) -> impl Iterator<Item = (&'static [u8], RuntimeMethod)> {
    let mode = mode(expectation);
    let of_markers = if expectation.markers == Some(true) { OF_MARKERS } else { &[] };
    let of_markers = of_markers
        .iter()
        .map(|&helper| (helper.name, helpers::runtime_method(helpers::MARKERS_RUNTIME, helper)));
    Helper::all().filter_map(move |helper| Some((helper.name(), helper.target(mode)?))).chain(of_markers)
}

/// The properties of an output on which its helpers and fields depend.
pub fn mode(expectation: &Expectation) -> Mode {
    Mode {
        allocations: expectation.allocations == Some(true),
        columns: !expectation.columns().is_empty(),
        call_sites: expectation.call_sites == Some(true),
        traces: expectation.tool == Some(Tool::Trace),
        values: matches!(expectation.tool, Some(Tool::Values(_))),
    }
}

/// Hash of a class file.
pub fn class_hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The id of a class's `k`-th method that counts nothing on entry.
pub fn method_id(hash: u64, k: usize, slots: usize) -> i64 {
    let step = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    id(hash.wrapping_add(step), slots)
}

/// The id of a class's `k`-th method that counts bytecodes on entry.
pub fn counting_id(hash: u64, k: usize, slots: usize, on_entry: u8) -> i64 {
    method_id(hash, k, slots) | i64::from(on_entry) << 7
}

/// Number of bytecodes that an entry counts by its method's id.
pub fn counted_by_id(id: i64) -> u8 {
    (id >> 7 & 0x1F) as u8
}

/// The id of a method that its callers count.
pub fn foreign_id(method: MemberRef<'_>, slots: usize) -> i64 {
    let MemberRef { class, name, descriptor } = method;
    id(xxh3_64(&[class, b".", name, b":", descriptor].concat()), slots)
}

/// The number that a call adds to three times its caller's value: a hash of the caller's name and
/// the bytecode index of the call, made even (docs/research/pcc.md, *Values*). The index is -1 for
/// callees of a native.
pub fn call_site(method: MemberRef<'_>, bci: Option<Bci>) -> i64 {
    let bci = bci.map_or(-1, i64::from);
    (xxh3_64(format!("{method}@{bci}").as_bytes()) & !1) as i64
}

/// Id for a seed. `mix` is the finaliser of splitmix64; ids below 0x1000 are the runtime's.
fn id(seed: u64, slots: usize) -> i64 {
    let mut z = seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    let hash = if z & !0xFFF == 0 { z | 0x1000 } else { z };
    (hash & !0xFFF | slots as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_documents() {
        // splitmix64, seeded with 0, begins with this number.
        assert_eq!(method_id(0, 0, 5) as u64, 0xE220_A839_7B1D_CDAF & !0xFFF | 5);
        let counting = counting_id(0, 0, 5, 31);
        assert_eq!((counting - method_id(0, 0, 5), counted_by_id(counting)), (31 << 7, 31));
        assert_ne!(method_id(1, 0, 5), method_id(1, 1, 5));
        assert_eq!(foreign_id(MemberRef::new(b"A", b"m", b"()V"), 1), id(class_hash(b"A.m:()V"), 1));
        assert_eq!(id(0, 0), 0x1000, "ids below are the runtime's");
    }

    #[test]
    fn call_sites_add_what_the_documents_say() {
        let caller = MemberRef::new(b"java/util/ArrayList", b"add", b"(Ljava/lang/Object;)Z");
        let add = call_site(caller, Some(7));
        assert_eq!(add as u64, 0xff9e_b2bc_d181_e9d4);
        assert_ne!(add, call_site(caller, None));
    }
}
