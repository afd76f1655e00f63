//! The software bill of materials, in CycloneDX 1.6 (JSON): the crates in the command and its
//! libraries, with licences and hashes.
//!
//! The format requires few fields, so this module writes them itself. `cargo-cyclonedx` would
//! describe each package of the workspace separately, and include crates that only builds and
//! macros use.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::checksums::sha_256;
use super::date::SourceDate;
use super::linked_crates::{Crate, Id, LinkedCrates};
use super::packages::VERSION;

/// Builds the document, with a line break at its end.
///
/// # Errors
/// Fails if it cannot be written as JSON.
pub fn json(linked: &LinkedCrates, date: SourceDate) -> Result<String> {
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": date.rfc_3339(),
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist", "version": VERSION }] },
            "component": {
                "type": "application",
                "bom-ref": linked.root.purl(),
                "name": linked.root.name,
                "version": linked.root.version,
                "purl": linked.root.purl(),
                "licenses": [{ "license": { "id": "Apache-2.0" } }],
            },
        },
        "components": components(linked),
        "dependencies": dependencies(linked),
    });
    // The serial number must be unique to a document and the same at each build of it, so it is a
    // hash.
    let hash = sha_256(document.to_string().as_bytes());
    document["serialNumber"] = json!(format!("urn:uuid:{}", uuid(&hash)));
    let mut text = serde_json::to_string_pretty(&document).context("SBOM")?;
    text.push('\n');
    Ok(text)
}

/// A UUID of version 8 (RFC 9562: the application chooses the bits) from the hexadecimal digits of
/// a hash.
fn uuid(hash: &str) -> String {
    // The variant's digit has the bits 10, followed by two free bits.
    let variant = ["8", "9", "a", "b"][usize::from(hash.as_bytes()[16] % 4)];
    format!("{}-{}-8{}-{variant}{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}

fn components(linked: &LinkedCrates) -> Vec<Value> {
    // The packages of the workspace are no components: together they are the command.
    linked.crates.iter().map(component).collect()
}

fn component(krate: &Crate) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": krate.id.purl(),
        "name": krate.id.name,
        "version": krate.id.version,
        "scope": "required",
        "purl": krate.id.purl(),
        "licenses": [{ "expression": krate.license }],
        "hashes": [{ "alg": "SHA-256", "content": krate.checksum }],
    });
    if !krate.description.is_empty() {
        component["description"] = json!(krate.description);
    }
    if let Some(repository) = &krate.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

/// The dependencies between components. Dependencies of the workspace's packages count as
/// dependencies of the command.
fn dependencies(linked: &LinkedCrates) -> Vec<Value> {
    let is_of_others = |id: &&Id| linked.crates.iter().any(|krate| krate.id == **id);
    let own = linked.dependencies.iter().filter(|(id, _)| !is_of_others(id));
    let mut of_root: Vec<&Id> = own.flat_map(|(_, on)| on).filter(is_of_others).collect();
    of_root.sort();
    of_root.dedup();
    let entry = |id: &Id, on: Vec<&Id>| json!({ "ref": id.purl(), "dependsOn": on.into_iter().map(Id::purl).collect::<Vec<_>>() });
    let others = linked.crates.iter().map(|krate| {
        let on = linked.dependencies.get(&krate.id).into_iter().flatten();
        entry(&krate.id, on.filter(is_of_others).collect())
    });
    std::iter::once(entry(&linked.root, of_root)).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_document_is_whole_and_the_same_again() {
        let linked = LinkedCrates::list().unwrap();
        let date = SourceDate::get().unwrap();
        let text = json(&linked, date).unwrap();
        assert_eq!(text, json(&linked, date).unwrap());
        let document: Value = serde_json::from_str(&text).unwrap();
        let texts = |list: &Value, key: &str| -> BTreeSet<String> {
            list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
        };
        let root = document["metadata"]["component"]["bom-ref"].as_str().unwrap();
        let mut known = texts(&document["components"], "bom-ref");
        assert!(known.len() > 50, "{}", known.len());
        known.insert(root.to_owned());
        assert_eq!(texts(&document["dependencies"], "ref"), known);
        for entry in document["dependencies"].as_array().unwrap() {
            for on in entry["dependsOn"].as_array().unwrap() {
                assert!(known.contains(on.as_str().unwrap()), "{on}");
            }
        }
    }

    #[test]
    fn serial_numbers_have_the_form_of_the_schema() {
        let number = uuid(&sha_256(b"abc"));
        assert_eq!(number, "ba7816bf-8f01-8fea-8141-40de5dae2223");
    }
}
