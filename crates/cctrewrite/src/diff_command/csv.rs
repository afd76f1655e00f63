//! All methods (or groups) that have changed, as comma-separated values (docs/formats/json.md).

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::diff::{Change, Difference};

use crate::csv::record;

/// Writes the table, after a line that names the columns.
pub fn write(found: &Difference, out: &mut dyn Write) -> Result<(), ReportError> {
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
    record(out, columns)?;
    // Empty for what was not there.
    let percent = |change: Change| change.percent().map_or(String::new(), |percent| format!("{percent:.6}"));
    for method in &found.methods {
        let fields = [
            method.own.base.to_string(),
            method.own.new.to_string(),
            percent(method.own),
            method.inclusive.base.to_string(),
            method.inclusive.new.to_string(),
            percent(method.inclusive),
            method.calls.base.to_string(),
            method.calls.new.to_string(),
            found.names[method.name as usize].exact.clone(),
        ];
        record(out, fields.iter().map(String::as_str))?;
    }
    Ok(())
}
