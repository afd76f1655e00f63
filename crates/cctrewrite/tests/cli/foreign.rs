//! Classes of other compilers and of an obfuscator (fixtures/foreign), rewritten and checked
//! against their originals.

use std::path::Path;

use super::support::{run, scratch};

/// Paths of the inputs, and numbers of their classes.
const INPUTS: [(&str, u64); 6] = [
    ("kotlin/classes", 10),
    ("scala/classes", 7),
    ("groovy/classes", 4),
    ("clojure/classes", 16),
    ("jruby/classes", 1),
    ("proguard/shapes.jar", 8),
];

#[test]
fn classes_of_other_compilers_are_their_originals_and_probes() {
    let folder = scratch();
    for (input, classes) in INPUTS {
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/foreign").join(input);
        let original = original.to_str().unwrap();
        for blocks in ["exact", "precise", "default"] {
            let output = format!("{}-{blocks}", input.replace('/', "-"));
            let arguments =
                ["instrument", original, "-o", &output, "--blocks", blocks, "--report", "report.json"];
            run(folder.path(), &arguments).succeeds();
            let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
            let report: serde_json::Value = serde_json::from_str(&report).unwrap();
            assert_eq!(report["warnings"], serde_json::json!([]), "{input}");
            let found = run(folder.path(), &["verify", original, &output, "--format", "json"]).succeeds();
            let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
            assert_eq!(found["findings"], serde_json::json!([]), "{input}");
            assert_eq!(found["classes"]["compared"], classes, "{input}");
            assert!(found["probes"].as_u64().unwrap() > classes, "{input}");
        }
    }
}
