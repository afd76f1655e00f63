//! A difference as one JSON object (docs/reference/formats/json.md).

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::diff::{Change, ChangedContext, ChangedMethod, Difference, Excess, SIDES};
use cct_profile::pair::{Mismatch, Remark, TextOptions};
use serde::Serialize;

use crate::args::Diff;
use crate::json::Object;

/// A number before and after. `percent` is `null` for growth from 0.
#[derive(Serialize)]
struct Numbers {
    base: u128,
    new: u128,
    percent: Option<f64>,
}

impl From<Change> for Numbers {
    fn from(change: Change) -> Numbers {
        Numbers { base: change.base, new: change.new, percent: change.percent() }
    }
}

#[derive(Serialize)]
struct JsonRemark {
    kind: &'static str,
    /// The profile that it is about; `null` for both.
    side: Option<String>,
    text: String,
}

#[derive(Serialize)]
struct JsonMismatch<'d> {
    what: &'static str,
    base: &'d str,
    new: &'d str,
}

#[derive(Serialize)]
struct Method<'d> {
    name: &'d str,
    #[serde(rename = "self")]
    own: Numbers,
    inclusive: Numbers,
    calls: Numbers,
}

#[derive(Serialize)]
struct Context<'d> {
    path: Vec<&'d str>,
    #[serde(rename = "self")]
    own: Numbers,
    calls: Numbers,
}

#[derive(Serialize)]
struct ExceededLimit<'d> {
    /// Name of the method; `null` for the total.
    name: Option<&'d str>,
    change: Numbers,
    limit: String,
}

/// Writes the object, and a line end.
pub fn write(
    found: &Difference,
    options: &TextOptions,
    arguments: &Diff,
    excesses: &[Excess<'_>],
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut object = Object::new(out, "cctrewrite diff", 1)?;
    object.member("base", &options.names[0])?;
    object.member("new", &options.names[1])?;
    object.member("compared", &options.compared)?;
    object.member("by", found.by.name())?;
    object.member("metric", found.metric.name())?;
    object.member("identical", &found.is_identical())?;
    object.member("incomplete", &found.is_incomplete())?;
    object.member("remarks", &found.remarks.iter().map(said).collect::<Vec<JsonRemark>>())?;
    object.member("mismatches", &found.mismatches.iter().map(mismatch).collect::<Vec<JsonMismatch<'_>>>())?;
    object.member("contexts", &Numbers::from(found.contexts))?;
    object.member("calls", &Numbers::from(found.calls))?;
    object.member("bytecodes", &found.bytecodes.map(Numbers::from))?;
    object.member("changed_methods", &found.changed_methods)?;
    object.list("methods", |list| -> Result<(), ReportError> {
        for method in found.methods.iter().take(arguments.limit) {
            list.item(&of_method(found, method))?;
        }
        Ok(())
    })?;
    object.member("changed_contexts", &found.changed_contexts)?;
    object.list("largest_contexts", |list| -> Result<(), ReportError> {
        for context in &found.largest_contexts {
            list.item(&of_context(found, context))?;
        }
        Ok(())
    })?;
    object.member("exceeded", &excesses.iter().map(exceeded).collect::<Vec<_>>())?;
    object.end()?;
    Ok(writeln!(out)?)
}

fn said(remark: &Remark) -> JsonRemark {
    JsonRemark {
        kind: remark.kind(),
        side: remark.side().map(|side| side.called(SIDES).to_lowercase()),
        text: remark.worded(SIDES),
    }
}

fn mismatch(mismatch: &Mismatch) -> JsonMismatch<'_> {
    JsonMismatch { what: mismatch.what, base: &mismatch.a, new: &mismatch.b }
}

fn exceeded<'d>(excess: &Excess<'d>) -> ExceededLimit<'d> {
    ExceededLimit {
        name: excess.method.map(|name| &*name.exact),
        change: excess.change.into(),
        limit: excess.limit.to_string(),
    }
}

fn of_method<'d>(found: &'d Difference, method: &ChangedMethod) -> Method<'d> {
    Method {
        name: &found.names[method.name as usize].exact,
        own: method.own.into(),
        inclusive: method.inclusive.into(),
        calls: method.calls.into(),
    }
}

fn of_context<'d>(found: &'d Difference, context: &ChangedContext) -> Context<'d> {
    Context {
        path: context.path.iter().map(|&name| &*found.names[name as usize].exact).collect(),
        own: context.own.into(),
        calls: context.calls.into(),
    }
}
