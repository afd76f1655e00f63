//! References between classes, followed as the JVM resolves them: extended forms that classes call
//! must exist.

use std::collections::HashMap;

use cct_classfile::mutf8::lossy;
use cct_classfile::{MemberRef, access, opcode};
use cct_jdk::convention::OBJECT;

use crate::convention::{HASH_CODE, foreign_id};
use crate::faults::ProbeFault;
use crate::finding::{Finding, Problem};
use crate::hierarchy::{Hierarchy, Node, ResolvedMethod};
use crate::links::{CalleeProbe, CountedCallee, Links, is_extended};
use crate::values;

/// The results of following all references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkResults {
    /// Number of references to extended forms that exist.
    pub found: u64,
    /// Number of references whose owner, or a supertype of it, is not among the classes.
    pub unknown: u64,
    /// References that lead nowhere: the class that has it, and the method that it names.
    pub missing: Vec<(String, String)>,
    /// Number of call sites that correctly count a callee among the classes.
    pub counted: u64,
    /// Number of these whose id is that of a class which the reference does not name.
    pub ids: u64,
    /// Number of call sites that count a callee outside the classes.
    pub uncounted: u64,
    /// Faults of call sites that count their callee, of numbers of methods, and of extended forms:
    /// the class that has the fault, and the fault.
    pub wrong: Vec<(String, Finding)>,
}

/// A question about the methods that a class has or inherits.
pub(crate) enum Question<'l> {
    /// Whether an extended form exists, and the asking class.
    Extended(&'l Links, MemberRef<'l>),
    /// Whether the callee may be counted by its caller, and the asking class.
    Counted(&'l Links, &'l CountedCallee),
}

/// Follows all references, as the JVM resolves them (JVMS 5.4.3.3): in the named class, then in its
/// supertypes.
pub fn follow(classes: &[Links]) -> LinkResults {
    let hierarchy = Hierarchy::of(classes);
    let mut linked = LinkResults::default();
    let mut questions: HashMap<Node, Vec<Question<'_>>> = HashMap::new();
    for class in classes {
        for reference in &class.wanted {
            let reference = reference.member();
            match hierarchy.node(reference.class) {
                Some(node) => questions.entry(node).or_default().push(Question::Extended(class, reference)),
                None => linked.unknown += 1,
            }
        }
        for callee in &class.counted {
            match searched(class, callee).and_then(|owner| hierarchy.node(owner)) {
                Some(node) => questions.entry(node).or_default().push(Question::Counted(class, callee)),
                None if callee.is_question() => {}
                None => linked.uncounted += callee.sites,
            }
        }
    }
    hierarchy.visit(|view| {
        let class = hierarchy.name(view.node());
        let overrides = view.overridden_finals().filter(|method| is_extended(&method.descriptor));
        linked.wrong.extend(overrides.map(|method| {
            let finding = Finding::of(Problem::FinalOverridden);
            (lossy(class), finding.in_member(method.name_and_type()))
        }));
        for question in questions.get(&view.node()).into_iter().flatten() {
            match question {
                Question::Extended(class, callee) => match view.inherits(callee.name_and_type()) {
                    Some(true) => linked.found += 1,
                    None => linked.unknown += 1,
                    Some(false) => linked.missing.push((lossy(&class.name), callee.to_string())),
                },
                Question::Counted(class, callee) => {
                    match view.nearest(callee.callee.member().name_and_type()) {
                        None if callee.is_question() => {}
                        None => linked.uncounted += callee.sites,
                        Some(method) => match wrong(callee, method, &hierarchy) {
                            None if callee.is_question() => {}
                            None => {
                                linked.counted += callee.sites;
                                linked.ids += if callee.is_known { 0 } else { callee.sites };
                            }
                            Some(problem) => {
                                let finding = Finding { problem, ..callee.place.clone() };
                                linked.wrong.push((lossy(&class.name), finding));
                            }
                        },
                    }
                }
            }
        }
    });
    // No two methods of a trace may have the same number.
    let mut numbered: Vec<_> =
        classes.iter().filter_map(|c| Some((c.numbers.0?, c.numbers.1, &c.name))).collect();
    numbered.sort_unstable();
    for pair in numbered.windows(2) {
        let ((first, count, before), (next, _, name)) = (pair[0], pair[1]);
        // Several archives may contain the same class file.
        let is_same = (first, before) == (next, name);
        if !is_same && first.checked_add(count).is_none_or(|end| end > next) {
            linked.wrong.push((lossy(name), Finding::of(Problem::Numbers)));
        }
    }
    // Sort by class, since the order of visits is arbitrary.
    linked.missing.sort();
    linked.wrong.sort_by_cached_key(|(class, finding)| (class.clone(), finding.to_string()));
    linked
}

