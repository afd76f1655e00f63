//! What the class library leaves to chance, and what is put in its place where profiles are to be the same in every run
//! (`--reproducible`; docs/reproducible.md).
//!
//! Chance enters the class library as the time of day: seeds of random numbers, and the order in which `Set.of` and `Map.of` are iterated. A
//! *pin* names one method that asks a clock for such a seed. The clock is still called and counted, so the program has the same calls
//! and bytecodes as it had, and then its answer is replaced by a constant ([`crate::passes::pinned_results`]). Clocks that are asked for the
//! time stay as they are.
//!
//! One more clock is a field that the garbage collector sets: `SoftReference.get` copies it into the reference when it has changed since, and so has
//! three bytecodes more after each collection.
//!
//! A class of the library that should have a pinned call and has none has changed since this table was made: its rewriting says so
//! ([`crate::report::ClassReport::unpinned`]).

use cct_classfile::{Bci, ClassFile, Code, Result, opcode};

/// Where the class library reads the time, a `long`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// `System.nanoTime()`.
    Nanos,
    /// `System.currentTimeMillis()`.
    Millis,
    /// The static field `SoftReference.clock`: when the garbage collector ran last.
    Collections,
}

impl Clock {
    /// Class of the method or field.
    pub fn class(self) -> &'static [u8] {
        match self {
            Clock::Nanos | Clock::Millis => b"java/lang/System",
            Clock::Collections => b"java/lang/ref/SoftReference",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static [u8] {
        match self {
            Clock::Nanos => b"nanoTime",
            Clock::Millis => b"currentTimeMillis",
            Clock::Collections => b"clock",
        }
    }

    /// The instruction that reads it, and the descriptor.
    fn read(self) -> (u8, &'static [u8]) {
        match self {
            Clock::Nanos | Clock::Millis => (opcode::INVOKESTATIC, b"()J"),
            Clock::Collections => (opcode::GETSTATIC, b"J"),
        }
    }

    /// What it says. As a seed neither is 0, since a salt of 0 is none, and they differ, since seeds are made by `mix(millis) ^ mix(nanos)`. Soft
    /// references are as old as the machine then, for which `-XX:SoftRefLRUPolicyMSPerMB` of `--reproducible` makes up.
    pub fn constant(self) -> i64 {
        match self {
            Clock::Nanos => 123_456_789_012_345,
            Clock::Millis => 1_000_000_000_000,
            Clock::Collections => 0,
        }
    }
}

/// A method of the class library that reads a clock for another purpose than to tell the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Internal name of the class.
    pub class: &'static [u8],
    /// Name of the method.
    pub method: &'static [u8],
    /// The clock that it asks, at one or more places.
    pub clock: Clock,
    /// The JDKs in which it does: the first.
    pub since: u16,
    /// The last; [`NEWEST`] where it still does.
    pub until: u16,
}

/// For methods that have not changed yet: a class library newer than those that were looked at is held to the same.
const NEWEST: u16 = u16::MAX;

const fn pin(class: &'static [u8], method: &'static [u8], clock: Clock, since: u16, until: u16) -> Pin {
    Pin { class, method, clock, since, until }
}

/// All pins, by class. `Math.random`, `Collections.shuffle`, the probes of `LongAdder` and `ConcurrentHashMap`, the levels of
/// `ConcurrentSkipListMap`, `BigInteger.isProbablePrime` and the generators of `java.util.random` take their seeds from these.
/// (`java.util.secureRandomSeed`, with which a user asks for seeds from the operating system, still has its effect.)
pub const PINS: &[Pin] = &[
    pin(b"java/lang/ref/SoftReference", b"<init>", Clock::Collections, 8, NEWEST),
    pin(b"java/lang/ref/SoftReference", b"get", Clock::Collections, 8, NEWEST),
    // SALT, from 17 on SALT32L and REVERSE. While an archive is dumped, the VM gives the seed.
    pin(b"java/util/ImmutableCollections", b"<clinit>", Clock::Nanos, 9, 26),
    pin(b"java/util/ImmutableCollections", b"runtimeSetup", Clock::Nanos, 27, NEWEST),
    pin(b"java/util/Random", b"<init>", Clock::Nanos, 8, NEWEST),
    pin(b"java/util/SplittableRandom", b"initialSeed", Clock::Nanos, 8, 8),
    pin(b"java/util/SplittableRandom", b"initialSeed", Clock::Millis, 8, 8),
    pin(b"java/util/SplittableRandom", b"<clinit>", Clock::Nanos, 9, 16),
    pin(b"java/util/SplittableRandom", b"<clinit>", Clock::Millis, 9, 16),
    pin(b"java/util/concurrent/ThreadLocalRandom", b"initialSeed", Clock::Nanos, 8, 8),
    pin(b"java/util/concurrent/ThreadLocalRandom", b"initialSeed", Clock::Millis, 8, 8),
    pin(b"java/util/concurrent/ThreadLocalRandom", b"<clinit>", Clock::Nanos, 9, NEWEST),
    pin(b"java/util/concurrent/ThreadLocalRandom", b"<clinit>", Clock::Millis, 9, NEWEST),
    pin(b"jdk/internal/util/random/RandomSupport", b"initialSeed", Clock::Nanos, 17, NEWEST),
    pin(b"jdk/internal/util/random/RandomSupport", b"initialSeed", Clock::Millis, 17, NEWEST),
];

