//! Debug tables of wrappers under the original signature (docs/internals/scheme.md): the original's
//! first line, and its parameters' names.

use std::collections::BTreeMap;

use cct_classfile::attributes::{AttributeInfo, LocalVariable};
use cct_classfile::{ClassFile, Code};

use cct_jdk::convention::NATIVE_FORWARDER_LINE;

/// The tables of a forwarder. One that does not forward to a method's body has only the line that
/// marks it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebugTables {
    /// Line of the first bytecode.
    line: Option<u16>,
    /// Name, type and slot of the parameters, in the order of the original's tables.
    variables: Vec<[u16; 3]>,
    /// Name, generic type and slot of the parameters with a generic type.
    types: Vec<[u16; 3]>,
}

/// The debug tables of code, with all attributes of a kind merged.
struct Tables {
    lines: Vec<(u16, u16)>,
    variables: Vec<LocalVariable>,
    types: Vec<LocalVariable>,
    /// Number of attributes of each kind.
    counts: [usize; 3],
}

impl Tables {
    fn of<'a>(class: &ClassFile<'a>, code: &Code<'a>) -> Option<Tables> {
        let mut tables =
            Tables { lines: Vec::new(), variables: Vec::new(), types: Vec::new(), counts: [0; 3] };
        for attribute in code.attributes.iter().filter(|a| is_table(a.name)) {
            match AttributeInfo::parse(attribute, &class.pool).ok()? {
                AttributeInfo::LineNumberTable(lines) => {
                    tables.counts[0] += 1;
                    tables.lines.extend(lines.iter().map(|entry| (entry.start, entry.line)));
                }
                AttributeInfo::LocalVariableTable(variables) => {
                    tables.counts[1] += 1;
                    tables.variables.extend(variables);
                }
                AttributeInfo::LocalVariableTypeTable(types) => {
                    tables.counts[2] += 1;
                    tables.types.extend(types);
                }
                _ => {}
            }
        }
        Some(tables)
    }
}

/// Whether an attribute of code is one of these tables.
pub fn is_table(name: &[u8]) -> bool {
    matches!(name, b"LineNumberTable" | b"LocalVariableTable" | b"LocalVariableTypeTable")
}

impl DebugTables {
    /// The tables that the wrapper of an original must have. `slots` are the first slots of `this`
    /// and the arguments.
    pub fn of_wrapper<'a>(class: &ClassFile<'a>, code: &Code<'a>, slots: &[u16]) -> Option<DebugTables> {
        let tables = Tables::of(class, code)?;
        let line = tables.lines.iter().find(|(start, _)| *start == 0).map(|(_, line)| *line);
        let parameters = |entries: &[LocalVariable]| {
            let mut first = BTreeMap::new();
            for (at, entry) in entries.iter().enumerate() {
                if (entry.start, slots.contains(&entry.slot)) == (0, true) && entry.length != 0 {
                    first.entry(entry.slot).or_insert((at, [entry.name, entry.descriptor, entry.slot]));
                }
            }
            let mut all: Vec<_> = first.into_values().collect();
            all.sort_unstable();
            all.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>()
        };
        let variables = parameters(&tables.variables);
        let is_named = |entry: &LocalVariable| {
            variables.iter().any(|[name, _, slot]| (*name, *slot) == (entry.name, entry.slot))
        };
        let named: Vec<LocalVariable> = tables.types.into_iter().filter(is_named).collect();
        Some(DebugTables {
            line: line.filter(|line| *line < NATIVE_FORWARDER_LINE),
            types: parameters(&named),
            variables,
        })
    }

    /// The tables without names, for a wrapper that does not name its parameters; `None` if these
    /// are the same.
    pub fn without_names(&self) -> Option<DebugTables> {
        let names = !self.variables.is_empty();
        names.then(|| DebugTables { line: self.line, ..DebugTables::default() })
    }

    /// Whether a forwarder has these tables, and its frames the line `mark`.
    pub fn are_of<'a>(&self, class: &ClassFile<'a>, code: &Code<'a>, mark: u16) -> bool {
        let Some(found) = Tables::of(class, code) else { return false };
        // From the middle of the first instruction on, where no reader of instructions looks.
        let lines = match self.line {
            Some(line) => vec![(0, line), (1, mark)],
            None => vec![(0, mark)],
        };
        let begins_long = code.instructions().next().is_some_and(|first| first.bytes.len() > 1);
        let are = |found: &[LocalVariable], wanted: &[[u16; 3]]| {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(entry, wanted)| {
                    (entry.start, u32::from(entry.length)) == (0, code.length())
                        && [entry.name, entry.descriptor, entry.slot] == *wanted
                })
        };
        found.lines == lines
            && (self.line.is_none() || begins_long)
            && are(&found.variables, &self.variables)
            && are(&found.types, &self.types)
            && found.counts
                == [1, usize::from(!self.variables.is_empty()), usize::from(!self.types.is_empty())]
    }
}
