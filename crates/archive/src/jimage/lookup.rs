//! Lookup of single resources of an image by name, without reading its other entries.

use std::borrow::Cow;

use super::compressed;
use super::format::{Header, Location};
use super::index::{Tables, full_name};
use super::perfect_hash::slot_of;
use crate::error::{ArchiveProblem, EntryProblem};
use crate::jimage::strings::Strings;
use crate::limits::Budget;

/// An image that is read only by lookups of single resources.
#[derive(Debug)]
pub(crate) struct Lookup<'b> {
    bytes: &'b [u8],
    tables: Tables<'b>,
}

impl<'b> Lookup<'b> {
    /// Reads the header and finds the tables.
    pub(crate) fn new(bytes: &'b [u8]) -> Result<Self, ArchiveProblem> {
        Ok(Lookup { bytes, tables: Tables::of(bytes)? })
    }

    /// Looks up the class file of a class, in whichever module it is. `name` is the internal name
    /// (`java/lang/Object`). Returns `None` if no module has the class.
    pub(crate) fn class(
        &self,
        name: &str,
        budget: &Budget<'_>,
    ) -> Result<Option<Cow<'b, [u8]>>, EntryProblem> {
        let Some((package, _)) = name.rsplit_once('/') else { return Ok(None) };
        let list = format!("/packages/{}", package.replace('/', "."));
        let Some(list) = self.resource(&list, budget)? else { return Ok(None) };
        let order = self.tables.header.order;
        // The list has pairs of words. The first word has flags, whose meaning depends on the
        // version. The second is the offset of the name of a module that contains the package, or a
        // package below it.
        for pair in (0..list.len() / 8).map(|pair| 8 * pair) {
            let module = order.u32_at(&list, pair + 4).and_then(|module| self.strings().get(module));
            let Some(module) = module else { continue };
            let resource = format!("/{}/{name}.class", String::from_utf8_lossy(module));
            if let Some(bytes) = self.resource(&resource, budget)? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    fn resource(&self, name: &str, budget: &Budget<'_>) -> Result<Option<Cow<'b, [u8]>>, EntryProblem> {
        let Some(location) = self.location(name.as_bytes()) else { return Ok(None) };
        let damaged = EntryProblem::Image("it extends beyond the end of the file");
        let start = (self.tables.strings.end as u64).checked_add(location.offset);
        let range = start.and_then(|start| Some((start, start.checked_add(location.stored())?)));
        let range =
            range.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        let stored = range.and_then(|range| self.bytes.get(range)).ok_or(damaged)?;
        if location.compressed == 0 {
            budget.check_size(location.size)?;
            return Ok(Some(Cow::Borrowed(stored)));
        }
        let order = self.tables.header.order;
        compressed::unfold(order, self.strings(), stored, location.size, budget).map(Some)
    }

    /// The location of the resource with this full name; `None` if there is none. A name without a
    /// resource may hash to another one's slot, so the names are compared.
    fn location(&self, name: &[u8]) -> Option<Location> {
        let Header { order, slots, .. } = self.tables.header;
        let find = |first| order.u32_at(self.bytes, self.tables.redirect + 4 * first);
        let slot = u32::try_from(slot_of(name, slots, find)?).ok()?;
        let (_, location) = self.tables.location(slot).ok()??;
        (full_name(self.strings(), &location)? == name).then_some(location)
    }

    fn strings(&self) -> Strings<'b> {
        Strings(&self.bytes[self.tables.strings.clone()])
    }
}
