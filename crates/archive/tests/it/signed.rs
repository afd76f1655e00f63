//! Signed jars.

use cct_archive::{Action, Location, Notice, RewriteOptions};

use crate::builder::{deflated, jar, stored};
use crate::support::*;

const MANIFEST: &str = "Manifest-Version: 1.0\r\nCreated-By: a test with a line that is long enough to be conti\r\n nued\r\n\r\n\
    Name: a/A.class\r\nSHA-256-Digest: 4AAe2yHQ0TEL4kAEqyGqwoQrr2h2M5vdlrvCsdzYyXg=\r\n\r\n\
    Name: a/\r\nSHA1-Digest: abc\r\nSealed: true\r\n\r\n";

fn signed() -> Vec<u8> {
    jar(vec![
        deflated("META-INF/MANIFEST.MF", MANIFEST.as_bytes()),
        deflated("META-INF/KEY.SF", b"Signature-Version: 1.0\r\n\r\n"),
        deflated("META-INF/KEY.RSA", b"\x30\x82"),
        stored("a/A.class", b"class a"),
        deflated("a/r.txt", b"resource"),
    ])
}

#[test]
fn a_change_removes_the_signature_with_a_notice() {
    let bench = Bench::with(&signed());
    let account = bench.rewrite(&double).unwrap();
    let written = contents(&bench.written());
    let names: Vec<_> = written.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["META-INF/MANIFEST.MF", "a/A.class", "a/r.txt"]);
    let manifest = String::from_utf8(written[0].1.clone()).unwrap();
    let main_end = MANIFEST.find("Name:").unwrap();
    assert_eq!(manifest, format!("{}Name: a/\r\nSealed: true\r\n\r\n", &MANIFEST[..main_end]));
    let files = vec!["META-INF/KEY.SF".into(), "META-INF/KEY.RSA".into()];
    let archive = bench.input().display().to_string();
    assert_eq!(account.notices, [Notice::SignatureRemoved { archive, files, digests: 2 }]);
    assert_eq!((account.tally.dropped, account.tally.replaced, account.tally.kept), (2, 1, 2));
}

#[test]
fn attributes_are_added_to_what_is_left_of_the_manifest() {
    let bench = Bench::with(&signed());
    let manifest = vec![("Made-By".to_owned(), "a test".to_owned())];
    let options = RewriteOptions { manifest, ..RewriteOptions::default() };
    let account = rewrite_to(&bench.open().unwrap(), &bench.output(), &options, &double).unwrap();
    let main_end = MANIFEST.find("Name:").unwrap() - 2;
    let expected =
        format!("{}Made-By: a test\r\n\r\nName: a/\r\nSealed: true\r\n\r\n", &MANIFEST[..main_end]);
    assert_eq!(String::from_utf8(contents(&bench.written())[0].1.clone()).unwrap(), expected);
    assert_eq!(account.notices.len(), 1);
}

#[test]
fn however_small_the_windows_are() {
    let bench = Bench::with(&signed());
    bench.rewrite(&double).unwrap();
    let small = bench.folder.path().join("small.jar");
    let options = RewriteOptions { window_bytes: 1, ..RewriteOptions::default() };
    let account = rewrite_to(&bench.open().unwrap(), &small, &options, &double).unwrap();
    assert_eq!(account.notices.len(), 1);
    assert_eq!(std::fs::read(small).unwrap(), bench.written());
}

#[test]
fn without_a_change_the_signature_stays() {
    let bench = Bench::with(&signed());
    let account = bench.rewrite(&keep).unwrap();
    assert_eq!(bench.written(), signed());
    assert!(account.notices.is_empty());
}

#[test]
fn dropping_a_class_is_a_change() {
    let bench = Bench::with(&signed());
    bench.rewrite(&|_: &Location<'_>, _: &[u8]| Ok::<_, ()>(Action::Drop)).unwrap();
    assert_eq!(names(&bench.written()), ["META-INF/MANIFEST.MF", "a/r.txt"]);
}

#[test]
fn digests_of_an_unsigned_jar_stay() {
    let bench =
        Bench::with(&jar(vec![stored("META-INF/MANIFEST.MF", MANIFEST.as_bytes()), stored("A.class", b"a")]));
    let account = bench.rewrite(&double).unwrap();
    assert_eq!(contents(&bench.written())[0].1, MANIFEST.as_bytes());
    assert!(account.notices.is_empty());
}

#[test]
fn a_signed_jar_within_a_signed_jar() {
    let outer = jar(vec![
        deflated("META-INF/MANIFEST.MF", b"A: b\n\nName: in.jar\nSHA1-Digest: x\n\n"),
        deflated("META-INF/SIG-KEY", b"x"),
        stored("in.jar", &signed()),
    ]);
    let bench = Bench::with(&outer);
    let account = bench.rewrite(&double).unwrap();
    let written = contents(&bench.written());
    assert_eq!(written[0].1, b"A: b\n\n");
    assert_eq!(names(&written[1].1), ["META-INF/MANIFEST.MF", "a/A.class", "a/r.txt"]);
    assert_eq!(account.notices.len(), 2);
}
