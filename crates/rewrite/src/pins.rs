//! Pins: constants that replace the answers of clocks, for profiles that are equal in every run
//! (`--reproducible`; docs/ci/reproducible.md).
//!
//! Chance enters the class library as the time of day: as seeds of random numbers, and in the
//! iteration order of `Set.of` and `Map.of`. A *pin* names one method that asks a clock for such a
//! seed. The clock is still called and counted, so the program executes the same calls and
//! bytecodes. Then a constant replaces its answer ([`crate::passes::pinned_results`]). Calls that
//! ask a clock for the time stay unchanged.
//!
//! One more clock is a field that the garbage collector sets. `SoftReference.get` copies it into
//! the reference if it has changed, and so executes three bytecodes more after each collection.
//!
//! A class of the library that lacks a call from this table has changed since the table was
//! written: the report of its rewriting says so ([`crate::report::ClassReport::unpinned`]).

use cct_classfile::{Bci, ClassFile, Code, Result};
use cct_jdk::pins::{Clock, Pin};

/// The reads of clocks in a method's code whose results are replaced, in code order.
pub fn reads(class: &ClassFile<'_>, method: &[u8], code: &Code<'_>) -> Result<Vec<(Bci, Clock)>> {
    let clocks: Vec<Clock> =
        Pin::of(class).filter(|pin| pin.method.name == method).map(|pin| pin.clock).collect();
    let mut found = Vec::new();
    if clocks.is_empty() {
        return Ok(found);
    }
    for read in code.instructions() {
        if !clocks.iter().any(|clock| clock.opcode() == read.opcode) {
            continue;
        }
        let Some(index) = read.pool_index() else { continue };
        let member = class.pool.member_ref(index)?;
        let is_read = |clock: Clock| clock.opcode() == read.opcode && clock.member() == member;
        found.extend(clocks.iter().find(|&&clock| is_read(clock)).map(|&clock| (read.bci, clock)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use cct_classfile::opcode;

    use super::*;
    use cct_test_classes::{TestClass, class};

    /// A class `name` with a method that asks both clocks.
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

    /// `SplittableRandom` takes its seed in a different method since 9, and from `RandomSupport`
    /// since 17.
    #[test]
    fn each_jdk_has_its_own_pins() {
        let clocks = |version: u16| {
            let mut bytes = asks_both("java/util/SplittableRandom", "m").bytes();
            bytes[6..8].copy_from_slice(&version.to_be_bytes());
            let class = ClassFile::parse(&bytes).unwrap();
            Pin::of(&class).map(|pin| pin.method.name).collect::<Vec<_>>()
        };
        assert_eq!(clocks(52), [b"initialSeed"; 2]);
        assert_eq!(clocks(55), [b"<clinit>"; 2]);
        assert!(clocks(61).is_empty());
    }
}
