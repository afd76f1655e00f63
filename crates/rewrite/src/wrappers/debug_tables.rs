//! Debug tables of a wrapper under the original signature, for readers of class files that look up
//! the method by name.
//!
//! Frameworks read parameter names from the `LocalVariableTable`, and lines from the
//! `LineNumberTable`, of a class file that they find as a resource. They look at the original
//! signature, which the wrapper has.

use cct_classfile::attributes::{AttributeInfo, LineNumber, LocalVariable};
use cct_classfile::bytes::PutBytes;
use cct_classfile::edit::frames::Signature;
use cct_classfile::{ClassFile, Code, Index, Result, opcode};

use cct_jdk::convention::NATIVE_FORWARDER_LINE;

/// The parts of the original's tables that a wrapper repeats.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebugTables {
    /// The first line of the original.
    first_line: Option<u16>,
    /// Index of `LocalVariableTable`, and the parameters' entries.
    variables: Option<(Index, Vec<LocalVariable>)>,
    /// Index of `LocalVariableTypeTable`, and the parameters' entries.
    types: Option<(Index, Vec<LocalVariable>)>,
}

impl DebugTables {
    /// The tables for the wrapper of a method with this code.
    pub fn of(class: &ClassFile<'_>, signature: &Signature<'_>, code: &Code<'_>) -> Result<Self> {
        let mut tables = DebugTables { first_line: first_line(code)?, ..DebugTables::default() };
        let [mut variables, mut types] = [(None, Vec::new()), (None, Vec::new())];
        for attribute in code.attributes.iter() {
            if !matches!(attribute.name, b"LocalVariableTable" | b"LocalVariableTypeTable") {
                continue;
            }
            match AttributeInfo::parse(attribute, &class.pool)? {
                AttributeInfo::LocalVariableTable(more) => {
                    variables.0.get_or_insert(attribute.name_index);
                    variables.1.extend(more);
                }
                AttributeInfo::LocalVariableTypeTable(more) => {
                    types.0.get_or_insert(attribute.name_index);
                    types.1.extend(more);
                }
                _ => {}
            }
        }
        let parameters = parameters(signature, &variables.1);
        let is_typed = |of: &LocalVariable| {
            parameters.iter().any(|parameter| (parameter.slot, parameter.name) == (of.slot, of.name))
        };
        // The JVM refuses a type without a variable of the same name and range.
        types.1.retain(is_typed);
        let typed = self::parameters(signature, &types.1);
        tables.variables = variables.0.map(|name| (name, parameters)).filter(|(_, all)| !all.is_empty());
        tables.types = types.0.map(|name| (name, typed)).filter(|(_, all)| !all.is_empty());
        Ok(tables)
    }

    /// The tables with the line alone.
    pub fn without_names(code: &Code<'_>) -> Result<Self> {
        Ok(DebugTables { first_line: first_line(code)?, ..DebugTables::default() })
    }

    /// Number of attributes that [`DebugTables::write`] appends.
    pub(super) fn count(&self) -> u16 {
        1 + u16::from(self.variables.is_some()) + u16::from(self.types.is_some())
    }

    /// Appends the tables of a wrapper with this code, whose frames have the line `mark`.
    pub(super) fn write(&self, lines_name: Index, mark: u16, code: &[u8], length: u16, out: &mut Vec<u8>) {
        // The mark begins inside the first instruction. Readers of class files look at the lines of
        // instructions, and so find only the original's line. The JVM takes the last line up to a
        // frame's bytecode index. At index 0 the original has not been called yet, so the frame
        // represents it.
        let marked_from = u16::from(code.first() == Some(&opcode::INVOKESTATIC));
        let first = self.first_line.filter(|_| marked_from > 0);
        let lines = match first {
            Some(line) => &[LineNumber { start: 0, line }, LineNumber { start: marked_from, line: mark }][..],
            None => &[LineNumber { start: 0, line: mark }],
        };
        out.put2(lines_name);
        out.put4(2 + 4 * lines.len() as u32);
        out.put2(lines.len() as u16);
        for LineNumber { start, line } in lines {
            out.put2(*start);
            out.put2(*line);
        }
        for (name, variables) in self.variables.iter().chain(&self.types) {
            out.put2(*name);
            out.put4(2 + 10 * variables.len() as u32);
            out.put2(variables.len() as u16);
            for variable in variables {
                for part in [0, length, variable.name, variable.descriptor, variable.slot] {
                    out.put2(part);
                }
            }
        }
    }
}

