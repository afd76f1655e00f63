//! What the class library leaves to chance, and what is put in its place where profiles are to be the same in every run
//! (`--reproducible`; docs/reproducible.md).
//!
//! Chance enters the class library as the time of day: seeds of random numbers, and the order in which `Set.of` and `Map.of` are iterated. A
//! *pin* names one method that asks a clock for such a seed. The clock is still called and counted, so the program has the same calls
//! and bytecodes as it had, and then its answer is replaced by a constant ([`crate::passes::pinned_results`]). Clocks that are asked for the
//! time stay as they are.
//!
//! A class of the library that should have a pinned call and has none has changed since this table was made: its rewriting says so
//! ([`crate::report::ClassReport::unpinned`]).

use cct_classfile::{Bci, ClassFile, Code, Result, opcode};

/// The clocks of `java.lang.System`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// `nanoTime`.
    Nanos,
    /// `currentTimeMillis`.
    Millis,
}

impl Clock {
    /// Name of the method; its descriptor is `()J`.
    pub fn method(self) -> &'static [u8] {
        match self {
            Clock::Nanos => b"nanoTime",
            Clock::Millis => b"currentTimeMillis",
        }
    }

    /// What it says as a seed. Neither is 0, since a salt of 0 is none, and they differ, since seeds are made by `mix(millis) ^ mix(nanos)`.
    pub fn constant(self) -> i64 {
        match self {
            Clock::Nanos => 123_456_789_012_345,
            Clock::Millis => 1_000_000_000_000,
        }
    }
}

/// A method of the class library that takes a seed from a clock.
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
    // SALT, from 17 on SALT32L and REVERSE. While an archive is dumped, the VM gives the seed.
    pin(b"java/util/ImmutableCollections", b"<clinit>", Clock::Nanos, 9, NEWEST),
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

/// The calls in a method's code whose results are replaced, in code order.
pub fn calls(class: &ClassFile<'_>, method: &[u8], code: &Code<'_>) -> Result<Vec<(Bci, Clock)>> {
    let clocks: Vec<Clock> = Pin::of(class).filter(|pin| pin.method == method).map(|pin| pin.clock).collect();
    let mut found = Vec::new();
    if clocks.is_empty() {
        return Ok(found);
    }
    for invocation in code.instructions().filter(|i| i.opcode == opcode::INVOKESTATIC) {
        let Some(index) = invocation.pool_index() else { continue };
        let callee = class.pool.member_ref(index)?;
        let of_system = callee.class == b"java/lang/System" && callee.descriptor == b"()J";
        let clock = clocks.iter().find(|clock| of_system && callee.name == clock.method());
        found.extend(clock.map(|&clock| (invocation.bci, clock)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestClass, class};

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
        calls(&class, member.name, &Code::of(&class, member).unwrap().unwrap()).unwrap()
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
