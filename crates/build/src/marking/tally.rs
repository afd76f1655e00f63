//! Results of rules: marked locations, and locations that could not be marked.

use std::collections::BTreeMap;

use cct_markers::{Descriptor, MarkedClass, Rules};
use cct_profile::report::grouped;

use crate::text::{counted, readable};

/// The description of a marker, in one line.
pub fn shown(descriptor: &Descriptor) -> String {
    let mut text = format!(
        "{}{} at {} {}{}",
        descriptor.token,
        if descriptor.predicate.is_empty() { String::new() } else { format!(":{}", descriptor.predicate) },
        descriptor.place,
        readable(&descriptor.method),
        readable(&descriptor.descriptor)
    );
    if descriptor.place != "method" {
        text += &format!(" bci {}", descriptor.bci);
    }
    if let Some(line) = descriptor.line {
        text += &format!(" line {line}");
    }
    if !descriptor.detail.is_empty() {
        text += &format!(" {}", readable(&descriptor.detail));
    }
    text
}

/// Number of locations that each rule marked, and its refusals by reason.
#[derive(Debug)]
pub struct Tally {
    places: Vec<u64>,
    refused: Vec<BTreeMap<&'static str, (u64, String)>>,
}

impl Tally {
    /// Creates an empty tally for these rules.
    pub fn new(rules: &Rules) -> Tally {
        Tally { places: vec![0; rules.list.len()], refused: vec![Default::default(); rules.list.len()] }
    }

    /// Adds the results of a class.
    pub fn add(&mut self, marked: &MarkedClass) {
        for &rule in &marked.rules {
            self.places[rule] += 1;
        }
        for refusal in &marked.refused {
            let first = || (0, refusal.method.clone());
            self.refused[refusal.rule].entry(refusal.why).or_insert_with(first).0 += 1;
        }
    }

    /// Number of locations that each rule marked, in the order of the rules.
    pub fn places(&self) -> &[u64] {
        &self.places
    }

    /// A line for each rule, and one for each reason why locations are not marked.
    pub fn lines(&self, rules: &Rules) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, rule) in rules.list.iter().enumerate() {
            let name = format!("line {} ({} at {})", rule.line, rule.token, rule.at.name());
            match self.places[number] {
                0 => lines.push(format!("{name}: matches nothing")),
                count => lines.push(format!("{name}: {}", counted(count, "place"))),
            }
            for (why, (count, first)) in &self.refused[number] {
                let others = match count {
                    1 => String::new(),
                    count => format!(" and {} more", grouped(u128::from(count - 1))),
                };
                lines.push(format!("  not marked: {}{others}: {why}", readable(first.as_bytes())));
            }
        }
        lines
    }
}
