//! Damaged class files are refused with an error or read as something else; nothing panics or runs
//! forever. Files that are accepted in spite of the damage are still written back byte for byte
//! (`walk` checks that).

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use support::walk::walk;

#[test]
fn every_truncation() {
    for (path, bytes) in support::fixtures() {
        for length in 0..bytes.len() {
            assert!(
                !walk(&bytes[..length]).errors.is_empty(),
                "{path} was accepted without its end, at {length}"
            );
        }
    }
}

#[test]
fn bytes_too_many() {
    for (path, mut bytes) in support::fixtures() {
        bytes.push(0);
        assert!(!walk(&bytes).errors.is_empty(), "{path} was accepted with a byte behind its end");
    }
}

#[test]
fn every_byte_changed() {
    for (_, mut bytes) in support::fixtures() {
        for at in 0..bytes.len() {
            let good = bytes[at];
            for bad in [0, 0x7F, 0x80, 0xFF, good.wrapping_add(1), good.wrapping_sub(1), good ^ 0x20] {
                bytes[at] = bad;
                walk(&bytes);
            }
            bytes[at] = good;
        }
    }
}

#[test]
fn random_damage() {
    let fixtures = support::fixtures();
    arbtest::arbtest(|u| {
        let mut bytes = u.choose(&fixtures)?.1.clone();
        for _ in 0..u.int_in_range(1..=8)? {
            let at = u.choose_index(bytes.len())?;
            match u.int_in_range(0..=4)? {
                0 => bytes[at] = u.arbitrary()?,
                1 => bytes[at] ^= 1 << u.int_in_range(0..=7)?,
                // A number that counts or points to something, set to one of its limits.
                2 => {
                    let number = *u.choose(&[[0, 0], [0, 1], [0x7F, 0xFF], [0x80, 0], [0xFF, 0xFF]])?;
                    bytes[at..].iter_mut().zip(number).for_each(|(byte, bad)| *byte = bad);
                }
                // A part is missing, or occurs twice.
                3 => drop(bytes.drain(at..(at + u.int_in_range(1..=16)?).min(bytes.len() - 1).max(at))),
                _ => {
                    let part = bytes[at..(at + u.int_in_range(1..=16)?).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        walk(&bytes);
        Ok(())
    })
    .budget(Duration::from_secs(5));
}
