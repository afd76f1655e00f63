//! Patterns of callees: the class and the method that a call instruction names, and optionally the
//! subtypes of the class.

use cct_classfile::{ClassFile, MemberName};

use crate::patterns::NamePattern;
use crate::world::World;

/// A pattern of callees.
#[derive(Debug, Clone)]
pub(crate) struct CalleePattern {
    /// The class and the method.
    whole: NamePattern,
    /// The method alone, if subtypes of the class match, too.
    method: Option<NamePattern>,
}

impl CalleePattern {
    /// Compiles a glob over the class and the method that an instruction names.
    pub(crate) fn exactly(glob: &str) -> Result<Self, String> {
        Ok(CalleePattern { whole: NamePattern::new(glob)?, method: None })
    }

    /// Compiles a glob whose classes stand for their subtypes, too.
    pub(crate) fn with_subtypes(glob: &str) -> Result<Self, String> {
        let whole = NamePattern::new(glob)?;
        let method = method_of(glob).ok_or("with callee-subtypes it must be TYPES.METHODS")?;
        Ok(CalleePattern { whole, method: Some(NamePattern::new(method)?) })
    }

    /// Whether only calls with a receiver, other than `super.m()`, can match.
    pub(crate) fn needs_receiver(&self) -> bool {
        self.method.is_some()
    }

    /// Whether an instruction in `class` calls a method of the pattern. With subtypes, a class of
    /// which not all supertypes are known matches by the method's name: its objects may fit.
    pub(crate) fn matches(&self, class: &ClassFile<'_>, callee: MemberName<'_>, world: &World) -> bool {
        let is_wanted = |owner: &[u8]| self.whole.matches(&[owner, b"/", callee.name].concat());
        match &self.method {
            None => is_wanted(callee.class),
            Some(method) => {
                method.matches(callee.name)
                    && world.is_one_above(class, callee.class, is_wanted).unwrap_or(true)
            }
        }
    }
}

/// The part of a glob that matches the method's name: from the last separator outside braces.
fn method_of(glob: &str) -> Option<&str> {
    let (mut depth, mut last) = (0u32, None);
    for (at, c) in glob.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '.' | '/' if depth == 0 => last = Some(at),
            _ => {}
        }
    }
    let method = glob.get(last? + 1..)?;
    (!method.is_empty() && !method.contains(['.', '/'])).then_some(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_ends_with_the_method() {
        for (glob, method) in [
            ("a.B.m", Some("m")),
            ("java.{lang.Iterable,util.List}.{iterator,listIterator}", Some("{iterator,listIterator}")),
            ("a/B/*", Some("*")),
            ("m", None),
            ("a.", None),
            ("a.{B.m,C.n}", None),
            ("", None),
        ] {
            assert_eq!(method_of(glob), method, "{glob}");
        }
        assert!(CalleePattern::with_subtypes("a.{B.m,C.n}").unwrap_err().contains("TYPES.METHODS"));
        assert!(CalleePattern::exactly("a.{B.m,C.n}").is_ok());
    }

    /// Classes `a/Sub` and `a/Other` are known with all supertypes, `b/Half` without its own.
    #[test]
    fn subtypes_match_and_unknown_types_match_by_name() {
        let mut world = World::default();
        let object = b"java/lang/Object".as_slice();
        world.insert(object, std::iter::empty());
        world.insert(b"a/Top", [object].into_iter());
        world.insert(b"a/Sub", [object, b"a/Top"].into_iter());
        world.insert(b"a/Other", [object].into_iter());
        world.insert(b"b/Half", [b"b/Unknown".as_slice()].into_iter());
        let bytes = std::fs::read(
            std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../fixtures/markers/classes/Leaves.class"),
        )
        .unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let with = CalleePattern::with_subtypes("a.Top.add*").unwrap();
        let without = CalleePattern::exactly("a.Top.add*").unwrap();
        for (owner, name, of_with, of_without) in [
            ("a/Top", "add", true, true),
            ("a/Top", "remove", false, false),
            ("a/Sub", "addAll", true, false),
            ("a/Other", "add", false, false),
            ("b/Half", "add", true, false),
            ("b/Half", "remove", false, false),
            ("c/Nowhere", "add", true, false),
            ("[La/Top;", "add", false, false),
            // The class itself, which extends Object.
            ("Leaves", "add", false, false),
        ] {
            let callee = MemberName { class: owner.as_bytes(), name: name.as_bytes() };
            assert_eq!(with.matches(&class, callee, &world), of_with, "{owner}.{name}");
            assert_eq!(without.matches(&class, callee, &world), of_without, "{owner}.{name}");
        }
    }
}