/// The line of the first bytecode; `None` if it is unknown, or is a line that marks frames.
fn first_line(code: &Code<'_>) -> Result<Option<u16>> {
    for table in code.attributes.iter().filter(|attribute| attribute.name == b"LineNumberTable") {
        let mut entries = table.cursor();
        for _ in 0..entries.u2()? {
            let (start, line) = (entries.u2()?, entries.u2()?);
            // The JVM takes the first of several entries of one index.
            if start == 0 {
                return Ok((line < NATIVE_FORWARDER_LINE).then_some(line));
            }
        }
    }
    Ok(None)
}

/// The entries of `this` and of arguments that hold from the beginning, one for each slot in which
/// a parameter begins.
fn parameters(signature: &Signature<'_>, entries: &[LocalVariable]) -> Vec<LocalVariable> {
    let mut is_open = [false; 256];
    let mut slot = usize::from(!signature.is_static);
    is_open[0] = !signature.is_static;
    for t in signature.descriptor.arguments() {
        if let Some(open) = is_open.get_mut(slot) {
            *open = true;
        }
        slot += usize::from(t.slots());
    }
    // The JVM refuses two entries of one name and range: take the first of each slot.
    let mut take = |entry: &&LocalVariable| {
        entry.start == 0
            && entry.length > 0
            && is_open.get_mut(usize::from(entry.slot)).is_some_and(std::mem::take)
    };
    entries.iter().filter(|entry| take(entry)).copied().collect()
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::{PUBLIC, STATIC};

    use super::*;
    use cct_test_classes::{TestClass, class};

    /// The tables of the wrapper of `m`: the line, and start, length, name and slot of variables
    /// and of types.
    fn tables(class: &TestClass) -> (Option<u16>, Vec<[u16; 2]>, Vec<[u16; 2]>) {
        let bytes = class.bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let method = &class.methods[0];
        let signature = Signature::of(&class, method).unwrap();
        let tables =
            DebugTables::of(&class, &signature, &Code::of(&class, method).unwrap().unwrap()).unwrap();
        let named = |table: Option<(Index, Vec<LocalVariable>)>| {
            let entries = table.map_or(Vec::new(), |(_, entries)| entries);
            entries.iter().map(|entry| [entry.name, entry.slot]).collect()
        };
        (tables.first_line, named(tables.variables), named(tables.types))
    }

    const VARIABLES: &str = "LocalVariableTable";
    const TYPES: &str = "LocalVariableTypeTable";

    #[test]
    fn parameters_are_the_variables_that_hold_from_the_beginning() {
        // `this` in 0, a long in 1 and 2, an int in 3.
        let with = |rows: &[[u16; 5]]| {
            tables(&class("A").method(PUBLIC, "m", "(JI)V").with_table(VARIABLES, rows)).1
        };
        let all = [[0, 2, 3, 1, 3], [0, 2, 1, 1, 0], [0, 2, 2, 1, 1]];
        assert_eq!(with(&all), [[3, 3], [1, 0], [2, 1]], "in the order of the table");
        let others = [[1, 1, 1, 1, 0], [0, 2, 1, 1, 2], [0, 2, 1, 1, 4], [0, 0, 1, 1, 3], [0, 2, 1, 1, 900]];
        assert!(with(&others).is_empty(), "later, the half of a long, no parameter, nowhere");
        assert_eq!(
            with(&[[0, 1, 1, 1, 3], [0, 2, 1, 1, 3]]),
            [[1, 3]],
            "one of each slot, or the JVM refuses the class"
        );
    }

    #[test]
    fn types_are_of_variables_that_are_there() {
        let with = |types: &[[u16; 5]]| {
            let of = class("A").method(PUBLIC | STATIC, "m", "(II)V");
            let of = of.with_table(VARIABLES, &[[0, 2, 1, 1, 0], [0, 2, 2, 1, 1]]);
            tables(&of.with_table(TYPES, types)).2
        };
        assert_eq!(with(&[[0, 2, 2, 3, 1]]), [[2, 1]]);
        assert!(with(&[[0, 2, 3, 3, 1], [0, 2, 1, 3, 1], [1, 1, 2, 3, 1]]).is_empty());
        let alone = class("A").method(PUBLIC | STATIC, "m", "(I)V").with_table(TYPES, &[[0, 2, 1, 1, 0]]);
        assert!(tables(&alone).2.is_empty());
    }

    #[test]
    fn the_first_line_is_that_of_the_first_bytecode() {
        let with = |rows: &[[u16; 2]]| {
            tables(&class("A").method(PUBLIC, "m", "()V").with_table("LineNumberTable", rows)).0
        };
        assert_eq!(with(&[[1, 9], [0, 7], [0, 8]]), Some(7));
        assert_eq!(with(&[[1, 9]]), None);
        assert_eq!(with(&[]), None);
        // A line that marks frames would hide the frame.
        assert_eq!(with(&[[0, 65_534]]), None);
        assert_eq!(with(&[[0, 65_533]]), Some(65_533));
    }
}
