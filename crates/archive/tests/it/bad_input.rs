//! Damaged, hostile and unreadable inputs: one clear error each, and nothing written.

use std::convert::Infallible;

use cct_archive::{Action, ArchiveProblem, EntryProblem, Error, Failure, Input, Limits, Location};

use crate::builder::{Archive, Item, deflated, item, jar, stored};
use crate::jars::text;
use crate::support::*;

fn archive_problem(bytes: &[u8]) -> ArchiveProblem {
    let bench = Bench::with(bytes);
    match bench.open() {
        Err(Error::Archive { archive, problem }) => {
            assert_eq!(archive, bench.input().display().to_string());
            problem
        }
        other => panic!("{other:?}"),
    }
}

/// The problem with the only class of a jar, which survey and rewrite must both find.
fn entry_problem(bytes: &[u8]) -> EntryProblem {
    let bench = Bench::with(bytes);
    let surveyed = bench.open().unwrap().survey(|_, _| Ok::<_, Infallible>(()));
    let rewritten =
        bench.rewrite(&|_: &Location<'_>, _: &[u8]| Ok::<_, Infallible>(Action::Keep)).unwrap_err();
    assert_eq!(bench.files(), ["in.jar"]);
    match surveyed {
        Err(Failure::Archive(error)) => {
            assert_eq!(error.to_string(), rewritten.to_string());
            match error {
                Error::Entry { entry, problem } => {
                    assert!(entry.ends_with("in.jar!/a/A.class"), "{entry}");
                    problem
                }
                other => panic!("{other}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

fn sample() -> Vec<u8> {
    jar(vec![deflated("a/A.class", &text(3000)), stored("a/B.class", &text(500))])
}

#[test]
fn not_archives() {
    assert_eq!(archive_problem(b""), ArchiveProblem::Empty);
    assert_eq!(archive_problem(b"x"), ArchiveProblem::NotZip);
    assert_eq!(archive_problem(&text(100_000)), ArchiveProblem::NotZip);
    // The start of a class file, truncated within its magic number.
    assert_eq!(archive_problem(&[0xCA, 0xFE, 0xBA]), ArchiveProblem::NotZip);
}

#[test]
fn truncated_anywhere() {
    let whole = sample();
    for len in 4..whole.len() {
        let problem = archive_problem(&whole[..len]);
        assert!(
            matches!(problem, ArchiveProblem::Truncated | ArchiveProblem::TrailingBytes { .. }),
            "cut at {len}: {problem}"
        );
    }
    // A complete archive within a truncated one is not taken for the whole.
    let outer = jar(vec![stored("in.jar", &whole), stored("a/A.class", b"a")]);
    let problem = archive_problem(&outer[..outer.len() - 30]);
    assert!(matches!(problem, ArchiveProblem::TrailingBytes { .. } | ArchiveProblem::Truncated), "{problem}");
}

#[test]
fn trailing_bytes() {
    assert_eq!(archive_problem(&[&sample()[..], b"\n"].concat()), ArchiveProblem::TrailingBytes { count: 1 });
}

#[test]
fn bytes_cut_out_or_changed_never_panic() {
    let whole = Archive {
        items: vec![
            Item { zip64: true, ..deflated("a/A.class", &text(300)) },
            deflated("in.jar", &sample()),
            stored("META-INF/K.SF", b""),
        ],
        zip64_end: true,
        ..Archive::default()
    }
    .build();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fuzzed.jar");
    let (mut opened, mut refused) = (0, 0);
    let mut attempt = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        match Input::open(&path, &Limits::default()) {
            Ok(input) => {
                opened += 1;
                let _ = input.survey(|_, _| Ok::<_, Infallible>(()));
                let _ = rewrite_to(&input, &folder.path().join("out.jar"), &Default::default(), &double);
            }
            Err(_) => refused += 1,
        }
    };
    for at in 0..whole.len() {
        for value in [0, 0xFF, whole[at] ^ 1] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            attempt(&bytes);
        }
        let mut bytes = whole.clone();
        bytes.remove(at);
        attempt(&bytes);
    }
    assert!(opened > 100 && refused > 100, "{opened} opened, {refused} refused");
}

#[test]
fn directory_that_lies() {
    let whole = sample();
    let end = whole.len() - 22;
    let patched = |at: usize, value: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        archive_problem(&bytes)
    };
    let what = |problem| match problem {
        ArchiveProblem::Directory { what, .. } | ArchiveProblem::EntryHeader { what, .. } => what,
        other => panic!("{other}"),
    };
    assert!(what(patched(end + 8, &[9, 0, 9, 0])).contains("number of entries"));
    assert!(what(patched(end + 12, &[0xFF; 4])).contains("larger than the file"));
    assert!(what(patched(end + 16, &[0xFF, 0xFF, 0xFF, 0x7F])).contains("start after its place"));
    assert_eq!(patched(end + 4, &[1, 0]), ArchiveProblem::Split);
    let directory = u32::from_le_bytes(whole[end + 16..end + 20].try_into().unwrap()) as usize;
    assert!(what(patched(directory, b"XX")).contains("no entry starts here"));
    assert!(what(patched(directory + 28, &[0xFF, 0xFF])).contains("cut off"));
    assert!(what(patched(directory + 42, &[0xFF; 4])).contains("outside the file"));
    assert!(what(patched(directory + 42, &[1, 0, 0, 0])).contains("no local header"));
    assert!(what(patched(directory + 20, &[0xFF, 0xFF, 0xFF, 0])).contains("beyond the file"));
    assert!(what(patched(30, b"b")).contains("another name"));
}

#[test]
fn entries_that_share_bytes() {
    let mut bytes = jar(vec![stored("A.class", b"aaaa"), stored("A.class", b"bbbb")]);
    let end = bytes.len() - 22;
    let directory = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
    let second = directory + 46 + 7;
    bytes[second + 42..second + 46].fill(0);
    let problem = archive_problem(&bytes);
    assert!(
        matches!(problem, ArchiveProblem::EntryHeader { what: "it shares bytes with another entry", .. }),
        "{problem}"
    );
}

#[test]
fn damaged_and_unsupported_entries() {
    let class = deflated("a/A.class", &text(3000));
    let bytes = |item: Item| jar(vec![item]);
    assert!(matches!(entry_problem(&bytes(Item { flags: 1, ..class.clone() })), EntryProblem::Encrypted));
    assert!(matches!(entry_problem(&bytes(item("a/A.class", b"bz", 12))), EntryProblem::Method(12)));
    for claimed in [2999, 3001, 0] {
        let problem = entry_problem(&bytes(Item { claimed_size: Some(claimed), ..class.clone() }));
        assert!(
            matches!(problem, EntryProblem::Size { declared, .. } if declared == claimed.into()),
            "{problem}"
        );
    }
    let huge = entry_problem(&bytes(Item { claimed_size: Some(0x3FFF_FFFF), ..class.clone() }));
    assert!(matches!(huge, EntryProblem::Ratio { .. }), "{huge}");
    let wrong = entry_problem(&bytes(Item { claimed_crc: Some(7), ..class.clone() }));
    assert!(matches!(wrong, EntryProblem::Checksum { declared: 7, .. }), "{wrong}");
    let short = entry_problem(&bytes(Item { claimed_packed: Some(20), ..class.clone() }));
    assert!(matches!(short, EntryProblem::Inflate(_)), "{short}");
    let stored_lie = entry_problem(&bytes(Item { claimed_size: Some(5), ..stored("a/A.class", b"abcd") }));
    assert!(matches!(stored_lie, EntryProblem::Size { declared: 5, actual: 4 }), "{stored_lie}");
}

#[test]
fn what_is_not_looked_into_is_copied_whatever_it_is() {
    let bytes = jar(vec![
        Item { flags: 1, ..deflated("secret.bin", b"secret") },
        item("zstd.bin", b"zstandard", 93),
        Item { claimed_crc: Some(7), ..deflated("damaged.txt", b"damaged") },
    ]);
    let bench = Bench::with(&bytes);
    bench.rewrite(&keep).unwrap();
    assert_eq!(bench.written(), bytes);
}

#[test]
fn unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.jar");
    let error = Input::open(&missing, &Limits::default()).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
    assert!(error.to_string().contains("missing.jar: cannot read"), "{error}");
    #[cfg(unix)]
    {
        let error = Input::open(std::path::Path::new("/dev/null"), &Limits::default()).unwrap_err();
        assert!(matches!(error, Error::Entry { problem: EntryProblem::Special, .. }), "{error}");
    }
}
