//! The numbers in SECURITY.md are those of the sources.

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

/// The cells of the lines of a table that begin with a name in backquotes.
fn rows(page: &str) -> BTreeMap<String, Vec<String>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let rows = rows.filter_map(|line| line.split_once("` | "));
    rows.map(|(name, cells)| (name.to_owned(), cells.split(" | ").map(str::to_owned).collect())).collect()
}

/// Blocks, and what else is called unsafe: functions, their types, implementations.
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

#[test]
fn unsafe_code_is_where_the_page_says() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut sources, mut counts) = (0, BTreeMap::<String, [usize; 2]>::new());
    for (path, contents) in
        ["crates", "xtask", "jdk-wrap"].iter().flat_map(|below| files(&root().join(below)))
    {
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        sources += 1;
        let name = path.strip_prefix(root()).unwrap().to_path_buf();
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let package =
            if parts[0] == "crates" { format!("crates/{}", parts[1]) } else { parts[0].to_string() };
        let sum = counts.entry(package).or_default();
        let here = count(&String::from_utf8(contents.unwrap()).unwrap());
        *sum = [sum[0] + here[0], sum[1] + here[1]];
    }
    assert!(sources > 300, "{sources}");
    // This file has the word in its text.
    for (package, sum) in
        counts.into_iter().filter(|(package, sum)| *sum != [0, 0] && package != "crates/cctrewrite")
    {
        found.insert(package, sum.map(|n| n.to_string()).to_vec());
    }
    let said: BTreeMap<_, _> = rows(&page()).into_iter().filter(|(name, _)| name.contains('/')).collect();
    assert_eq!(said, found, "left: SECURITY.md, right: the sources");
}

#[test]
fn there_are_as_many_dependencies_as_the_page_says() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let foreign = packages.iter().filter(|package| package.contains("\nsource = ")).count();
    // From one place, and each with its checksum.
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
            // `name = "1.2"`: of one package alone.
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

/// What `cargo deny check bans` would say, where it is not installed: a package in two versions is known, and there is none that is not there.
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