impl Pin {
    /// The pins of a class. A class of the library has the class-file version of its JDK: 52 is JDK 8.
    pub fn of(class: &ClassFile<'_>) -> impl Iterator<Item = &'static Pin> {
        let (name, jdk) = (class.name().to_vec(), class.major_version.saturating_sub(44));
        PINS.iter().filter(move |pin| *pin.class == *name && (pin.since..=pin.until).contains(&jdk))
    }
}

/// The reads of clocks in a method's code whose results are replaced, in code order.
pub fn reads(class: &ClassFile<'_>, method: &[u8], code: &Code<'_>) -> Result<Vec<(Bci, Clock)>> {
    let clocks: Vec<Clock> = Pin::of(class).filter(|pin| pin.method == method).map(|pin| pin.clock).collect();
    let mut found = Vec::new();
    if clocks.is_empty() {
        return Ok(found);
    }
    for read in code.instructions() {
        if !clocks.iter().any(|clock| clock.read().0 == read.opcode) {
            continue;
        }
        let Some(index) = read.pool_index() else { continue };
        let member = class.pool.member_ref(index)?;
        let is_read = |clock: Clock| {
            clock.read() == (read.opcode, member.descriptor)
                && clock.class() == member.class
                && clock.name() == member.name
        };
        found.extend(clocks.iter().find(|&&clock| is_read(clock)).map(|&clock| (read.bci, clock)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_test_classes::{TestClass, class};

    /// `name` with a method that asks both clocks.
    fn asks_both(name: &'static str, method: &'static str) -> TestClass {
        let [nanos, millis] = [6, 12];
        let ask = |index: u8| [opcode::INVOKESTATIC, 0, index, opcode::POP2];
        let code = [&ask(nanos)[..], &ask(millis), &[opcode::RETURN]].concat();
        class(name)
            .reference("java/lang/System", "nanoTime", "()J")
            .reference("java/lang/System", "currentTimeMillis", "()J")
            .method(cct_classfile::access::STATIC, method, "()V")
            .with_code(code)
    }

    fn found(class: &TestClass) -> Vec<(Bci, Clock)> {
        let bytes = class.bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let member = &class.methods[0];
        reads(&class, member.name, &Code::of(&class, member).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn only_the_clocks_of_the_table_are_pinned() {
        assert_eq!(found(&asks_both("java/util/Random", "<init>")), [(0, Clock::Nanos)]);
        assert_eq!(found(&asks_both("java/util/Random", "next")), []);
        assert_eq!(found(&asks_both("a/Random", "<init>")), []);
        let both = [(0, Clock::Nanos), (4, Clock::Millis)];
        assert_eq!(found(&asks_both("java/util/SplittableRandom", "initialSeed")), both);
    }

    /// `SplittableRandom` takes its seed in another method from 9 on, and from `RandomSupport` from 17 on.
    #[test]
    fn each_jdk_has_its_own_pins() {
        let clocks = |version: u16| {
            let mut bytes = asks_both("java/util/SplittableRandom", "m").bytes();
            bytes[6..8].copy_from_slice(&version.to_be_bytes());
            let class = ClassFile::parse(&bytes).unwrap();
            Pin::of(&class).map(|pin| pin.method).collect::<Vec<_>>()
        };
        assert_eq!(clocks(52), [b"initialSeed"; 2]);
        assert_eq!(clocks(55), [b"<clinit>"; 2]);
        assert!(clocks(61).is_empty());
    }
}
