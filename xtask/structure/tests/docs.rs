//! The user's documentation: its words, its lines, its links, and the paths of its pages in the
//! sources; the words of messages; the length of comments.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use structure::pages::{links, plain};

/// Maximum length of a line of prose. Tables, code and lines of a single word (a link) may be
/// longer.
const COLUMNS: usize = 100;

/// Phrases of the repository's earlier dialect, each with the words to write instead. Letters are
/// compared without case.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("as far as they go round", "round-robin"),
    ("beside the others", "with the others"),
    ("clients hear", "clients are called"),
    ("come along", "built-in"),
    ("comes along", "built-in"),
    ("does not go together with", "cannot be combined with"),
    ("hear that a thread", "are called"),
    ("hears that a thread", "is called"),
    ("held against", "compared with"),
    ("hold against", "compare with"),
    ("holds against", "compares with"),
    ("in place of", "instead of"),
    ("in unmatched", "unmatched, unused"),
    ("in the place of", "instead of"),
    ("is not wanted", "is excluded"),
    ("is told apart", "is kept separate"),
    ("made anew", "made again"),
    ("nobody hears", "no client is called"),
    ("not to be had", "missing"),
    ("of one's own", "your own"),
    ("of ours", "inserted, added by the rewriter"),
    ("one's own", "your own"),
    ("per cent", "%"),
    ("tell apart", "distinguish, keep separate"),
    ("tells apart", "distinguishes, keeps separate"),
    ("thousand million", "billion"),
    ("times the time of", "overhead (1.7x)"),
    ("told apart", "kept separate"),
    ("what came of it", "summary, report"),
    ("whichever way it is left", "on every exit path"),
    ("whoever calls", "the caller"),
];

/// Texts with such phrases that earlier versions wrote into profiles, and that must be recognised.
const EARLIER: &[&str] = &["call sites are told apart, and in other profiles not"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// A file of the repository, by its path from the root.
struct Page {
    name: String,
    text: String,
}

/// All files below the root whose names `accept` accepts, sorted. Folders without sources are
/// skipped.
fn pages(accept: impl Fn(&str) -> bool) -> Vec<Page> {
    let root = root();
    let holds_sources = |entry: &walkdir::DirEntry| {
        let name = entry.file_name();
        !["target", ".git", "node_modules", "corpus", "artifacts"]
            .iter()
            .any(|other| name == OsStr::new(other))
    };
    let entries = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().filter_entry(holds_sources);
    let files = entries.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let page = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(&root).unwrap().to_str()?.to_owned();
        let text = accept(&name).then(|| fs::read_to_string(entry.path()).ok())??;
        Some(Page { name, text })
    };
    files.filter_map(page).collect()
}

/// The documentation for users: README.md and docs/.
fn documentation() -> Vec<Page> {
    pages(|name| name == "README.md" || name.starts_with("docs/") && name.ends_with(".md"))
}

/// The `--help` of every command, from the command's own snapshots.
fn help_texts() -> Vec<Page> {
    pages(|name| name.starts_with("crates/cctrewrite/tests/cli/snapshots/help") && name.ends_with(".txt"))
}

/// The kind of a line of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prose,
    Table,
    Code,
    /// Written by a task, between two comments.
    Generated,
}

/// The lines of a page with their kinds, numbered from 1.
fn lines(text: &str) -> Vec<(usize, &str, Kind)> {
    let (mut fenced, mut generated) = (false, false);
    let kind = |line: &str| {
        if line.starts_with("<!-- begin ") {
            generated = true;
        }
        let is_generated = generated;
        if line.starts_with("<!-- end ") {
            generated = false;
        }
        if line.starts_with("```") {
            fenced = !fenced;
            return Kind::Code;
        }
        match () {
            () if is_generated => Kind::Generated,
            () if fenced || line.starts_with("    ") => Kind::Code,
            () if line.starts_with('|') => Kind::Table,
            () => Kind::Prose,
        }
    };
    let mut kind = kind;
    text.lines().enumerate().map(|(index, line)| (index + 1, line, kind(line))).collect()
}

/// A line without the text in backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Whether a line contains a phrase, as whole words.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    let bytes = line.as_bytes();
    line.match_indices(phrase).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !is_letter(before) && !is_letter(bytes.get(at + phrase.len()))
    })
}

/// Each banned phrase of a text as `file:line`, with the better words. Also finds phrases across
/// two lines.
fn banned(page: &Page, is_read: impl Fn(Kind) -> bool) -> Vec<String> {
    let lines: Vec<_> = lines(&page.text)
        .into_iter()
        .map(|(number, line, kind)| {
            if is_read(kind) {
                (number, without_code(line).trim().to_lowercase())
            } else {
                (number, String::new())
            }
        })
        .collect();
    let mut found = Vec::new();
    for (index, (number, line)) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map_or("", |(_, next)| next);
        let both = format!("{line} {next}");
        for (phrase, better) in PHRASES {
            let is_here = has_phrase(line, phrase);
            let is_across = has_phrase(&both, phrase) && !has_phrase(next, phrase);
            if is_here || is_across {
                found.push(format!("{}:{number}: \"{phrase}\": write \"{better}\"", page.name));
            }
        }
    }
    found
}

