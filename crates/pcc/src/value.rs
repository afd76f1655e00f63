//! The value of a calling context.
//!
//! A callee's value is `3 * V + h(call site)` modulo 2^64, where `V` is its caller's. It does not
//! commute, so the order of calls matters, and an odd factor loses no bit.
//!
//! `h` is the 64-bit XXH3 hash (seed 0) of the call site's name in UTF-8,
//! `java/util/ArrayList.add(Ljava/lang/Object;)Z@7`, with its lowest bit cleared. So calls never
//! change the lowest bit of a value. It is 1 for a recorded context, and 0 for a thread's value
//! where nothing is recorded, such as 0 before the JVM has booted. That leaves 63 bits to
//! distinguish contexts; [`Value::narrow`] has 32 of them, the result of the same computation in 32
//! bits.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// The factor of the caller's value.
pub const FACTOR: u64 = 3;

/// The lowest bit of a value, set in values of recorded contexts.
pub const RECORDED: u64 = 1;

/// The value of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u64);

/// The term that a call site adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Site(pub u64);

impl Value {
    /// The value of contexts without a caller: the outermost methods of threads.
    pub const ROOT: Value = Value(RECORDED);

    /// The value of a callee at this call site.
    #[must_use]
    pub fn call(self, site: Site) -> Value {
        Value(self.0.wrapping_mul(FACTOR).wrapping_add(site.0))
    }

    /// The value in 32 bits.
    pub fn narrow(self) -> u32 {
        (self.0 >> 1) as u32
    }

    /// Whether this is the value of a recorded context.
    pub fn is_recorded(self) -> bool {
        self.0 & RECORDED != 0
    }

    /// Parses a value in its written form.
    pub fn parse(text: &str) -> Option<Value> {
        let is_hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex.then(|| u64::from_str_radix(text, 16).ok().map(Value)).flatten()
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Site {
    /// The term of a call site of a method. The site's name is the name of the class with slashes,
    /// name and descriptor of the method, then the bytecode index of the call. `None` stands for
    /// calls by a native, which have no index and count as -1.
    pub fn of(class: &str, method: &str, descriptor: &str, bci: Option<u16>) -> Site {
        Site::of_caller(&caller(class, method, descriptor), bci)
    }

    /// The term of a call site, from the result of [`caller`].
    pub fn of_caller(caller: &str, bci: Option<u16>) -> Site {
        let index = bci.map_or(-1, i32::from);
        Site(xxh3_64(format!("{caller}@{index}").as_bytes()) & !RECORDED)
    }

    /// The combined term of two successive calls: the callee of the first makes the second.
    #[must_use]
    pub fn then(self, next: Site) -> Site {
        Site(self.0.wrapping_mul(FACTOR).wrapping_add(next.0))
    }
}

/// The prefix of the names of a method's call sites.
pub fn caller(class: &str, method: &str, descriptor: &str) -> String {
    format!("{class}.{method}{descriptor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(method: &str, bci: u16) -> Site {
        Site::of("a/B", method, "()V", Some(bci))
    }

    /// Values in files must keep their meaning. (By the runtime's own XXH3, `Xxh3.java`.)
    #[test]
    fn sites_have_the_hashes_that_they_have_always_had() {
        assert_eq!(caller("a/B", "m", "()V"), "a/B.m()V");
        assert_eq!(Site::of("a/B", "m", "()V", Some(7)).0, 0x630e_02c8_9535_6b4a);
        assert_eq!(Site::of("a/B", "m", "()V", None).0, 0x8553_28e5_f1d6_d572);
        let add = Site::of("java/util/ArrayList", "add", "(Ljava/lang/Object;)Z", Some(7));
        assert_eq!(add.0, 0xff9e_b2bc_d181_e9d4);
        assert_eq!(Value::ROOT.call(add).0, 0xff9e_b2bc_d181_e9d7);
    }

    #[test]
    fn equal_ways_have_equal_values_and_the_order_matters() {
        let (a, b) = (site("a", 1), site("b", 2));
        assert_eq!(Value::ROOT.call(a).call(b), Value::ROOT.call(a).call(b));
        assert_ne!(Value::ROOT.call(a).call(b), Value::ROOT.call(b).call(a));
        assert_ne!(Value::ROOT.call(a), Value::ROOT.call(site("a", 2)));
    }

    #[test]
    fn two_calls_at_once_are_two_calls() {
        let (a, b) = (site("a", 1), site("b", 2));
        let both = a.then(b);
        let tripled = Value::ROOT.0.wrapping_mul(FACTOR);
        let at_once = tripled.wrapping_mul(FACTOR).wrapping_add(both.0);
        assert_eq!(at_once, Value::ROOT.call(a).call(b).0);
    }

    #[test]
    fn whether_something_is_recorded_stays_as_it_is() {
        let sites: Vec<Site> = (0..1000).map(|bci| site("m", bci)).collect();
        for start in [0, 8, 16, 1] {
            let end = sites.iter().fold(Value(start), |value, &site| value.call(site));
            assert_eq!(end.is_recorded(), start == 1, "{start}");
        }
    }

    /// The narrow value can be computed by itself.
    #[test]
    fn thirty_two_bits_are_those_of_a_computation_in_thirty_two_bits() {
        let (mut wide, mut narrow) = (Value::ROOT, 0u32);
        for bci in 0..1000 {
            let site = site("m", bci);
            wide = wide.call(site);
            // V = 2v + 1 and h = 2g, so v becomes 3v + 1 + g.
            narrow = narrow.wrapping_mul(3).wrapping_add(1).wrapping_add((site.0 >> 1) as u32);
            assert_eq!(wide.narrow(), narrow);
        }
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        let value = Value::ROOT.call(site("m", 3));
        assert_eq!(Value::parse(&value.to_string()), Some(value));
        for text in ["", "1", "000000000000000g", "+000000000000001", "00000000000000001"] {
            assert_eq!(Value::parse(text), None, "{text}");
        }
    }
}
