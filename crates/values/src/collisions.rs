//! Measures of how well values distinguish the contexts of a tree, for `cctrewrite pcc collisions`.

use std::io::{self, Write};

use cct_pcc::{MethodChoice, Value};
use cct_profile::Profile;
use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::report::grouped;
use cct_profile::united_methods::Bodies;

use crate::Error;
use crate::tree::Values;

/// Counts of a tree's contexts and values.
#[derive(Debug, PartialEq, Eq)]
pub struct Counts {
    /// Contexts by name, over all threads together.
    contexts: u64,
    /// Number of different chains of call sites, which values identify: all callees of one site
    /// share a value.
    chains: u64,
    /// Results for 32 bits, and for all bits.
    narrow: Width,
    wide: Width,
    left_out: u64,
}

/// Results for values of one width.
#[derive(Debug, PartialEq, Eq)]
struct Width {
    bits: u32,
    /// Number of different values.
    values: u64,
    /// Number of contexts that share method and value with another one.
    ambiguous: u64,
}

impl Counts {
    /// Counts a profile that distinguishes call sites.
    pub fn of(profile: &Profile) -> Result<Counts, Error> {
        // One tree of all threads, in which contexts have different frames.
        let options = MergeOptions { threads: Threads::All, bodies: Bodies::Together };
        let profile = merge(&[profile], options)?;
        let mut values = Values::of(&profile, &MethodChoice::default())?;
        let same: Vec<u32> = (0u32..).take(profile.methods.len()).map(|method| values.same(method)).collect();
        let mut chains: Vec<(u32, Option<u16>, Value)> = Vec::new();
        let mut at: Vec<(u32, Value)> = Vec::new();
        let left_out = values.visit(|context| {
            let Some(&own) = context.path.last() else { return };
            let site = profile.methods[own as usize].site.map(|site| site.bci);
            chains.push((context.parent, site, context.value));
            at.push((same[own as usize], context.value));
        });
        let contexts = chains.len() as u64;
        chains.sort_unstable();
        chains.dedup();
        let widths = [
            (32, &(|value: Value| u64::from(value.narrow())) as &dyn Fn(Value) -> u64),
            (63, &|value| value.0),
        ];
        let [narrow, wide] = widths.map(|(bits, of)| Width {
            bits,
            values: distinct(chains.iter().map(|&(_, _, value)| of(value))),
            ambiguous: shared(at.iter().map(|&(method, value)| (method, of(value)))),
        });
        Ok(Counts { contexts, chains: chains.len() as u64, narrow, wide, left_out })
    }

    /// Writes the counts as text.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let number = |number: u64| grouped(u128::from(number));
        writeln!(out, "{:>15}  contexts, of all threads together", number(self.contexts))?;
        writeln!(out, "{:>15}  chains of call sites, each with a value", number(self.chains))?;
        for width in [&self.narrow, &self.wide] {
            writeln!(out, "values of {} bits:", width.bits)?;
            let lost = self.chains - width.values;
            writeln!(out, "{:>15}  different values", number(width.values))?;
            writeln!(out, "{:>15}  collisions: chains minus values", number(lost))?;
            let expected = expected(self.chains, width.bits);
            writeln!(out, "{:>15}  expected for random numbers", rounded(expected))?;
            writeln!(
                out,
                "{:>15}  contexts share their value with another context of the same method",
                number(width.ambiguous)
            )?;
        }
        if self.left_out > 0 {
            writeln!(
                out,
                "{:>15}  contexts without a value: methods without a name call them",
                number(self.left_out)
            )?;
        }
        Ok(())
    }
}

fn distinct(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

/// Number of items that occur more than once.
fn shared<T: Ord>(all: impl Iterator<Item = T>) -> u64 {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same.len() as u64).sum()
}

/// The expected number of collisions among `n` random numbers of this many bits, that is, of
/// numbers drawn before. It is n - m (1 - (1 - 1/m)^n) for m possible numbers.
fn expected(n: u64, bits: u32) -> f64 {
    let (n, m) = (n as f64, 2f64.powi(bits as i32));
    if n / m < 1e-4 {
        // Where the difference would lose all digits: its first terms, n(n-1)/2m -
        // n(n-1)(n-2)/6m^2.
        n * (n - 1.0) / (2.0 * m) * (1.0 - (n - 2.0) / (3.0 * m))
    } else {
        n + m * (n * (-1.0 / m).ln_1p()).exp_m1()
    }
}

fn rounded(number: f64) -> String {
    match number {
        _ if number >= 100.0 => grouped(number.round() as u128),
        _ if number >= 0.01 || number <= 0.0 => format!("{number:.2}"),
        _ => format!("{number:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::profile;

    #[test]
    fn callees_of_one_site_share_a_chain() {
        let profile = profile(&[
            (0, "A", "main", None),
            (1, "A", "f", Some(3)),
            (2, "B", "h", Some(1)),
            (1, "B", "f", Some(3)),
            (2, "B", "h", Some(1)),
            (1, "A", "f", Some(5)),
            (0, "C", "run", None),
        ]);
        let counts = Counts::of(&profile).unwrap();
        // The root, 3, 5, and `h` by either of them.
        assert_eq!((counts.contexts, counts.chains), (7, 5));
        assert_eq!((counts.wide.values, counts.narrow.values), (5, 5));
        assert_eq!((counts.wide.ambiguous, counts.narrow.ambiguous), (0, 0));
    }

    #[test]
    fn duplicates_are_counted() {
        assert_eq!(distinct([1, 2, 1, 1].into_iter()), 2);
        assert_eq!(shared([1, 2, 1, 1, 3, 3].into_iter()), 5);
    }

    /// The exact formula and its first terms agree where both hold.
    #[test]
    fn expectations_are_those_of_random_numbers() {
        assert_eq!(expected(1, 32), 0.0);
        assert!((expected(2, 1) - 0.5).abs() < 1e-12);
        assert!((expected(3, 1) - 1.25).abs() < 1e-12);
        // n(n-1)/2m is 11,641.5, and triples subtract 9.0.
        assert!((expected(10_000_000, 32) - 11_632.5).abs() < 0.1, "{}", expected(10_000_000, 32));
        let (few, m) = (400_000.0, 2f64.powi(32));
        let exact = few + m * (few * (-1.0f64 / m).ln_1p()).exp_m1();
        assert!((expected(400_000, 32) - exact).abs() < 1e-3, "{}", expected(400_000, 32));
        assert!(expected(1_000_000, 63) < 1e-6);
    }
}
