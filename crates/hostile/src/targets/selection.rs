//! Target for users' selections: globs, patterns, names of methods.

use cct_classfile::MemberRef;
use cct_profile::names::{Frame, NameStyle};
use cct_profile::{Method, Pattern};
use cct_rewrite::filter::{Filter, separated};
use cct_rewrite::marks::MethodName;

/// Names that patterns are matched with.
const NAMES: &[(&str, &str, &str)] = &[
    ("java/lang/String", "charAt", "(I)C"),
    ("a/b/C$D", "<init>", "([Ljava/lang/Object;J)V"),
    ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "f", "()V"),
    ("", "", ""),
];

/// Maximum number of lines. They are independent, and compiling a matcher takes longer than
/// everything else.
const LINES: usize = 5;

/// Parses each line as everything that it could be.
pub fn selection(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(LINES) {
        let globs = separated(line);
        assert!(globs.iter().all(|glob| !glob.is_empty()));
        if let Ok(filter) = Filter::new(&globs, &globs[globs.len() / 2..]) {
            let recorded = NAMES.iter().filter(|(class, ..)| filter.records(class.as_bytes())).count();
            assert!(recorded <= NAMES.len());
        }
        let (pattern, thread) = (Pattern::new(line), Pattern::of_thread(line));
        assert_eq!(pattern.given(), line);
        for &(class, name, descriptor) in NAMES {
            let method = Method {
                class: class.into(),
                name: name.into(),
                descriptor: descriptor.into(),
                site: None,
                mid: 0,
                flags: 0,
            };
            let frame: Vec<u8> = Frame::method(&method, NameStyle::Raw).bytes().collect();
            pattern.matches(&frame);
            thread.matches_thread(class);
        }
        if let Some(method) = MethodName::parse(line) {
            assert_eq!(method.text(), line);
            method.is(MemberRef::new(b"java/lang/String", b"charAt", b"(I)C"));
        }
    }
}
