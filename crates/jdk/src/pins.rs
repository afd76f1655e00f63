//! Reads of clocks in the class library that `--reproducible` replaces by constants
//! (docs/ci/reproducible.md).

use cct_classfile::opcode::{self, Opcode};
use cct_classfile::{ClassFile, MemberName, MemberRef};

/// A clock that the class library reads, a `long`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// `System.nanoTime()`.
    Nanos,
    /// `System.currentTimeMillis()`.
    Millis,
    /// The static field `SoftReference.clock`: the time of the last garbage collection.
    Collections,
}

impl Clock {
    /// The method or field.
    pub fn member(self) -> MemberRef<'static> {
        match self {
            Clock::Nanos => MemberRef::new(b"java/lang/System", b"nanoTime", b"()J"),
            Clock::Millis => MemberRef::new(b"java/lang/System", b"currentTimeMillis", b"()J"),
            Clock::Collections => MemberRef::new(b"java/lang/ref/SoftReference", b"clock", b"J"),
        }
    }

    /// The instruction that reads it.
    pub fn opcode(self) -> Opcode {
        match self {
            Clock::Nanos | Clock::Millis => opcode::INVOKESTATIC,
            Clock::Collections => opcode::GETSTATIC,
        }
    }

    /// The constant that replaces the clock's answer. Neither is 0, since a salt of 0 is none, and
    /// they differ, since seeds are computed by `mix(millis) ^ mix(nanos)`. Soft references then
    /// are as old as the machine; `--reproducible` compensates with `-XX:SoftRefLRUPolicyMSPerMB`.
    pub fn constant(self) -> i64 {
        match self {
            Clock::Nanos => 123_456_789_012_345,
            Clock::Millis => 1_000_000_000_000,
            Clock::Collections => 0,
        }
    }
}

/// A method of the class library that reads a clock for a purpose other than the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// The method, with all its overloads.
    pub method: MemberName<'static>,
    /// The clock that it asks, at one or more locations.
    pub clock: Clock,
    /// The first JDK in which it does.
    pub since: u16,
    /// The last JDK in which it does; [`NEWEST`] if it still does.
    pub until: u16,
}

/// The last JDK of methods that have not changed yet: a class library newer than the tested ones
/// must have the same pins.
const NEWEST: u16 = u16::MAX;

const fn pin(method: MemberName<'static>, clock: Clock, since: u16, until: u16) -> Pin {
    Pin { method, clock, since, until }
}

/// All pins, by class. `Math.random`, `Collections.shuffle`, the probes of `LongAdder` and
/// `ConcurrentHashMap`, the levels of `ConcurrentSkipListMap`, `BigInteger.isProbablePrime` and the
/// generators of `java.util.random` take their seeds from these. (`java.util.secureRandomSeed`,
/// with which a user requests seeds from the operating system, still works.)
pub const PINS: &[Pin] = &[
    pin(MemberName::new(b"java/lang/ref/SoftReference", b"<init>"), Clock::Collections, 8, NEWEST),
    pin(MemberName::new(b"java/lang/ref/SoftReference", b"get"), Clock::Collections, 8, NEWEST),
    // SALT, from 17 on SALT32L and REVERSE. While the VM dumps an archive, it supplies the seed.
    pin(MemberName::new(b"java/util/ImmutableCollections", b"<clinit>"), Clock::Nanos, 9, 26),
    pin(MemberName::new(b"java/util/ImmutableCollections", b"runtimeSetup"), Clock::Nanos, 27, NEWEST),
    pin(MemberName::new(b"java/util/Random", b"<init>"), Clock::Nanos, 8, NEWEST),
    pin(MemberName::new(b"java/util/SplittableRandom", b"initialSeed"), Clock::Nanos, 8, 8),
    pin(MemberName::new(b"java/util/SplittableRandom", b"initialSeed"), Clock::Millis, 8, 8),
    pin(MemberName::new(b"java/util/SplittableRandom", b"<clinit>"), Clock::Nanos, 9, 16),
    pin(MemberName::new(b"java/util/SplittableRandom", b"<clinit>"), Clock::Millis, 9, 16),
    pin(MemberName::new(b"java/util/concurrent/ThreadLocalRandom", b"initialSeed"), Clock::Nanos, 8, 8),
    pin(MemberName::new(b"java/util/concurrent/ThreadLocalRandom", b"initialSeed"), Clock::Millis, 8, 8),
    pin(MemberName::new(b"java/util/concurrent/ThreadLocalRandom", b"<clinit>"), Clock::Nanos, 9, NEWEST),
    pin(MemberName::new(b"java/util/concurrent/ThreadLocalRandom", b"<clinit>"), Clock::Millis, 9, NEWEST),
    pin(MemberName::new(b"jdk/internal/util/random/RandomSupport", b"initialSeed"), Clock::Nanos, 17, NEWEST),
    pin(
        MemberName::new(b"jdk/internal/util/random/RandomSupport", b"initialSeed"),
        Clock::Millis,
        17,
        NEWEST,
    ),
];

impl Pin {
    /// The pins of a class. A class of the library has the class-file version of its JDK: 52 is JDK
    /// 8.
    pub fn of(class: &ClassFile<'_>) -> impl Iterator<Item = &'static Pin> {
        let (name, jdk) = (class.name().to_vec(), class.major_version.saturating_sub(44));
        PINS.iter().filter(move |pin| *pin.method.class == *name && (pin.since..=pin.until).contains(&jdk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_read_stands_there_once_for_each_jdk() {
        for jdk in [8, 11, 16, 17, 26, 27, 40] {
            let of_jdk = PINS.iter().filter(|pin| (pin.since..=pin.until).contains(&jdk));
            let mut reads: Vec<_> = of_jdk.map(|pin| (pin.method, pin.clock)).collect();
            let all = reads.len();
            reads.sort_unstable();
            reads.dedup();
            assert_eq!(reads.len(), all, "{jdk}");
        }
    }
}