/// The class where the search for a counted callee begins. For a super call it is the superclass,
/// even if the reference names a class above it (JVMS 6.5, *invokespecial*); for an array it is
/// `Object`.
pub(crate) fn searched<'l>(class: &'l Links, callee: &'l CountedCallee) -> Option<&'l [u8]> {
    let MemberRef { class: owner, name, .. } = callee.callee.member();
    if owner.first() == Some(&b'[') {
        return Some(OBJECT);
    }
    if callee.opcode == opcode::INVOKESPECIAL && name != b"<init>" && *owner != *class.name {
        class.superclass.as_deref()
    } else {
        Some(owner)
    }
}

/// The fault of counting a callee that is this method, if any.
pub(crate) fn wrong(
    callee: &CountedCallee,
    resolved: ResolvedMethod<'_>,
    hierarchy: &Hierarchy<'_>,
) -> Option<Problem> {
    let reference = callee.callee.member();
    let ResolvedMethod { class, method } = resolved;
    let declared = reference.name_and_type().of_class(&class.name);
    // Only one method can be meant (docs/internals/scheme.md, *Calls that cannot take a context*).
    // Arrays have no subclasses.
    let is_alone = matches!(callee.opcode, opcode::INVOKESTATIC | opcode::INVOKESPECIAL)
        || method.flags & (access::FINAL | access::PRIVATE) != 0
        || class.is_final
        || reference.class.first() == Some(&b'[')
        || hierarchy.is_final(reference.class);
    if let CalleeProbe::Nothing(chosen) = callee.means {
        // The caller omits a record that only callers can make.
        let is_place = chosen.is_some_and(|chosen| values::Part::of(chosen, declared).is_place);
        let is_hash_code = reference.name_and_type() == HASH_CODE;
        let is_missed = method.by_callers && (is_alone || is_hash_code && is_place);
        return is_missed.then_some(Problem::Probe(ProbeFault::NoCalleeProbe));
    }
    if method.counts_itself {
        return Some(Problem::CountedTwice);
    }
    let wrong = match callee.means {
        CalleeProbe::Counted(id) => {
            let is_right = id == foreign_id(declared, (id & 0x7F) as usize);
            (!is_right).then_some(ProbeFault::CountsOther)
        }
        CalleeProbe::Entered(chosen, entered) => values::wrong(chosen, &entered, &resolved),
        CalleeProbe::Nothing(_) => None,
        CalleeProbe::Traced { calls_back } => {
            // Callers may count natives except those of `Object`; other callees that they count
            // have a body and return at once.
            let may = method.flags & access::NATIVE != 0 && *class.name != *OBJECT;
            (may != calls_back).then_some(ProbeFault::CallsBack)
        }
    };
    match wrong {
        Some(what) => Some(Problem::Probe(what)),
        None => (!is_alone).then_some(Problem::CountedInVain),
    }
}

#[cfg(test)]
mod tests {
    use cct_classfile::MemberRefBuf;

    use super::*;
    use crate::links::DeclaredMethod;

    fn class(name: &str, supers: &[&str], defined: &[&str], wanted: &[[&str; 2]]) -> Links {
        let bytes = |text: &str| text.as_bytes().into();
        let descriptor = || bytes("(J[[[[J)V");
        let declared = |name: &&str| DeclaredMethod {
            name: bytes(name),
            descriptor: descriptor(),
            flags: 0,
            counts_itself: false,
            by_callers: false,
        };
        Links {
            name: bytes(name),
            superclass: supers.first().map(|s| bytes(s)),
            interfaces: supers.iter().skip(1).map(|s| bytes(s)).collect(),
            is_final: false,
            numbers: (None, 0),
            declared: defined.iter().map(declared).collect(),
            wanted: wanted
                .iter()
                .map(|[owner, name]| MemberRefBuf {
                    class: bytes(owner),
                    name: bytes(name),
                    descriptor: descriptor(),
                })
                .collect(),
            counted: Vec::new(),
        }
    }