#[test]
fn pages_are_in_plain_english() {
    let pages = documentation();
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    let found: Vec<_> = pages
        .iter()
        .flat_map(|page| banned(page, |kind| matches!(kind, Kind::Prose | Kind::Table)))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn help_is_in_plain_english() {
    let pages = help_texts();
    assert!(pages.len() > 15, "only {} help texts were found", pages.len());
    let found: Vec<_> = pages.iter().flat_map(|page| banned(page, |_| true)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The string literals of Rust tokens, each with its line. Doc comments and unit tests are skipped.
fn literals(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut before = String::new();
    for token in tokens {
        before = match token {
            TokenTree::Group(group) => {
                let first = group.stream().into_iter().next();
                let is_attribute = matches!(&*before, "#" | "!");
                let is_doc = is_attribute && matches!(first, Some(TokenTree::Ident(first)) if first == "doc");
                if !is_doc && before != "tests" {
                    literals(group.stream(), found);
                }
                String::new()
            }
            TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                let text = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into());
                found.extend(text.ok().map(|text| (line, text.value())));
                String::new()
            }
            TokenTree::Ident(name) => name.to_string(),
            TokenTree::Punct(sign) => sign.to_string(),
        };
    }
}

/// Each banned phrase in a text of a source file, as `file:line`, and the number of texts.
fn banned_in_texts(page: &Page) -> (usize, Vec<String>) {
    let mut texts = Vec::new();
    literals(page.text.parse().unwrap(), &mut texts);
    let mut found = Vec::new();
    for (line, text) in &texts {
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = without_code(&words.join(" ")).to_lowercase();
        if EARLIER.contains(&&*text) {
            continue;
        }
        for (phrase, better) in PHRASES.iter().filter(|(phrase, _)| has_phrase(&text, phrase)) {
            found.push(format!("{}:{line}: \"{phrase}\": write \"{better}\"", page.name));
        }
    }
    (texts.len(), found)
}

#[test]
fn messages_are_in_plain_english() {
    let sources = pages(|name| {
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
        name.ends_with(".rs") && name.contains("/src/") && !is_test
    });
    let (mut seen, mut found) = (0, Vec::new());
    for page in &sources {
        let (texts, of_page) = banned_in_texts(page);
        seen += texts;
        found.extend(of_page);
    }
    assert!(seen > 3000, "only {seen} texts were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn phrases_are_found_in_texts_across_lines_and_not_in_comments() {
    let text = "/// Told apart.\nfn a() -> &'static str {\n    \"they are \\\n     told apart\"\n}\n\
                #[cfg(test)]\nmod tests {\n    const B: &str = \"told apart\";\n}\n";
    let page = Page { name: "a.rs".into(), text: text.into() };
    let found = ["a.rs:3: \"told apart\": write \"kept separate\"".to_owned()];
    assert_eq!(banned_in_texts(&page), (1, found.into()));
}

#[test]
fn phrases_are_found_as_words_and_across_lines() {
    let page = |text: &str| Page { name: "page.md".into(), text: text.into() };
    let found = |text: &str| banned(&page(text), |kind| kind == Kind::Prose);
    assert_eq!(found("A table that\ncomes\nalong.\n"), ["page.md:2: \"comes along\": write \"built-in\""]);
    assert_eq!(found("Two thousand million calls"), ["page.md:1: \"thousand million\": write \"billion\""]);
    assert!(found("it says `told apart`, of hours, honour\n\n    told apart\n").is_empty());
}

#[test]
fn lines_of_prose_are_short() {
    let is_long = |&(_, line, kind): &(usize, &str, Kind)| {
        kind == Kind::Prose
            && line.chars().count() > COLUMNS
            && line.trim_start_matches(['-', '*', '#', ' ']).contains(' ')
            && !line.starts_with("![")
    };
    let mut found = Vec::new();
    for page in documentation() {
        for (number, ..) in lines(&page.text).into_iter().filter(is_long) {
            found.push(format!("{}:{number}: more than {COLUMNS} columns", page.name));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The text of a line that is a comment, in Rust or Java; `None` for other lines.
fn comment<'a>(file: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    let markers: &[&str] = match Path::new(file).extension()?.to_str()? {
        "rs" => &["///", "//!", "//"],
        "java" => &["//", "/**", "/*", "*"],
        _ => &[],
    };
    markers.iter().find_map(|marker| line.strip_prefix(marker))
}

/// Whether a line is a comment of prose with more than [`COLUMNS`] columns.
fn is_long_comment(file: &str, line: &str) -> bool {
    let Some(comment) = comment(file, line) else { return false };
    let text = comment.trim();
    let is_prose = text.contains(' ') && !comment.starts_with("     ");
    // A list of commands has its words in columns.
    let is_list = text.contains("  ");
    is_prose && !is_list && !text.starts_with('|') && line.chars().count() > COLUMNS
}

#[test]
fn comments_are_short() {
    let mut found = Vec::new();
    let (mut rust, mut java) = (0, 0);
    for page in pages(|name| name.ends_with(".rs") || name.ends_with(".java")) {
        if page.name.ends_with(".rs") {
            rust += 1
        } else {
            java += 1
        }
        let is_long = |&(_, line): &(usize, &str)| is_long_comment(&page.name, line);
        for (index, line) in page.text.lines().enumerate().filter(is_long) {
            found.push(format!("{}:{}: more than {COLUMNS} columns: {line}", page.name, index + 1));
        }
    }
    assert!(rust > 500 && java > 400, "only {rust} Rust and {java} Java sources were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn long_comments_are_found_in_both_languages() {
    let words = "word ".repeat(20);
    for (file, start) in [("a.rs", "/// "), ("a.rs", "    //! "), ("A.java", " * "), ("A.java", "    /** ")] {
        assert!(is_long_comment(file, &format!("{start}{words}end")), "{file} {start}");
        assert!(!is_long_comment(file, &format!("{start}{}", &words[10..90])), "{file} {start}");
    }
    assert!(!is_long_comment("a.rs", &format!("* {words}end")));
    assert!(!is_long_comment("A.java", &format!("call({words}end)")));
    assert!(!is_long_comment("A.java", &format!("// {}", "w".repeat(200))));
}

/// GitHub's anchor for a heading.
fn anchor(heading: &str) -> String {
    let mut text = String::new();
    // Only the text of a link.
    let mut rest = heading;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((label, after)) = link.split_once("](") else { break };
        text.extend([before, label]);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line, kind) in lines(text) {
        let heading = line.trim_start_matches('#');
        if kind == Kind::Code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name = anchor(heading);
        let taken = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(taken).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

#[test]
fn links_lead_somewhere() {
    let root = root();
    let (mut seen, mut found) = (0, Vec::new());
    for page in pages(|name| name.ends_with(".md")) {
        let folder = Path::new(&page.name).parent().unwrap();
        for (number, line, kind) in lines(&page.text) {
            if kind == Kind::Code {
                continue;
            }
            for target in links(&without_code(line)).filter(|target| !target.contains("://")) {
                seen += 1;
                let (file, name) = target.split_once('#').unwrap_or((target, ""));
                let file =
                    if file.is_empty() { PathBuf::from(&page.name) } else { plain(&folder.join(file)) };
                let is_there = match fs::read_to_string(root.join(&file)) {
                    Ok(text) => name.is_empty() || anchors(&text).contains(name),
                    Err(_) => name.is_empty() && root.join(&file).exists(),
                };
                if !is_there {
                    found.push(format!("{}:{number}: {target} leads nowhere", page.name));
                }
            }
        }
    }
    assert!(seen > 400, "only {seen} links were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn anchors_are_those_of_github() {
    let text =
        "# A page\n## `--reproducible`: what it pins\n## See [here](there.md)\n## A page\n    # code\n";
    let expected = ["a-page", "a-page-1", "--reproducible-what-it-pins", "see-here"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
}

/// The paths below docs/ on a line.
fn named_pages(line: &str) -> impl Iterator<Item = &str> {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    line.match_indices("docs/").filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let end = line[at..].find(|c| !is_of_path(c)).map_or(line.len(), |end| at + end);
        let path = line[at..end].trim_end_matches('.');
        let is_page = [".md", ".svg", ".png", ".json"].iter().any(|end| path.ends_with(end));
        (is_page && before.is_none_or(|c| !is_of_path(c) || c == '/' && line[..at].ends_with("../")))
            .then_some(path)
    })
}

/// Messages, comments and help refer to pages by their paths from the root.
#[test]
fn sources_name_pages_that_are_there() {
    let root = root();
    let ends = [".rs", ".toml", ".java", ".txt", ".md", ".json", "run"];
    let (mut seen, mut found) = (0, Vec::new());
    for page in
        pages(|name| ends.iter().any(|end| name.ends_with(end)) && name != "xtask/structure/tests/docs.rs")
    {
        for (index, line) in page.text.lines().enumerate() {
            for path in named_pages(line) {
                seen += 1;
                if !root.join(path).exists() {
                    found.push(format!("{}:{}: there is no {path}", page.name, index + 1));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} paths were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// docs/README.md lists every page.
#[test]
fn the_list_of_pages_is_complete() {
    let list = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let listed: BTreeSet<&str> = list.lines().flat_map(links).collect();
    let missing: Vec<String> = documentation()
        .into_iter()
        .filter_map(|page| Some(page.name.strip_prefix("docs/")?.to_owned()))
        .filter(|name| name != "README.md" && !listed.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not list {}", missing.join(", "));
}

/// `.ci/run` runs the test command that README.md names.
#[test]
fn readme_names_the_test_command() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let script = read(".ci/run");
    let command = script.lines().find_map(|line| line.strip_prefix("exec ")).unwrap();
    let command = command.trim_end_matches(" </dev/null");
    assert!(read("README.md").contains(&format!("`{command}`")), "README.md does not name `{command}`");
}
