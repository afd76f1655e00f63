//! Reports in SARIF 2.1.0, which code hosts and editors show.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Report, Site, Violation};

/// Writes a report as SARIF.
pub fn write(report: &Report, version: &str, out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<Value> = report.properties.iter().map(rule).collect();
    let results: Vec<Value> = report.violations.iter().map(|violation| result(report, violation)).collect();
    let mut notifications: Vec<Value> = report.notes.iter().map(|note| notification(note)).collect();
    if !report.is_whole {
        notifications
            .push(notification("the report is truncated: the JVM was killed, so violations may be missing"));
    }
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "cctrewrite", "version": version, "rules": rules } },
            "invocations": [{
                "executionSuccessful": report.is_whole,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn rule(checked: &super::PropertyResult) -> Value {
    json!({
        "id": checked.name,
        "shortDescription": { "text": checked.message },
        "fullDescription": { "text": format!("{}: {}", checked.message, checked.expression) },
        "defaultConfiguration": { "level": checked.level },
        "properties": { "events": checked.events, "passed": checked.passed, "objects": checked.objects, "unsampled": checked.unsampled, "unknown": checked.unknown },
    })
}

fn notification(text: &str) -> Value {
    json!({ "level": "warning", "message": { "text": text } })
}

fn result(report: &Report, violation: &Violation) -> Value {
    let object = &violation.object;
    let text = format!("{}: {} ({}@{})", violation.property, violation.says(), object.class, object.hash);
    let mut result = Map::new();
    result.insert("ruleId".into(), json!(violation.property));
    if let Some(index) = report.properties.iter().position(|checked| checked.name == violation.property) {
        result.insert("ruleIndex".into(), json!(index));
    }
    result.insert("level".into(), json!(report.level(&violation.property)));
    result.insert("message".into(), json!({ "text": text }));
    result.insert("occurrenceCount".into(), json!(violation.count));
    // The end of an object has no location: show where it entered the state in which it ended.
    if let Some(site) = violation.site.as_ref().or(violation.first.as_ref()) {
        result.insert("locations".into(), json!([location(site, None)]));
    }
    if let (Some(first), Some(_)) = (&violation.first, &violation.site) {
        let text = format!("'{}' was here", violation.after.as_deref().unwrap_or("?"));
        result.insert("relatedLocations".into(), json!([location(first, Some(&text))]));
    }
    let stack = |what: String, frames: &[String]| {
        let frame =
            |frame: &String| json!({ "location": { "logicalLocations": [{ "fullyQualifiedName": frame }] } });
        let list: Vec<Value> = frames.iter().map(frame).collect();
        (!frames.is_empty()).then(|| json!({ "message": { "text": what }, "frames": list }))
    };
    let node = violation.node.as_deref().unwrap_or("?");
    let stacks: Vec<Value> = stack("calling context".to_owned(), &violation.context)
        .into_iter()
        .chain(stack(format!("path to node {node} of the calling-context tree"), &violation.path))
        .collect();
    if !stacks.is_empty() {
        result.insert("stacks".into(), json!(stacks));
    }
    let parent = violation.parent.as_ref().map(|parent| format!("{}@{}", parent.class, parent.hash));
    let mut properties = json!({ "kind": violation.kind, "state": violation.state, "object": object.id, "parent": parent, "thread": violation.thread });
    if let (Some(node), Some(properties)) = (&violation.node, properties.as_object_mut()) {
        properties.insert("node".into(), json!(node));
    }
    result.insert("properties".into(), properties);
    Value::Object(result)
}

fn location(site: &Site, message: Option<&str>) -> Value {
    let mut location = Map::new();
    let name = format!("{}.{}", site.class, site.method);
    location.insert("logicalLocations".into(), json!([{ "fullyQualifiedName": name, "kind": "function" }]));
    if let Some(file) = &site.file {
        // The path of the Java source below the folder of sources.
        let uri = match site.class.rsplit_once('.') {
            Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
            None => file.clone(),
        };
        let mut physical = json!({ "artifactLocation": { "uri": escaped(&uri), "uriBaseId": "SRCROOT" } });
        if let (Some(line), Some(physical)) = (site.line.filter(|&line| line > 0), physical.as_object_mut()) {
            physical.insert("region".into(), json!({ "startLine": line }));
        }
        location.insert("physicalLocation".into(), physical);
    }
    if let Some(message) = message {
        location.insert("message".into(), json!({ "text": message }));
    }
    Value::Object(location)
}

/// A path as a URI: names of classes and files may contain any character.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/$".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}
