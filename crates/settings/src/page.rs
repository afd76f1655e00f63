//! The reference of options, docs/reference/options.md, generated from the rows.

use std::fmt::Write;

use crate::access::Access;
use crate::choices::ToolName;
use crate::options::OPTIONS;
use crate::record::Record;
use crate::recording::{Kind, RECORDING};
use crate::word::{NamedValues, Word};

const HEAD: &str = "\
# Options of rewriting and recording

`BLESS=1 cargo test -p cct-settings` writes this page from the rows in `crates/settings`.
[command.md](command.md) explains the commands that take these options.

";

/// The text of the page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str(
        "## How classes are rewritten\n\
         For `instrument`, `jdk`, `run` and `explain`; *b*: for `bench`, too. *Recorded as* is the key in the\n\
         provenance of outputs ([formats/index.md](formats/index.md)): outputs that run together must agree\n\
         in it.\n\n\
         | option | values | default | recorded as | not with |\n|---|---|---|---|---|\n",
    );
    for row in OPTIONS {
        let values = match row.access {
            Access::Switch { .. } => String::new(),
            Access::OneOf { words, .. } => names(words),
            Access::Table { value, .. } | Access::List { value, .. } => code(value),
        };
        let default = row.default().map(code).unwrap_or_default();
        let key = match row.record {
            Record::Word(key) => code(key),
            Record::With { keys, .. } => keys.iter().map(|key| code(key)).collect::<Vec<_>>().join(" "),
            Record::No => String::new(),
        };
        let refused = tools(row.refused.iter().map(|refusal| refusal.tool));
        let bench = if row.in_bench { " *b*" } else { "" };
        let _ = writeln!(page, "| `--{}`{bench} | {values} | {default} | {key} | {refused} |", row.flag);
    }
    page.push_str("\n### What they mean\n");
    for row in OPTIONS {
        let words = match row.access {
            Access::OneOf { words, .. } => words,
            _ => &[],
        };
        explain(&mut page, row.flag, row.help, words);
    }
    page.push_str(
        "\n## What is recorded\n\
         For `run`; classes are rewritten the same. *Property* is what the runtime in a JVM gets, as\n\
         `-Dcctrewrite.PROPERTY` where `cctrewrite run` is not used.\n\n\
         | option | values | default | property | for |\n|---|---|---|---|---|\n",
    );
    for row in RECORDING {
        let (values, default) = match &row.kind {
            Kind::Switch(on) => (format!("(`{on}`)"), String::new()),
            Kind::OneOf(words) => {
                (names(words), words.first().map(|word| code(word.name)).unwrap_or_default())
            }
            Kind::Number { value, .. } => (code(value), String::new()),
            Kind::Method | Kind::Methods => (code("METHOD"), String::new()),
            Kind::Classes => (code("CLASS"), String::new()),
            Kind::Path => (code("FILE"), String::new()),
            Kind::Paths => (code("PATH"), String::new()),
            Kind::Text { value, default, .. } => (code(value), default.map(code).unwrap_or_default()),
        };
        let for_tools = tools(row.tools.iter().copied());
        let (flag, property) = (row.flag, row.property);
        let _ = writeln!(page, "| `--{flag}` | {values} | {default} | `{property}` | {for_tools} |");
    }
    page.push_str("\n### What they record\n");
    for row in RECORDING {
        let words = match row.kind {
            Kind::OneOf(words) => words,
            _ => &[],
        };
        explain(&mut page, row.flag, row.help, words);
    }
    page
}

fn code(text: &str) -> String {
    // A bar would end the cell.
    format!("`{}`", text.replace('|', r"\|"))
}

fn names(words: &[Word]) -> String {
    words.iter().map(|word| code(word.name)).collect::<Vec<_>>().join(" ")
}

fn tools(tools: impl Iterator<Item = ToolName>) -> String {
    tools.map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
}

/// A paragraph for an option, and a line for each of its words.
fn explain(page: &mut String, flag: &str, help: &str, words: &[Word]) {
    let _ = writeln!(page, "\n**`--{flag}`**");
    wrap(page, "", &format!("{help}."));
    for word in words {
        wrap(page, "  ", &format!("* `{}`: {}.", word.name, word.help));
    }
}

/// Maximum number of columns of a line of prose.
const WIDTH: usize = 100;

/// Writes text in lines of at most [`WIDTH`] columns; lines after the first are indented.
fn wrap(page: &mut String, indent: &str, text: &str) {
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(page, "{line}");
            line = format!("{indent}{word}");
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    let _ = writeln!(page, "{line}");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_reference_is_that_of_the_rows() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/options.md");
        let page = page();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == page, "BLESS=1 cargo test -p cct-settings rewrites docs/reference/options.md");
    }

    #[test]
    fn lines_of_prose_have_at_most_their_width() {
        let page = page();
        let prose = page.lines().filter(|line| !line.starts_with('|'));
        for line in prose {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
