//! Notes for the reader of a profile about classes that were defined at run time.

use std::collections::BTreeMap;

/// Maximum number of classes that one note names.
const NAMED: usize = 20;

/// Maximum number of distinct problems: their texts may contain names that a program invents
/// without end.
const TROUBLES: usize = 100;

/// Heading for all other problems.
const OTHERS: &str = "other problems with classes that were defined at run time";

/// Classes by their problems.
#[derive(Debug, Default)]
pub struct Troubles {
    by_trouble: BTreeMap<String, Group>,
}

#[derive(Debug, Default)]
struct Group {
    count: u64,
    /// The first ones by name.
    names: std::collections::BTreeSet<String>,
}

impl Troubles {
    /// Collects pairs of a problem and a class.
    pub fn of<'a>(troubles: impl Iterator<Item = (&'a str, &'a str)>) -> Troubles {
        let mut all = Troubles::default();
        troubles.for_each(|(trouble, name)| all.add(trouble, name));
        all
    }

    /// Adds a class (or a method of one).
    pub fn add(&mut self, trouble: impl Into<String>, name: &str) {
        let mut trouble = trouble.into();
        if self.by_trouble.len() >= TROUBLES && !self.by_trouble.contains_key(&trouble) {
            trouble = OTHERS.to_owned();
        }
        let group = self.by_trouble.entry(trouble).or_default();
        group.count += 1;
        group.names.insert(name.to_owned());
        if group.names.len() > NAMED {
            group.names.pop_last();
        }
    }

    /// One line for each problem.
    pub fn lines(&self) -> Vec<String> {
        let line = |(trouble, group): (&String, &Group)| {
            let names: Vec<&str> = group.names.iter().map(String::as_str).collect();
            let more = if group.count > names.len() as u64 { ", ..." } else { "" };
            format!("{}: {} ({}{more})", trouble, group.count, names.join(", "))
        };
        self.by_trouble.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_without_end_are_counted_together() {
        let mut troubles = Troubles::default();
        for i in 0..1000 {
            troubles.add(format!("trouble {i}"), "C");
        }
        let lines = troubles.lines();
        assert_eq!(lines.len(), TROUBLES + 1);
        assert!(lines.contains(&format!("{OTHERS}: 900 (C, ...)")), "{lines:?}");
    }

    #[test]
    fn the_first_twenty_names_are_listed_and_all_are_counted() {
        let mut troubles = Troubles::default();
        for i in (10..40).rev() {
            troubles.add("odd", &format!("C{i}"));
        }
        let lines = troubles.lines();
        assert!(lines[0].starts_with("odd: 30 (C10, C11, ") && lines[0].ends_with("C29, ...)"), "{lines:?}");
    }
}
