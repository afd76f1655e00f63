//! Damaged files: each byte offset as the end, and each bit flipped. Sound parts are read, and
//! every missing part is reported.

use super::*;
use crate::testing::{method, profile, thread, tree};

/// Three threads, one of them with contexts enough for several sections.
fn original() -> Profile {
    let methods = vec![method("A", "f", "()V"), method("A", "g", "()V"), method("B", "f", "()V")];
    let main = tree(&[(1, 0, 1, 10), (2, 1, 300, 70_000), (3, 1, 5, u64::MAX), (2, 2, 7, 0), (1, 2, 1, 1)]);
    let threads = vec![
        thread("first", tree(&[(1, 2, 3, 4)])),
        thread("main", main),
        thread("second", tree(&[(1, 1, 3, 4), (2, 2, 1, 1)])),
    ];
    let mut p = profile(methods, threads);
    p.meta.insert("metrics".into(), "calls+bytecodes".into());
    p.notes = vec!["one".into(), "two".into()];
    p
}

/// Numbers of rejected files and, among the others, of completely read trees.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    refused: usize,
    /// Number of files with a damaged length before the names that leads beyond the file's end:
    /// such a file looks truncated there.
    nameless: usize,
    read: usize,
    whole_trees: usize,
}

/// Whether the second tree is a prefix of the first, in preorder.
fn begins_with(all: &ThreadTree, part: &ThreadTree) -> bool {
    let of =
        |t: &ThreadTree| t.tree.nodes().iter().map(|n| (n.method, n.calls, n.bytecodes)).collect::<Vec<_>>();
    all.name == part.name && of(all).starts_with(&of(part)[..part.tree.contexts() + 1])
}

/// Everything read is as written, and everything missing is reported.
fn judge(original: &Profile, bytes: &[u8], what: &str, tally: &mut Tally) {
    let read = match Profile::read(bytes) {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            tally.refused += 1;
            return;
        }
    };
    tally.read += 1;
    assert!(!read.damage.is_empty(), "{what}: nothing was said");
    let is_missing =
        |of: &dyn Fn(&MissingPart) -> bool| read.damage.iter().any(|damage| of(damage.missing()));
    let no_names = is_missing(&|m| *m == MissingPart::Names);
    tally.nameless += usize::from(no_names);
    assert!(read.meta == original.meta || no_names || is_missing(&|m| *m == MissingPart::Meta), "{what}");
    assert!(read.notes == original.notes || no_names || is_missing(&|m| *m == MissingPart::Notes), "{what}");
    assert!(read.methods == original.methods || no_names, "{what}");
    for tree in &read.threads {
        if original.threads.contains(tree) {
            tally.whole_trees += 1;
            continue;
        }
        let is_part = is_missing(&|missing| match missing {
            MissingPart::RestOfTree { thread, contexts }
            | MissingPart::RestOfOneTree { thread, contexts } => {
                **thread == *tree.name && *contexts == tree.tree.contexts()
            }
            _ => false,
        });
        assert!(is_part, "{what}: {tree:?}, {:?}", read.damage);
        assert!(original.threads.iter().any(|whole| begins_with(whole, tree)), "{what}: {tree:?}");
    }
    if read.threads.len() < original.threads.len() {
        let are_missing = is_missing(&|m| !matches!(m, MissingPart::Meta | MissingPart::Notes));
        assert!(are_missing, "{what}: {} trees, {:?}", read.threads.len(), read.damage);
    }
}

#[test]
fn cut_off_at_each_byte() {
    let original = original();
    let good = original.to_bytes().expect("canonical");
    let mut tally = Tally::default();
    for length in 0..good.len() {
        judge(&original, &good[..length], &format!("{length} bytes"), &mut tally);
    }
    // Twelve lengths at which the file's head is not whole.
    assert_eq!((tally.refused, tally.read), (12, good.len() - 12));
}

