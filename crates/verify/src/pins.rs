//! Clocks whose answers `--reproducible` replaces (docs/reproducible.md, *In the class library*): each read that the page names, and no other.

use cct_classfile::{ClassFile, Instruction, opcode};

/// What is read: class, name, descriptor, the instruction that reads it, and the constant that takes the place of what it says.
pub type Clock = (&'static [u8], &'static [u8], &'static [u8], u8, i64);

const NANOS: Clock = (b"java/lang/System", b"nanoTime", b"()J", opcode::INVOKESTATIC, 123_456_789_012_345);
const MILLIS: Clock =
    (b"java/lang/System", b"currentTimeMillis", b"()J", opcode::INVOKESTATIC, 1_000_000_000_000);
const COLLECTIONS: Clock = (b"java/lang/ref/SoftReference", b"clock", b"J", opcode::GETSTATIC, 0);

/// A method of the class library that asks clocks for something else than the time: class, name, clocks, and the first and last JDK in which it does.
pub type Pin = (&'static [u8], &'static [u8], &'static [Clock], u16, u16);

/// Stands for the last JDK of what has not changed yet.
const NEWEST: u16 = u16::MAX;

/// See [`Pin`].
const PINS: &[Pin] = &[
    (b"java/lang/ref/SoftReference", b"<init>", &[COLLECTIONS], 8, NEWEST),
    (b"java/lang/ref/SoftReference", b"get", &[COLLECTIONS], 8, NEWEST),
    (b"java/util/ImmutableCollections", b"<clinit>", &[NANOS], 9, 26),
    (b"java/util/ImmutableCollections", b"runtimeSetup", &[NANOS], 27, NEWEST),
    (b"java/util/Random", b"<init>", &[NANOS], 8, NEWEST),
    (b"java/util/SplittableRandom", b"initialSeed", &[NANOS, MILLIS], 8, 8),
    (b"java/util/SplittableRandom", b"<clinit>", &[NANOS, MILLIS], 9, 16),
    (b"java/util/concurrent/ThreadLocalRandom", b"initialSeed", &[NANOS, MILLIS], 8, 8),
    (b"java/util/concurrent/ThreadLocalRandom", b"<clinit>", &[NANOS, MILLIS], 9, NEWEST),
    (b"jdk/internal/util/random/RandomSupport", b"initialSeed", &[NANOS, MILLIS], 17, NEWEST),
];

/// The class-file version of JDK 0: classes of a class library have the version of their JDK.
const FIRST_VERSION: u16 = 44;

/// The clocks that a method of this class asks for something else than the time.
pub fn clocks(class: &ClassFile<'_>, method: &[u8]) -> &'static [Clock] {
    let jdk = class.major_version.saturating_sub(FIRST_VERSION);
    let of = |pin: &&Pin| (pin.0, pin.1) == (class.name(), method) && (pin.3..=pin.4).contains(&jdk);
    PINS.iter().find(of).map_or(&[], |pin| pin.2)
}

/// The one of these clocks that an instruction reads.
pub fn read<'k>(clocks: &'k [Clock], class: &ClassFile<'_>, i: &Instruction<'_>) -> Option<&'k Clock> {
    let of_its_kind = clocks.iter().any(|clock| clock.3 == i.opcode);
    let member =
        i.pool_index().filter(|_| of_its_kind).and_then(|index| class.pool.member_ref(index).ok())?;
    clocks.iter().find(|clock| {
        clock.3 == i.opcode && (clock.0, clock.1, clock.2) == (member.class, member.name, member.descriptor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_stands_there_once_for_each_jdk() {
        for jdk in [8, 11, 16, 17, 26, 27, 40] {
            let of = |pin: &&Pin| (pin.3..=pin.4).contains(&jdk);
            let mut names: Vec<_> = PINS.iter().filter(of).map(|pin| (pin.0, pin.1)).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{jdk}");
        }
    }
}
