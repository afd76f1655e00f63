//! The numbers in SECURITY.md match the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::support::files;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("SECURITY.md")).unwrap()
}

/// Numbers of blocks, and of other unsafe items: functions, their types, implementations.
fn count(text: &str) -> [usize; 2] {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.fold([0, 0], |[blocks, others], line| {
        let here = line.matches("unsafe {").count();
        // `unsafe_code` is another word.
        let all =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == "unsafe").count();
        [blocks + here, others + all - here]
    })
}

/// The sources in which unsafe code is counted: all but the tests of the command, which contain the
/// word in texts.
fn sources() -> Vec<(PathBuf, String)> {
    let all = ["crates", "xtask", "jdk-wrap", "examples"].iter().flat_map(|below| files(&root().join(below)));
    let sources = all.map(|(path, contents)| (path.strip_prefix(root()).unwrap().to_path_buf(), contents));
    sources
        .filter(|(path, _)| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|(path, _)| !path.starts_with("crates/cctrewrite/tests"))
        .map(|(path, contents)| (path, String::from_utf8(contents.unwrap()).unwrap()))
        .collect()
}

/// The table of unsafe code, in the form of SECURITY.md: a line for each file.
fn unsafe_table() -> String {
    let mut rows = BTreeMap::new();
    for (name, text) in sources() {
        let counts = count(&text);
        if counts != [0, 0] {
            rows.insert(name.display().to_string(), counts);
        }
    }
    let sum = rows.values().fold([0, 0], |sum, [blocks, others]| [sum[0] + blocks, sum[1] + others]);
    let mut table = UNSAFE_HEAD.to_owned();
    for (name, [blocks, others]) in rows {
        table += &format!("| `{name}` | {blocks} | {others} |\n");
    }
    table + &format!("| all | {} | {} |\n", sum[0], sum[1])
}

const UNSAFE_HEAD: &str =
    "| file | blocks | other uses of the word: functions, their types, implementations |\n|---|---:|---:|\n";

/// `BLESS=1` renews the table.
#[test]
fn unsafe_code_is_where_the_page_says() {
    assert!(sources().len() > 300, "{}", sources().len());
    let (page, table) = (page(), unsafe_table());
    let (before, rest) = page.split_once(UNSAFE_HEAD).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let expected = format!("{before}{table}\n{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(root().join("SECURITY.md"), &expected).unwrap();
        return;
    }
    assert!(page == expected, "BLESS=1 cargo test writes the table of SECURITY.md anew:\n{table}");
}

/// Clippy checks it, too, where it is installed.
#[test]
fn each_unsafe_block_says_why_it_is_sound() {
    /// Maximum number of lines between the comment and the block: the statement's own.
    const NEAR: usize = 6;
    for (name, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if !line.split("//").next().unwrap_or_default().contains("unsafe {") {
                continue;
            }
            let before = &lines[at.saturating_sub(NEAR)..at];
            assert!(
                before.iter().any(|line| line.contains("// SAFETY: ")),
                "{}:{} has no SAFETY comment",
                name.display(),
                at + 1
            );
        }
    }
}

#[test]
fn there_are_as_many_dependencies_as_the_page_says() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let foreign = packages.iter().filter(|package| package.contains("\nsource = ")).count();
    // From one registry, and each with its checksum.
    let registry = "\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    assert!(
        packages
            .iter()
            .all(|p| !p.contains("\nsource = ") || p.contains(registry) && p.contains("\nchecksum = "))
    );
    let mut named = BTreeSet::new();
    for (path, contents) in
        ["crates", "xtask", "jdk-wrap"].iter().flat_map(|below| files(&root().join(below)))
    {
        if path.file_name().is_some_and(|name| name == "Cargo.toml") {
            let text = String::from_utf8(contents.unwrap()).unwrap();
            // `name = "1.2"`: for one package alone.
            let versions = text.lines().filter_map(|line| line.split_once(" = \""));
            let versions = versions.filter(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()));
            named.extend(versions.map(|(name, _)| name.to_owned()));
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, list) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let list = list.split("\n[").next().unwrap().lines().filter(|line| !line.contains("path = "));
    named.extend(
        list.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).filter(|n| !n.starts_with('#')),
    );
    let expected = format!("{} packages of others, {} of them named by ours", foreign, named.len());
    assert!(page().contains(&expected), "SECURITY.md should say: {expected}");
}

/// The findings of `cargo deny check bans`, for machines without it: each package in two versions
/// is listed, and each listed one exists.
#[test]
fn packages_in_two_versions_are_known() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]\n").skip(1) {
        let value =
            |key: &str| package.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim_matches('"');
        versions.entry(value("name = ")).or_default().push(value("version = "));
    }
    versions.retain(|_, versions| versions.len() > 1);
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let known: Vec<(&str, &str)> = deny
        .lines()
        .filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.strip_suffix("\" },")?.split_once('@'))
        .collect();
    for (name, versions) in &versions {
        let is_known = |version: &&&str| {
            let of = |(package, start): &&(&str, &str)| {
                package == name && version.starts_with(&format!("{start}."))
            };
            known.iter().any(|known| of(&known))
        };
        let known = versions.iter().filter(is_known).count();
        assert_eq!(known, versions.len() - 1, "{name} {versions:?}: all but one are to stand in deny.toml");
    }
    for (name, _) in known {
        assert!(versions.contains_key(name), "deny.toml: {name} is there in one version only");
    }
}
