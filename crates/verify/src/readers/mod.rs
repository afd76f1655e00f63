//! Two readings of one class file, by readers that share no code.
//!
//! The checks read class files with `crates/classfile`, as the rewriter does. If that crate misread
//! a part of a file, the rewriter would write by that error and the checks would compare by it. So
//! the crate `cafebabe` reads each checked file too ([`second`]). Both readings are translated into
//! the terms of [`model`] and compared ([`compare`]). The first difference is a finding.
//!
//! The account ([`SecondReading`]) names what cafebabe does not read: class files that it refuses,
//! and unknown attributes, of which only names and bytes are compared.

pub mod cafebabe_reading;
pub mod compare;
pub mod model;
pub mod own;
pub mod reading;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use cct_classfile::{ClassFile, mutf8};

use cafebabe_reading::Second;
pub use compare::Part;
use compare::{Difference, ReaderComparison, compare};
use own::OwnReader;
pub use reading::{ClassView, Unread};

use crate::finding::{Finding, Problem};

/// The names of the two files of a check in messages.
pub(crate) const ORIGINAL: &str = "original";
pub(crate) const REWRITTEN: &str = "rewritten";

/// The results of the second readings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecondReading {
    /// Number of class files that both readers read alike.
    pub alike: u64,
    /// Class files without a second reading, with the reason.
    pub unread: BTreeMap<String, String>,
    /// Attributes of which cafebabe knows only names and bytes, by name.
    pub unknown: BTreeMap<String, u64>,
}

impl SecondReading {
    /// Adds the results of another check.
    pub fn add(&mut self, other: SecondReading) {
        self.alike += other.alike;
        self.unread.extend(other.unread);
        for (name, n) in other.unknown {
            *self.unknown.entry(name).or_default() += n;
        }
    }

    /// Reads a class file a second time; `which` is the original or the rewritten one. Returns the
    /// first difference.
    pub(crate) fn of(&mut self, class: &ClassFile<'_>, which: &'static str) -> Option<Finding> {
        match read_twice(class) {
            Ok(ReaderComparison { difference: None, unknown }) => {
                self.add(SecondReading { alike: 1, unread: BTreeMap::new(), unknown });
                None
            }
            Ok(ReaderComparison { difference: Some(Difference { member, bci, part }), .. }) => {
                let (original, rewritten) = if which == ORIGINAL { (bci, None) } else { (None, bci) };
                let finding = Finding::at(Problem::Readers { which, part }, original, rewritten);
                Some(match member {
                    Some(member) => finding.in_member(member.name_and_type()),
                    None => finding,
                })
            }
            Err(why) => {
                self.unread.insert(format!("{} ({which})", mutf8::lossy(class.name())), why.to_string());
                None
            }
        }
    }
}

/// Compares both readings of a class file.
fn read_twice(class: &ClassFile<'_>) -> Result<ReaderComparison, Unread> {
    // First, since cafebabe is given only what this has checked.
    let own = OwnReader::of(class)?;
    let parsed = cafebabe::parse_class(class.bytes).map_err(|e| Unread::Second(e.to_string()))?;
    compare(&own, &Second(&parsed))
}
