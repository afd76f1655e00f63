//! Stacks whose frames are locations, lines of functions: for formats in Protocol Buffers.

use crate::ExportError;
use crate::name::{Functions, Name};
use crate::walk::{Step, Walk};
use cct_profile::Tree;
use std::collections::BTreeMap;

/// The numbers of locations. Where the line is unknown, it is the function's, counted from 1; lines
/// have greater numbers.
pub(crate) struct Locations<'f> {
    functions: &'f Functions,
    with_lines: BTreeMap<(u64, u32), u64>,
}

/// A line of a function.
pub(crate) struct LineLocation {
    /// The location's number.
    pub(crate) number: u64,
    /// The function's number.
    pub(crate) function: u64,
    pub(crate) line: u32,
}

impl Locations<'_> {
    pub(crate) fn new(functions: &Functions) -> Locations<'_> {
        Locations { functions, with_lines: BTreeMap::new() }
    }

    /// The locations with lines so far, in the order of their numbers.
    pub(crate) fn with_lines(&self) -> Vec<LineLocation> {
        let locations = self.with_lines.iter();
        let mut locations: Vec<LineLocation> =
            locations.map(|(&(function, line), &number)| LineLocation { number, function, line }).collect();
        locations.sort_by_key(|location| location.number);
        locations
    }

    /// Calls `visit` with each context of a tree and its stack, the outermost frame first. The line
    /// of a caller is that of its call of the next frame.
    ///
    /// # Errors
    /// Fails if `visit` does.
    pub(crate) fn visit_stacks(
        &mut self,
        names: &[Name],
        tree: &Tree,
        mut visit: impl FnMut(u32, &[u64]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let (mut functions, mut stack): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        for step in Walk::new(tree) {
            let Step::Enter(context) = step else {
                stack.pop();
                functions.pop();
                continue;
            };
            let name = tree.nodes()[context as usize].method as usize;
            if let (Some(&caller), Some(place)) = (functions.last(), stack.last_mut()) {
                *place = self.number(caller, names[name].line);
            }
            let function = u64::from(self.functions.of_name[name]) + 1;
            functions.push(function);
            stack.push(function);
            visit(context, &stack)?;
        }
        Ok(())
    }

    fn number(&mut self, function: u64, line: Option<u32>) -> u64 {
        let Some(line) = line else { return function };
        let next = (self.functions.first.len() + self.with_lines.len()) as u64 + 1;
        *self.with_lines.entry((function, line)).or_insert(next)
    }
}
