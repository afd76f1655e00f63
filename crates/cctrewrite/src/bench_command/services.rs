//! The numbers of entries for services that store and draw them.

use std::io::{self, Write};

use cct_profile::Metric;
use serde_json::{Map, Value, json};

use super::output::Results;
use super::verdict::Judgement;

/// Writes the Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format/>):
/// a benchmark for each entry, with the metric and the calls as measures.
pub fn bencher(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let measures = |judged: &Judgement| {
        let mut measures = Map::new();
        for metric in [results.metric, Metric::Calls] {
            measures.insert(metric.name().to_owned(), measure(judged, metric));
        }
        Value::Object(measures)
    };
    let entries = results.judged.iter().map(|judged| (judged.entry.text().to_owned(), measures(judged)));
    pretty(&Value::Object(entries.collect()), out)
}

/// A number, with its range if JVMs disagree.
fn measure(judged: &Judgement, metric: Metric) -> Value {
    let value = judged.counts.all.of(metric) as u64;
    match judged.variation.as_ref().map(|variation| variation.range(metric)).filter(|range| range.size() > 0)
    {
        None => json!({ "value": value }),
        Some(range) => {
            json!({ "value": value, "lower_value": range.base as u64, "upper_value": range.new as u64 })
        }
    }
}

/// Writes the input of github-action-benchmark's tool `customSmallerIsBetter`
/// (<https://github.com/benchmark-action/github-action-benchmark>).
pub fn github_benchmark(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let conditions = &results.conditions;
    let item = |judged: &Judgement| {
        let mut item = json!({
            "name": judged.entry.text(),
            "unit": results.metric.name(),
            "value": judged.counts.all.of(results.metric) as u64,
            "extra": format!(
                "calls: {}\nJava {}\n{}",
                judged.counts.all.calls, conditions.java, conditions.settings
            ),
        });
        let range = judged.variation.as_ref().map(|variation| variation.range(results.metric));
        if let (Some(range), Some(item)) = (range.filter(|range| range.size() > 0), item.as_object_mut()) {
            item.insert("range".to_owned(), format!("{} to {}", range.base, range.new).into());
        }
        item
    };
    pretty(&results.judged.iter().map(item).collect(), out)
}

fn pretty(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{four_entries, results};
    use super::*;

    fn written(write: impl Fn(&Results<'_>, &mut dyn Write) -> io::Result<()>) -> Value {
        let mut out = Vec::new();
        results(four_entries(), None, |results| write(results, &mut out).unwrap());
        serde_json::from_slice(&out).unwrap()
    }

    /// The schema is that of <https://bencher.dev/bmf.json>.
    #[test]
    fn bencher_has_measures_with_ranges() {
        let found = written(bencher);
        let number = json!({ "type": "number" });
        let metric = json!({
            "type": "object",
            "properties": { "value": number, "lower_value": number, "upper_value": number },
            "required": ["value"]
        });
        let measures = json!({ "type": "object", "patternProperties": { ".+": metric } });
        let schema = json!({ "type": "object", "patternProperties": { ".+": measures } });
        jsonschema::validate(&schema, &found).unwrap();
        assert_eq!(
            found["app.A.grows"],
            json!({ "bytecodes": { "value": 1_203_400 }, "calls": { "value": 3 } })
        );
        assert_eq!(
            found["app.A.drifts(\"a|b\")"],
            json!({
                "bytecodes": { "value": 1010, "lower_value": 1000, "upper_value": 1010 },
                "calls": { "value": 2 }
            })
        );
    }

    /// The members that the tool's own type of results has, with their types.
    #[test]
    fn github_benchmark_has_names_units_and_values() {
        let found = written(github_benchmark);
        let (text, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
        let item = json!({
            "type": "object",
            "properties": { "name": text, "unit": text, "value": number, "range": text, "extra": text },
            "required": ["name", "unit", "value"],
            "additionalProperties": false
        });
        jsonschema::validate(&json!({ "type": "array", "items": item }), &found).unwrap();
        let first = &found[0];
        assert_eq!((&first["name"], &first["unit"]), (&"app.A.grows".into(), &"bytecodes".into()));
        assert_eq!((&first["value"], first.get("range")), (&1_203_400.into(), None));
        assert_eq!(first["extra"], "calls: 3\nJava 17.0.1\nblocks=exact");
        assert_eq!(found[2]["range"], "1000 to 1010");
    }
}
