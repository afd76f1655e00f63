//! Comparison with the `zip` crate: the losses of its raw access, and its speed.

use std::borrow::Cow;
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::Jar;
use crate::container::Container;

/// A jar of this many entries, as JDKs' `jar` writes it: with data descriptors after the entries.
fn streamed(entries: usize) -> Vec<u8> {
    let mut jar = ZipWriter::new_stream(Vec::new());
    for n in 0..entries {
        jar.start_file(format!("p{}/C{n}.class", n % 100), SimpleFileOptions::default()).unwrap();
        jar.write_all(&[&n.to_le_bytes()[..], b"constants, methods and code".repeat(40).as_slice()].concat())
            .unwrap();
    }
    jar.finish().unwrap().into_inner()
}

fn copied_by_zip(bytes: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        copy.raw_copy_file(archive.by_index_raw(index).unwrap()).unwrap();
    }
    copy.finish().unwrap().into_inner()
}

/// `zip` loses data descriptors in raw copies, and one of two entries with the same name.
#[test]
fn the_zip_crate_loses_headers_and_entries() {
    let bytes = streamed(3);
    assert_ne!(
        copied_by_zip(&bytes),
        bytes,
        "zip keeps data descriptors now: reconsider reading jars with it"
    );

    // Two entries of one name: the JVM takes the last one, other programs the first one.
    let doubled: Vec<u8> = {
        let (mut bytes, name) = (bytes, *b"p2/C2");
        while let Some(at) = bytes.windows(5).position(|part| part == name) {
            bytes[at..at + 5].copy_from_slice(b"p1/C1");
        }
        bytes
    };
    assert_eq!(
        ZipArchive::new(Cursor::new(&doubled)).unwrap().len(),
        2,
        "zip lists both entries of one name now: reconsider reading jars with it"
    );
    assert_eq!(Jar::parse(Cow::Borrowed(&doubled)).unwrap().entries().len(), 3);
}

/// The times of `zip` and of this crate for one jar. Each copies all raw entries into a buffer.
/// They alternate; the result is the minimum of seven rounds.
fn measured(bytes: &[u8]) -> [Duration; 2] {
    let mut buffer = Vec::new();
    let mut least = [Duration::MAX; 2];
    for _ in 0..7 {
        let begin = Instant::now();
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut by_zip = 0;
        for index in 0..archive.len() {
            buffer.clear();
            by_zip += archive.by_index_raw(index).unwrap().read_to_end(&mut buffer).unwrap();
        }
        least[0] = least[0].min(begin.elapsed());

        let begin = Instant::now();
        let jar = Jar::parse(Cow::Borrowed(bytes)).unwrap();
        let mut by_crate = 0;
        for index in 0..jar.entries().len() {
            buffer.clear();
            buffer.extend_from_slice(jar.packed(index));
            by_crate += buffer.len();
        }
        least[1] = least[1].min(begin.elapsed());
        assert_eq!(by_zip, by_crate);
    }
    least
}

/// Prints the times that ARCHITECTURE.md quotes: `cargo test --release -p cct-archive --lib
/// against_zip -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
#[allow(clippy::print_stdout)]
fn times_of_raw_entries() {
    let home = std::env::var_os("JAVA8_HOME").map(PathBuf::from);
    let rt = home.map(|home| std::fs::read(home.join("jre/lib/rt.jar")).unwrap());
    let large = streamed(60_000);
    for (name, bytes) in [("rt.jar", rt.as_deref()), ("60,000 entries", Some(&*large))] {
        let Some(bytes) = bytes else { continue };
        let [by_zip, by_crate] = measured(bytes);
        println!("{name}: {} bytes; zip {by_zip:?}, this crate {by_crate:?}", bytes.len());
    }
}