    #[test]
    fn an_extended_form_that_overrides_a_final_one_is_found() {
        let above = |flags: u16| {
            let mut base = class("p/Base", &["O"], &["m", "n"], &[]);
            base.declared[0].flags = flags;
            let [object, between] = [class("O", &[], &[], &[]), class("p/Between", &["p/Base"], &[], &[])];
            let leaves = ["p/Leaf", "q/Leaf"].map(|name| class(name, &["p/Between"], &["m"], &[]));
            let [leaf, other] = leaves;
            let wrong = follow(&[other, leaf, between, base, object]).wrong.into_iter();
            wrong.map(|(class, finding)| format!("{class}: {finding}")).collect::<Vec<_>>()
        };
        let found = |class: &str| format!("{class}: m(J[[[[J)V: {}", Problem::FinalOverridden);
        assert_eq!(above(access::PUBLIC | access::FINAL), [found("p/Leaf"), found("q/Leaf")]);
        // Another package neither sees nor overrides it.
        assert_eq!(above(access::FINAL), [found("p/Leaf")]);
        for flags in [access::PUBLIC, access::PRIVATE | access::FINAL, access::STATIC | access::FINAL] {
            assert_eq!(above(flags), [""; 0]);
        }
    }

    #[test]
    fn references_are_followed_upwards() {
        let object = class("O", &[], &[], &[]);
        let i = class("I", &["O"], &["d"], &[]);
        let a = class("A", &["O", "I"], &["m"], &[]);
        let wanted = [["B", "m"], ["B", "d"], ["B", "gone"], ["X", "m"], ["C", "m"]];
        let b = class("B", &["A"], &[], &wanted);
        // A cycle, and a missing class.
        let c = class("C", &["C", "X"], &[], &[]);
        let linked = follow(&[object, i, a, b, c]);
        assert_eq!((linked.found, linked.unknown), (2, 2));
        assert_eq!(linked.missing, [("B".to_owned(), "B.gone(J[[[[J)V".to_owned())]);
    }

    #[test]
    fn all_classes_of_a_name_count() {
        let object = class("O", &[], &["m"], &[]);
        let first = class("A", &["O"], &[], &[]);
        let second = class("A", &["B"], &[], &[["A", "n"], ["A", "m"]]);
        let b = class("B", &["O"], &["n"], &[]);
        assert_eq!(follow(&[object, first, second, b]).found, 2);
    }

    /// `n` of `A`, which is static and final, and a caller's count of it.
    fn counting(callee: [&str; 3], opcode: u8, id: i64, change: impl Fn(&mut Links)) -> LinkResults {
        let bytes = |text: &str| text.as_bytes().into();
        let mut a = class("A", &["O"], &["n"], &[]);
        a.declared[0].flags = access::FINAL;
        a.declared[0].descriptor = bytes("()V");
        change(&mut a);
        let mut caller = class("C", &["B"], &[], &[]);
        caller.counted = vec![CountedCallee {
            opcode,
            callee: MemberRef::new(callee[0].as_bytes(), callee[1].as_bytes(), callee[2].as_bytes()).into(),
            means: CalleeProbe::Counted(id),
            is_known: false,
            sites: 3,
            place: Finding::of(Problem::CountedTwice),
        }];
        follow(&[class("O", &[], &[], &[]), class("B", &["A"], &[], &[]), a, caller])
    }

    #[test]
    fn a_callee_is_counted_once_and_as_what_it_is() {
        let id = foreign_id(MemberRef::new(b"A", b"n", b"()V"), 1);
        let (b, call) = (["B", "n", "()V"], opcode::INVOKEVIRTUAL);
        let problem =
            |linked: LinkResults| linked.wrong.first().map(|(class, f)| (class.clone(), f.problem.clone()));
        let same = |_: &mut Links| ();
        let right = counting(b, call, id, same);
        assert_eq!((right.counted, right.ids, right.uncounted, right.wrong.len()), (3, 3, 0, 0));
        let twice = counting(b, call, id, |a| a.declared[0].counts_itself = true);
        assert_eq!(problem(twice), Some(("C".to_owned(), Problem::CountedTwice)));
        let other = counting(b, call, id ^ 0x80, same);
        assert!(matches!(problem(other), Some((_, Problem::Probe(_)))));
        let overridden = counting(b, call, id, |a| a.declared[0].flags = 0);
        assert_eq!(problem(overridden), Some(("C".to_owned(), Problem::CountedInVain)));
        assert_eq!(counting(b, opcode::INVOKESTATIC, id, |a| a.declared[0].flags = 0).counted, 3);
        // The search for a super call begins at the superclass; missing classes are unknown.
        assert_eq!(counting(["A", "n", "()V"], opcode::INVOKESPECIAL, id, same).counted, 3);
        assert_eq!(counting(["X", "n", "()V"], call, id, same).uncounted, 3);
        assert_eq!(counting(["B", "m", "()V"], call, id, same).uncounted, 3);
    }
}
