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

Values, defaults, and what goes together. `cctrewrite run --help` says what each option does,
[command.md](command.md#options-that-decide-what-is-counted) has the pages on them.
`BLESS=1 cargo test -p cct-settings` writes this page from the rows in `crates/settings`.

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
}