#[test]
fn each_bit_flipped() {
    let original = original();
    let good = original.to_bytes().expect("canonical");
    let mut tally = Tally::default();
    for bit in 0..8 * good.len() {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        judge(&original, &bytes, &format!("bit {bit}"), &mut tally);
    }
    eprintln!("{} bytes: {tally:?}", good.len());
    // Without its head, or the names, nothing of a file can be read.
    let place = |tag: &[u8; 4]| good.windows(4).position(|four| four == tag).expect("there");
    let refused = 8 * (12 + place(b"THRD") - place(b"STRS"));
    assert_eq!(
        (tally.refused + tally.nameless, tally.refused + tally.read),
        (refused, 8 * good.len()),
        "{tally:?}"
    );
    // At most one tree is lost, partly or completely.
    assert!(tally.whole_trees >= 2 * (tally.read - tally.nameless), "{tally:?}");
}

/// Runs of bytes that are lost or doubled, as in a transfer resumed at the wrong place.
#[test]
fn each_run_of_bytes_lost_or_doubled() {
    let original = original();
    let good = original.to_bytes().expect("canonical");
    let mut tally = Tally::default();
    for at in 0..good.len() {
        for length in [1, 4, 13, 64] {
            let end = (at + length).min(good.len());
            if end < good.len() {
                judge(
                    &original,
                    &[&good[..at], &good[end..]].concat(),
                    &format!("{at} without {length}"),
                    &mut tally,
                );
            }
            let doubled = [&good[..end], &good[at..]].concat();
            match Profile::read(&doubled) {
                // Whole sections may occur twice where the order permits it; then the tree is there
                // twice.
                Ok(read) if read.damage.is_empty() => {
                    assert!(
                        read.threads.iter().all(|tree| original.threads.contains(tree)),
                        "{at} {length} twice"
                    );
                }
                _ => judge(&original, &doubled, &format!("{at} {length} twice"), &mut tally),
            }
        }
    }
    assert!(tally.read > 1000 && tally.refused > 100, "{tally:?}");
}

/// The file was read as the first profile alone, without mention of the second.
#[test]
fn two_profiles_in_one_file_are_refused() {
    let good = original().to_bytes().expect("canonical");
    for more in [&good[..], b"\n", b"more than a section's head"] {
        let error = Profile::read(&[&good, more].concat()).expect_err("bytes follow the end");
        assert!(error.to_string().contains("bytes follow the end"), "{error}");
    }
}

/// Many apparent section starts in damaged bytes do not make the reader read the rest of the file
/// each time.
#[test]
fn false_beginnings_take_no_time() {
    let mut bytes = original().to_bytes().expect("canonical");
    bytes.truncate(40);
    for tag in [b"STRS", b"THRD", b"NOTE"] {
        for _ in 0..100_000 {
            bytes.extend(tag);
            bytes.extend([0, 0, 0, 0, 0, 0x7F, 0, 0]);
        }
    }
    let started = std::time::Instant::now();
    let _ = Profile::read(&bytes);
    let truncated = [&original().to_bytes().expect("canonical")[..200], &bytes[40..]].concat();
    let _ = Profile::read(&truncated);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

/// Damage of a profile that a JVM wrote: 500 lengths and 1,500 bits, spread over it.
#[test]
fn of_a_jvm() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../export/tests/data/sample.cct");
    let good = std::fs::read(path).expect("stored");
    let original = Profile::read(&good).expect("sound");
    assert!(original.threads.len() > 1 && original.damage.is_empty());
    let mut tally = Tally::default();
    for i in 0..500 {
        let length = 12 + (good.len() - 12) * i / 500;
        judge(&original, &good[..length], &format!("{length} bytes"), &mut tally);
    }
    assert_eq!(tally.refused, 0);
    for i in 0..1500u64 {
        // Fibonacci hashing spreads them.
        let bit = (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % (8 * good.len());
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        judge(&original, &bytes, &format!("bit {bit}"), &mut tally);
    }
    eprintln!("{} bytes: {tally:?}", good.len());
    // Three fifths of the file are names.
    assert!(tally.read - tally.nameless > 800 && tally.whole_trees > 800, "{tally:?}");
}
