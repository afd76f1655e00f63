//! The numbers of a check.

use std::collections::BTreeMap;

use cct_classfile::MemberName;

use crate::readers::SecondReading;

/// The numbers of checked items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Classes that were compared with their originals.
    pub classes: u64,
    /// Classes that equal their originals, byte for byte.
    pub unchanged: u64,
    /// Module descriptors among those compared.
    pub modules: u64,
    /// Methods of the originals.
    pub methods: u64,
    /// Methods by their forms.
    pub forms: BTreeMap<&'static str, u64>,
    /// Instrumented bodies.
    pub bodies: u64,
    /// Bodies by the rule by which they count.
    pub rules: BTreeMap<&'static str, u64>,
    /// Probes that change counts.
    pub probes: u64,
    /// Pieces of code that notify clients of markers.
    pub pieces: u64,
    /// Methods that were added.
    pub added_methods: u64,
    /// Fields that were added.
    pub added_fields: u64,
    /// Added methods that decide which of several inherited extended forms is meant.
    pub tie_breaks: u64,
    /// Results of clocks that are replaced.
    pub pinned: u64,
    /// Calls of the runtime in methods of the class library.
    pub hooks: u64,
    /// Call sites that count a native under an id whose class the reference does not name.
    pub unknown_ids: u64,
    /// Attributes of code that were omitted, by name.
    pub dropped: BTreeMap<String, u64>,
    /// Classes that the static side of a trace describes correctly.
    pub described: u64,
    /// Methods that are recognised but not proven, by kind.
    pub unchecked: BTreeMap<&'static str, Vec<String>>,
    /// Results of the second reader.
    pub second: SecondReading,
}

impl Tally {
    /// Adds the numbers of another check.
    pub fn add(&mut self, other: Tally) {
        self.classes += other.classes;
        self.unchanged += other.unchanged;
        self.modules += other.modules;
        self.methods += other.methods;
        self.bodies += other.bodies;
        self.probes += other.probes;
        self.pieces += other.pieces;
        self.added_methods += other.added_methods;
        self.added_fields += other.added_fields;
        self.tie_breaks += other.tie_breaks;
        self.pinned += other.pinned;
        self.hooks += other.hooks;
        self.unknown_ids += other.unknown_ids;
        self.described += other.described;
        self.second.add(other.second);
        for (name, n) in other.forms {
            *self.forms.entry(name).or_default() += n;
        }
        for (name, n) in other.rules {
            *self.rules.entry(name).or_default() += n;
        }
        for (name, n) in other.dropped {
            *self.dropped.entry(name).or_default() += n;
        }
        for (what, methods) in other.unchecked {
            self.unchecked.entry(what).or_default().extend(methods);
        }
    }

    pub(crate) fn not_checked(&mut self, what: &'static str, method: MemberName<'_>) {
        let name = method.to_string();
        let methods = self.unchecked.entry(what).or_default();
        if !methods.contains(&name) {
            methods.push(name);
        }
    }
}
