use super::*;

const FILE: &str = r#"{"typestate":1}
{"violation":{"property":"FileApi","kind":"event","state":"^","event":"read","count":2,"object":{"class":"tests.file.File","id":1,"hash":"1b"},"site":{"class":"tests.file.NoOpen","method":"main","file":"NoOpen.java","line":7},"thread":"main","context":["tests.file.NoOpen.main"]}}
{"violation":{"property":"FileApi","kind":"exit","state":"open","after":"open","count":1,"object":{"class":"tests.file.File","id":2,"hash":"1c"},"first":{"class":"tests.file.NoClose","method":"main","file":"NoClose.java","line":6}}}
{"violation":{"property":"FileApi","kind":"event","state":"open","after":"open","event":"open","count":1,"object":{"class":"tests.file.File","id":2,"hash":"1c"},"first":{"class":"A","method":"m"},"site":{"class":"p.B","method":"n","file":"ü B.java"}}}
{"property":{"name":"FileApi","level":"error","message":"opened before","expression":"(open close)*","events":8,"objects":2,"unsampled":3,"unknown":4}}
{"note":"something"}
{"end":true}
"#;

fn read(text: &str) -> Result<Report, ReportError> {
    Report::read(text.as_bytes())
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn files_are_read() {
    let report = read(FILE).unwrap();
    assert!(report.is_whole && report.violations.len() == 3 && report.properties.len() == 1);
    assert_eq!(report.violations[0].says(), "'read' is not allowed at the beginning");
    assert_eq!(
        report.violations[1].says(),
        "the program ended after 'open', which is not a final \
                                             state of the object"
    );
    assert_eq!(report.notes, ["something"]);
}

#[test]
fn missing_ends_are_reported() {
    let end = FILE.find("{\"note").unwrap();
    for cut in [end, end + 5] {
        let report = read(&FILE[..cut]).unwrap();
        assert!(!report.is_whole && report.violations.len() == 3);
        let mut text = Vec::new();
        text::write(&report, &mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("the report is truncated"));
    }
}

#[test]
fn runs_are_added_up() {
    let mut sum = read(FILE).unwrap();
    sum.add(read(FILE).unwrap());
    assert_eq!(sum.violations.iter().map(|v| v.count).collect::<Vec<_>>(), [4, 2, 2]);
    assert_eq!((sum.properties.len(), sum.properties[0].events, sum.properties[0].unsampled), (1, 16, 6));
    assert_eq!(sum.properties[0].unknown, 8);
    sum.add(read(&FILE.replacen("\"line\":7", "\"line\":8", 1)).unwrap());
    assert_eq!(sum.violations.iter().map(|v| v.count).collect::<Vec<_>>(), [4, 3, 3, 2]);
}

#[test]
fn other_files_are_refused() {
    for text in ["", "\n", "x", "{\"end\":true}", "{\"property\":1}"] {
        assert!(error(text).starts_with("not a report"), "{text}");
    }
    assert_eq!(error("{\"typestate\":2}\n"), "format version 2; this version reads version 1");
    assert!(error(&FILE.replacen("\"note\"", "\"nota\"", 1)).starts_with("line 6: unknown variant"));
    assert_eq!(error(&(FILE.to_owned() + "{\"note\":\"x\"}\n")), "line 8: something follows the end");
    assert_eq!(error(&("{\"typestate\":1}\n".to_owned() + FILE)), "line 2: the report begins again");
}

#[test]
fn text_names_both_places() {
    let mut out = Vec::new();
    text::write(&read(FILE).unwrap(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let expected = "\
error: FileApi: 'read' is not allowed at the beginning
  opened before: (open close)*
  object   tests.file.File@1b (number 1), and 1 more
  here     tests.file.NoOpen.main (NoOpen.java:7)
  thread   main
  context  tests.file.NoOpen.main
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("  before   A.m\n  here     p.B.n (ü B.java)\n"), "{text}");
    assert!(
        text.contains("FileApi: 2 objects, 8 events, 4 violations; 3 objects were not followed"),
        "{text}"
    );
}

/// If the program was also counted, each format names the node.
#[test]
fn nodes_of_the_tree_are_named() {
    let with = FILE.replacen(
        "\"context\":[\"tests.file.NoOpen.main\"]",
        "\"context\":[\"tests.file.NoOpen.main\"],\"node\":\"00c0ffee00000001\",\"path\":[\"tests/file/File.read()I\",\"tests/file/NoOpen.main([Ljava/lang/String;)V\"]",
        1,
    );
    let mut report = read(&with).unwrap();
    let mut out = Vec::new();
    text::write(&report, &mut out).unwrap();
    let lines = "\
  context  tests.file.NoOpen.main
  node     00c0ffee00000001 of the calling-context tree
  path     tests/file/File.read()I
           tests/file/NoOpen.main([Ljava/lang/String;)V
";
    assert!(String::from_utf8(out).unwrap().contains(lines));
    let mut out = Vec::new();
    sarif::write(&report, "1", &mut out).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let result = &document["runs"][0]["results"][0];
    assert_eq!(result["properties"]["node"], "00c0ffee00000001");
    assert_eq!(result["stacks"][1]["frames"].as_array().unwrap().len(), 2);
    assert!(document["runs"][0]["results"][1]["properties"].get("node").is_none());
    // The same violation at another node is a different one.
    report.add(read(&with.replacen("00c0ffee", "00c0ffef", 1)).unwrap());
    assert_eq!(report.violations.len(), 4);
}

/// A check by the schema of the standard, as far as the reports use it: required items and their
/// types (the whole schema is 100 kB).
#[test]
fn sarif_is_sarif() {
    let mut out = Vec::new();
    sarif::write(&read(FILE).unwrap(), "1.2.3", &mut out).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let schema: serde_json::Value = serde_json::from_str(include_str!("sarif-subset.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let result = |at: usize| &document["runs"][0]["results"][at];
    assert_eq!(result(0)["ruleIndex"], 0);
    let place = &result(0)["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "tests/file/NoOpen.java");
    assert_eq!(place["region"]["startLine"], 7);
    // An object that ended: the location where it entered its state.
    assert_eq!(result(1)["locations"][0]["physicalLocation"]["region"]["startLine"], 6);
    assert!(result(1).get("relatedLocations").is_none());
    assert_eq!(result(2)["relatedLocations"][0]["logicalLocations"][0]["fullyQualifiedName"], "A.m");
    assert_eq!(result(2)["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "p/%C3%BC%20B.java");
}

#[test]
fn anything_is_read_or_refused() {
    arbtest::arbtest(|u| {
        let mut bytes = FILE.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=5)? {
            let at = u.choose_index(bytes.len())?;
            bytes[at] = u.arbitrary()?;
        }
        bytes.truncate(u.int_in_range(0..=bytes.len())?);
        if let Ok(report) = Report::read(&bytes[..]) {
            text::write(&report, &mut Vec::new()).unwrap();
            sarif::write(&report, "1", &mut Vec::new()).unwrap();
        }
        Ok(())
    });
}

#[test]
fn claims_of_a_file_neither_overflow_nor_reach_the_terminal() {
    let most = u64::MAX.to_string();
    let text = FILE.replacen("\"count\":1", "\"count\":0", 1);
    let text = text.replacen("\"count\":2", &format!("\"count\":{most}"), 1).replacen(
        "\"events\":8",
        &format!("\"events\":{most}"),
        1,
    );
    let text = text.replacen("\"thread\":\"main\"", "\"thread\":\"\\u001b[31mred\"", 1);
    let mut sum = read(&text).unwrap();
    sum.add(read(&text).unwrap());
    assert_eq!((sum.violations[0].count, sum.properties[0].events), (u64::MAX, u64::MAX));
    let mut shown = Vec::new();
    text::write(&sum, &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("  thread   \\u{1b}[31mred\n") && shown.contains("(number 2)\n"), "{shown}");
}
