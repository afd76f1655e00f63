//! All methods (or groups) that have changed, as comma-separated values
//! (docs/reference/formats/json.md).

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::csv::{Field, Reader, Writer};
use cct_profile::diff::{Change, Difference};

/// Writes the table, after a line that names the columns.
pub fn write(found: &Difference, reader: Reader, out: &mut dyn Write) -> Result<(), ReportError> {
    let columns = [
        "base_self",
        "new_self",
        "change_percent",
        "base_inclusive",
        "new_inclusive",
        "inclusive_change_percent",
        "base_calls",
        "new_calls",
        found.by.name(),
    ];
    let mut out = Writer::new(out, reader);
    out.header(columns)?;
    // Empty for a method that has grown from 0.
    let percent = |change: Change| change.percent().map_or(String::new(), |percent| format!("{percent:.6}"));
    for method in &found.methods {
        let numbers = [
            method.own.base.to_string(),
            method.own.new.to_string(),
            percent(method.own),
            method.inclusive.base.to_string(),
            method.inclusive.new.to_string(),
            percent(method.inclusive),
            method.calls.base.to_string(),
            method.calls.new.to_string(),
        ];
        let name = Field::Text(&found.names[method.name as usize].exact);
        out.record(numbers.iter().map(|number| Field::Number(number)).chain([name]))?;
    }
    Ok(())
}
