//! callgrind_annotate.

use std::collections::BTreeMap;
use std::process::Command;

use cct_export::callgrind;

use crate::expected::Counts;
use crate::programs::{cases_of_methods, output, place};

#[test]
fn callgrind_annotate_finds_all_numbers() {
    let Some(annotate) = place("callgrind_annotate", "callgrind_annotate") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (case, expected) in cases_of_methods() {
        let file = case.write(folder.path(), "callgrind.out", callgrind::write);
        for inclusive in [false, true] {
            let mut command = Command::new("perl");
            command.arg(&annotate).args(["--threshold=100", "--auto=no", "--show-percs=no"]);
            command.arg(format!("--inclusive={}", if inclusive { "yes" } else { "no" })).arg(&file);
            let annotated = AnnotateOutput::of(&output(&mut command));
            assert_eq!(annotated.total, expected.total, "{}", case.name);
            for (method, counts) in &expected.methods {
                let counts = if inclusive { counts.1 } else { counts.0 };
                let found = annotated.functions.get(method).copied().unwrap_or_default();
                assert_eq!(found, counts, "{} of {}, inclusive: {inclusive}", method, case.name);
            }
            // All other names are threads, or all of them: own count 0, inclusive count everything
            // they called.
            let mut others = Counts::default();
            for (name, &counts) in
                annotated.functions.iter().filter(|(name, _)| !expected.methods.contains_key(*name))
            {
                assert!(name.starts_with(['[', '(']), "{name}");
                others.add(counts);
            }
            assert_eq!(others, if inclusive { expected.total } else { Counts::default() }, "{}", case.name);
        }
    }
}

/// The output of callgrind_annotate.
struct AnnotateOutput {
    total: Counts,
    functions: BTreeMap<String, Counts>,
}

impl AnnotateOutput {
    /// Parses lines like ` 1,234 56 a/Main.class:a.Main.main()V`.
    fn of(text: &str) -> AnnotateOutput {
        assert!(text.contains("\nEvents recorded:  Bytecodes Calls\n"), "{text}");
        let (mut total, mut functions) = (None, BTreeMap::new());
        for line in text.lines() {
            let Some((counts, name)) = counts(line) else { continue };
            if name == "PROGRAM TOTALS" {
                total = Some(counts);
            } else if let Some((_, function)) = name.split_once(".class:").or(name.split_once("???:")) {
                assert_eq!(functions.insert(function.to_owned(), counts), None, "{function} twice");
            }
        }
        AnnotateOutput { total: total.unwrap(), functions }
    }
}

fn counts(line: &str) -> Option<(Counts, &str)> {
    let (bytecodes, rest) = number(line)?;
    let (calls, rest) = number(rest)?;
    Some((Counts { calls, bytecodes }, rest.trim()))
}

/// The leading number, `.` being none, and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.trim_start().split_once(' ')?;
    if number == "." { Some((0, rest)) } else { Some((number.replace(',', "").parse().ok()?, rest)) }
}
