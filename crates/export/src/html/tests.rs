//! Whole pages: the contents of the file, read back by an independent decoder.

use super::columns::tests::numbers;
use super::*;
use crate::testing::{method, profile, random, recursion, split, thread, tree};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cct_profile::Pattern;
use flate2::read::ZlibDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;

fn options() -> PageOptions {
    PageOptions {
        selection: Selection::default(),
        selected: Vec::new(),
        by: By::Method,
        names: NameStyle::Normalised,
        metric: None,
        fold_recursion: false,
        most_contexts: MOST_CONTEXTS,
    }
}

/// The methods of `java` are the library.
const LIBRARY: PageLibrary<'static> =
    PageLibrary { is_library: &is_java, which: "all of java", is_collapsed: false };

fn is_java(method: &Method) -> bool {
    method.class.starts_with("java/")
}

fn page(new: Profile, base: Option<Profile>, options: &PageOptions) -> Page {
    Page::new(new, base, Vec::new(), &Origins::default(), LIBRARY, options).unwrap()
}

fn written(page: &Page) -> String {
    let mut bytes = Vec::new();
    page.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The contents of an element of the page.
fn element(page: &str, id: &str) -> Vec<u8> {
    let begin = format!("<script type=\"application/octet-stream\" id=\"{id}\">");
    let (_, text) = page.split_once(&begin).unwrap_or_else(|| panic!("there is no {id}"));
    let (text, _) = text.split_once("</script>").unwrap();
    let mut bytes = Vec::new();
    ZlibDecoder::new(&*STANDARD.decode(text).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn head(page: &str) -> Value {
    serde_json::from_slice(&element(page, "head")).unwrap()
}

fn column(page: &str, id: &str) -> Vec<u64> {
    numbers(&element(page, id))
}

#[test]
fn a_page_has_what_the_profile_has() {
    let page = written(&page(recursion(), None, &options()));
    let head = head(&page);
    assert_eq!(head["program"], "a.A");
    assert_eq!(head["metrics"], serde_json::json!(["bytecodes", "calls"]));
    assert_eq!(head["sums"], serde_json::json!(["177", "25"]));
    assert_eq!(head["threads"][1]["name"], "work;er");
    assert_eq!((&head["threads"][0]["nodes"], &head["threads"][1]["nodes"]), (&6.into(), &2.into()));
    // f, g, main; then g, n.
    assert_eq!(column(&page, "contexts-label"), [2, 0, 0, 1, 1, 0, 1, 3]);
    assert_eq!(column(&page, "contexts-left"), [0, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(column(&page, "contexts-own-0"), [100, 20, 7, 5, 4, 30, 11, 0]);
    assert_eq!(column(&page, "contexts-own-1"), [1, 2, 3, 1, 2, 1, 6, 9]);
    // Labels as differences; the callees of a method that is on the stack twice count once.
    assert_eq!(column(&page, "methods-label"), [0, 1, 1, 1, 2]);
    assert_eq!(column(&page, "methods-contexts"), [3, 2, 1, 1, 1]);
    assert_eq!(column(&page, "methods-own-0"), [57, 9, 100, 11, 0]);
    assert_eq!(column(&page, "methods-inclusive-0"), [62, 39, 166, 11, 0]);
}

#[test]
fn sums_are_those_of_the_profile_whatever_is_pruned() {
    arbtest::arbtest(|u| {
        let profile = random(u)?;
        let most_contexts = u.int_in_range(0..=30)?;
        let of = |metric: Metric| -> u64 {
            let nodes = profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
            nodes.map(|node| metric.of_node(node)).sum()
        };
        let counts_bytecodes = profile.counts_bytecodes();
        let wanted = if counts_bytecodes {
            vec![of(Metric::Bytecodes), of(Metric::Calls)]
        } else {
            vec![of(Metric::Calls)]
        };
        let made = page(profile.clone(), None, &PageOptions { most_contexts, ..options() });
        let page = written(&made);
        let head = head(&page);
        let lost = column(&page, "contexts-lost");
        let labels = column(&page, "contexts-label");
        let pruned = head["labels"].as_array().unwrap().len() as u64;
        assert_eq!(labels.iter().filter(|label| **label == pruned).count(), lost.len());
        let kept = labels.len() - lost.len();
        assert!(kept <= most_contexts, "{kept} contexts were kept");
        assert_eq!(kept as u64 + lost.iter().sum::<u64>(), head["contexts"].as_u64().unwrap());
        assert_eq!(made.pruning.is_some(), !lost.is_empty());
        for (at, sum) in wanted.into_iter().enumerate() {
            let own = column(&page, &format!("contexts-own-{at}"));
            assert_eq!(own.iter().sum::<u64>(), sum, "contexts");
            assert_eq!(column(&page, &format!("methods-own-{at}")).iter().sum::<u64>(), sum, "methods");
            let of_pruned: u64 =
                own.iter().zip(&labels).filter(|(_, label)| **label == pruned).map(|(own, _)| own).sum();
            let threads = head["threads"].as_array().unwrap().iter();
            assert_eq!(
                threads.map(|thread| thread["lost_sums"][at].as_u64().unwrap()).sum::<u64>(),
                of_pruned
            );
        }
        Ok(())
    });
}

#[test]
fn pruning_says_what_was_pruned() {
    let made = page(recursion(), None, &PageOptions { most_contexts: 2, ..options() });
    // main (100 of 177 bytecodes) and, by 15 of 25 calls, g of the other thread are the heaviest.
    let said = made.pruning.clone().unwrap();
    assert!(
        said.starts_with(
            "6 contexts (75.00 %) with 66 bytecodes (37.29 %) and 18 calls (72.00 %) of their own are pruned"
        ),
        "{said}"
    );
    let page = written(&made);
    assert_eq!(column(&page, "contexts-lost"), [5, 1]);
    assert_eq!(column(&page, "methods-contexts"), [3, 2, 1, 1, 1], "the table is exact");
}

#[test]
fn a_difference_has_both_sides() {
    let mut base = recursion();
    base.threads.remove(1);
    let page = written(&page(recursion(), Some(base), &options()));
    assert_eq!(head(&page)["sides"], 2);
    assert_eq!(head(&page)["sums"], serde_json::json!(["177", "25", "166", "10"]));
    assert_eq!(column(&page, "contexts-own-0"), [100, 20, 7, 5, 4, 30, 11, 0]);
    assert_eq!(column(&page, "contexts-own-2"), [100, 20, 7, 5, 4, 30, 0, 0]);
    assert!(page.contains("<title>a.A - difference of profiles - cctrewrite</title>"));
}

#[test]
fn contexts_may_stand_for_classes() {
    let page = written(&page(recursion(), None, &PageOptions { by: By::Class, ..options() }));
    let head = head(&page);
    assert_eq!((&head["by"], &head["labels"]), (&"class".into(), &serde_json::json!(["a.A"])));
    // One context for each thread: calls within the class are part of it.
    assert_eq!(column(&page, "contexts-own-0"), [166, 11]);
    assert_eq!(column(&page, "methods-inclusive-0"), [166, 11]);
}

#[test]
fn differences_in_any_case_are_reported() {
    let mut base = recursion();
    base.meta.insert("metrics".to_owned(), "calls".to_owned());
    base.meta.insert("blocks".to_owned(), "precise".to_owned());
    let mut new = recursion();
    new.meta.insert("blocks".to_owned(), "default".to_owned());
    let made = page(new, Some(base), &options());
    assert_eq!(made.differing.len(), 2, "{:?}", made.differing);
    assert!(made.differing[0].contains("'blocks' (precise in BASE, default in NEW)"));
    assert!(made.differing[1].starts_with("Bytecodes were not counted in BASE"));
    assert_eq!(head(&written(&made))["metrics"], serde_json::json!(["calls"]));
}

#[test]
fn names_never_become_markup() {
    const EVIL: &str = "</script><img src=x onerror=alert(1)>";
    let methods = vec![method(EVIL, EVIL, EVIL)];
    let evil = profile(&[("main", EVIL)], methods, vec![thread(EVIL, tree(&[(1, 0, 1, 1)]))]);
    let about = vec![ProfileFacts {
        name: EVIL.to_owned(),
        facts: vec![(EVIL.to_owned(), EVIL.to_owned())],
        ..ProfileFacts::default()
    }];
    let page = written(&Page::new(evil, None, about, &Origins::default(), LIBRARY, &options()).unwrap());
    assert!(!page.contains("<img"), "the name is in the page as it is");
    assert!(page.contains("<title>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; - profile"));
    assert_eq!(head(&page)["about"][0]["name"], EVIL);
    assert!(head(&page)["labels"][0].as_str().unwrap().contains("<img"));
}

#[test]
fn the_policy_names_the_script_and_the_style() {
    let page = written(&page(recursion(), None, &options()));
    let (_, policy) = page.split_once("Content-Security-Policy\" content=\"").unwrap();
    let (policy, _) = policy.split_once('"').unwrap();
    for (directive, begin, end) in
        [("script-src", "<script type=\"module\">", "</script>"), ("style-src", "<style>", "</style>")]
    {
        let (_, text) = page.split_once(begin).unwrap();
        let (text, _) = text.split_once(end).unwrap();
        let hash = STANDARD.encode(Sha256::digest(text));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}'")), "{directive}: {policy}");
    }
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    // All ways in which a page could load something.
    for word in ["http:", "https:", "@import", "url(", "src=\""] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn the_same_profile_gives_the_same_page() {
    let first = written(&page(recursion(), None, &options()));
    assert_eq!(first, written(&page(recursion(), None, &options())));
}

#[test]
fn parts_are_said_and_nothing_is_an_error() {
    let selection = Selection { root: Some(Pattern::new("a.A.g")), ..Selection::default() };
    let selected = vec!["from 'a.A.g' down".to_owned()];
    let page = written(&page(recursion(), None, &PageOptions { selection, selected, ..options() }));
    assert_eq!(head(&page)["sums"][0], "50");
    assert_eq!(head(&page)["remarks"][0], "This page shows only a part of the profile: from 'a.A.g' down.");
    let selection = Selection { root: Some(Pattern::new("no.where")), ..Selection::default() };
    let asked = PageOptions { selection, ..options() };
    assert!(Page::new(recursion(), None, Vec::new(), &Origins::default(), LIBRARY, &asked).is_err());
    let asked = PageOptions { metric: Some(Metric::Bytecodes), ..options() };
    let mut calls = recursion();
    calls.meta.insert("metrics".to_owned(), "calls".to_owned());
    assert!(matches!(
        Page::new(calls, None, Vec::new(), &Origins::default(), LIBRARY, &asked),
        Err(ExportError::NoBytecodes)
    ));
}

#[test]
fn counts_that_browsers_round_are_said() {
    let methods = vec![method("a/A", "f", "()V")];
    let of = |count| profile(&[], methods.clone(), vec![thread("t", tree(&[(1, 0, 1, count)]))]);
    let remarks =
        |count| head(&written(&page(of(count), None, &options())))["remarks"].as_array().unwrap().len();
    assert_eq!((remarks(EXACT), remarks(EXACT + 1)), (0, 1));
    let head = head(&written(&page(of(EXACT + 1), None, &options())));
    assert_eq!(head["sums"][0], "9,007,199,254,740,993");
}

#[test]
fn methods_are_rows_from_wherever_they_are_called() {
    let with = written(&page(split(), None, &options()));
    let without = written(&page(split().without_call_sites().unwrap(), None, &options()));
    for id in ["label", "own-0", "own-1", "inclusive-0", "inclusive-1"] {
        let id = format!("methods-{id}");
        assert_eq!(column(&with, &id), column(&without, &id), "{id}");
    }
    assert_eq!(
        (column(&with, "methods-contexts"), column(&without, "methods-contexts")),
        (vec![5, 1, 1], vec![3, 1, 1])
    );
    let (head, plain) = (head(&with), head(&without));
    let labels: Vec<&str> = head["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    // Methods, which are the only labels of the plain page; then the labels of contexts.
    assert_eq!(
        labels,
        [
            "a.A.f(int)",
            "a.A.main(String[])",
            "a.A.n()",
            "a.A.f(int)",
            "a.A.f(int)@-1",
            "a.A.f(int):12",
            "a.A.f(int):10@3",
            "a.A.f(int):20",
            "a.A.f(int):10@9",
            "a.A.main(String[])",
            "a.A.n()@20",
        ]
    );
    assert_eq!(plain["labels"], serde_json::json!(labels[..3]));
    assert_eq!(head["methods"], serde_json::json!([0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 2]));
    assert!(plain.get("methods").is_none());
    // Siblings in the order of their frames' texts, in which @15 precedes @3.
    assert_eq!(column(&with, "contexts-label"), [9, 5, 6, 7, 8, 10, 4]);
    // In a difference lines are not part of a call site, since they move.
    let mut moved = split();
    moved.methods.iter_mut().filter_map(|method| method.site.as_mut()).for_each(|site| site.line += 5);
    let difference = written(&page(moved, Some(split()), &options()));
    assert_eq!(column(&difference, "contexts-label").len(), 7);
    assert_eq!(column(&difference, "contexts-own-0"), column(&difference, "contexts-own-2"));
    let differing = page(split(), Some(split().without_call_sites().unwrap()), &options()).differing;
    assert_eq!(differing, ["Only NEW distinguishes call sites, so they are added up."]);
}

#[test]
fn pages_say_which_labels_are_the_library() {
    let methods =
        vec![method("app/A", "f", "()V"), method("java/B", "g", "()V"), method("java/C", "h", "()V")];
    let of = |methods: &[Method]| {
        profile(&[], methods.to_vec(), vec![thread("t", tree(&[(1, 0, 1, 1), (2, 1, 2, 4), (3, 2, 1, 8)]))])
    };
    let head_of = |profile: Profile, options: &PageOptions| head(&written(&page(profile, None, options)));
    let found = head_of(of(&methods), &options());
    assert_eq!(found["library"]["roles"], serde_json::json!([0, 1, 1, 1]));
    assert_eq!((&found["library"]["label"], &found["labels"][3]), (&3.into(), &"(library)".into()));
    assert_eq!(found["threads"][0]["library"], serde_json::json!([12, 3]));
    // A label that stands for methods of both has no place, and a program alone needs none.
    let by_name = PageLibrary { is_library: &|method| &*method.name == "g", ..LIBRARY };
    let by_package = PageOptions { by: By::Package, ..options() };
    let mixed = Page::new(of(&methods), None, Vec::new(), &Origins::default(), by_name, &by_package).unwrap();
    assert!(head(&written(&mixed)).get("library").is_none());
    let alone = profile(&[], methods[..1].to_vec(), vec![thread("t", tree(&[(1, 0, 1, 1)]))]);
    assert!(head_of(alone, &options()).get("library").is_none());
}
