//! Users' files for markers and properties, the report of a run, and answers of a module.

use std::fs;

use cct_udi::Outcome;
use cct_udi::wire::{Answer, MAGIC, write_answer, write_field};

use super::repository;

fn read(files: &[&str]) -> Vec<Vec<u8>> {
    files.iter().map(|file| fs::read(repository().join(file)).unwrap()).collect()
}

/// Files of rules.
pub fn marker_rules() -> Vec<Vec<u8>> {
    read(&["fixtures/markers/rules.toml", "fixtures/markers/switches.toml", "fixtures/markers/library.toml"])
}

/// Files of properties.
pub fn properties() -> Vec<Vec<u8>> {
    read(&[
        "fixtures/typestate/file.toml",
        "fixtures/typestate/pairs.toml",
        "crates/typestate/properties/lock.toml",
        "crates/typestate/properties/iterator-once.toml",
        "crates/typestate/properties/connection.toml",
    ])
}

/// Reports of runs.
pub fn violations() -> Vec<Vec<u8>> {
    let whole = r#"{"typestate":1}
{"violation":{"property":"FileApi","kind":"event","state":"^","event":"read","count":2,"object":{"class":"tests.file.File","id":1,"hash":"1b"},"site":{"class":"tests.file.NoOpen","method":"main","file":"NoOpen.java","line":7},"thread":"main","context":["tests.file.NoOpen.main"]}}
{"violation":{"property":"FileApi","kind":"exit","state":"open","after":"open","count":18446744073709551615,"object":{"class":"tests.file.File","id":2,"hash":"1c"},"first":{"class":"A","method":"m"}}}
{"property":{"name":"FileApi","level":"error","message":"opened before","expression":"(open close)*","events":18446744073709551615,"objects":2,"unsampled":3}}
{"note":"a\u0007note"}
{"end":true}
"#;
    vec![whole.into(), b"{\"typestate\":1}\n{\"end\":true}\n".to_vec()]
}

/// Outputs of modules.
pub fn answers() -> Vec<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&2_u32.to_be_bytes());
    for field in ["a/A", "bytes", "b/B", ""] {
        write_field(&mut bytes, field.as_bytes()).unwrap();
    }
    for answer in [
        Answer::Outcome(Outcome::Keep),
        Answer::Outcome(Outcome::Replace(b"class".to_vec())),
        Answer::Outcome(Outcome::Abort("no".to_owned())),
        Answer::Failed("java.lang.Error".to_owned()),
    ] {
        write_answer(&mut bytes, &answer).unwrap();
    }
    vec![bytes]
}
