//! `--blocks` with a table: the user chooses where blocks end (JP 4).

use crate::counts;
use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Jdk, Library, fixture};

/// Fixtures that throw exceptions, so that rules differ.
const THROWING: [&str; 2] = ["exceptions", "recursion"];

fn check(blocks: Blocks, golden: impl Fn(&str) -> GoldenTree, fixtures: &[&str]) {
    let Some(jdk) = Jdk::find() else { return };
    for name in fixtures {
        let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let run = Library::whole(jdk, blocks).java(name).succeed(&main, &[]);
        golden(name).assert_equal(&run, &format!("{name}, {}", blocks.name()));
        let rule = run.profile().meta["blocks"].clone();
        assert!(rule.starts_with(&format!("{}@", blocks.name())), "{rule}");
    }
}

#[test]
fn a_table_that_is_the_default_rule() {
    check(Blocks::LikeDefault, |name| counts::golden(name, Blocks::Default), &THROWING);
}

#[test]
fn a_table_that_is_the_precise_rule() {
    check(Blocks::LikePrecise, |name| counts::golden(name, Blocks::Precise), &THROWING);
}

#[test]
fn a_table_of_its_own() {
    check(Blocks::Calls, |name| GoldenTree::read(&fixture(name).join("expected.calls.txt")), &["recursion"]);
}
