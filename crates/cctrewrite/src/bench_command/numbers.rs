//! Numbers and changes in the outputs of `bench`.

use cct_profile::diff::Change;
use cct_profile::report::grouped;

/// A number of entries: `1 entry`, `2 entries`.
pub fn counted_entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{} entries", grouped(number as u128)) }
}

/// The size of a change, with its sign.
pub fn signed(change: Change) -> String {
    let sign = match change.direction() {
        std::cmp::Ordering::Less => "-",
        std::cmp::Ordering::Equal => "",
        std::cmp::Ordering::Greater => "+",
    };
    format!("{sign}{}", grouped(change.size()))
}

/// The size of a change with its sign, and the percentage if it is not 0.
pub fn with_percent(change: Change) -> String {
    let percent = change.percent().filter(|percent| *percent != 0.0);
    signed(change) + &percent.map_or(String::new(), |percent| format!(" ({percent:+.2} %)"))
}
