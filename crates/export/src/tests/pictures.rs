//! Flame graphs and icicles.

use super::*;

#[test]
fn pictures_say_what_was_pruned() {
    let threshold = Threshold { min_percent: 10.0, depth: None };
    let source = source(single(), &Options { threshold, ..Options::default() });
    let picture = text(&source, |source, out| flame::write(source, flame::Growth::Icicles, out));
    // Below f are 12 of 166 bytecodes, in two contexts.
    assert!(
        picture
            .contains("166 bytecodes in 6 contexts; 2 contexts pruned (below 10 % of the bytecodes): 7.23 %"),
        "{picture}"
    );
    assert!(picture.contains("<title>a.A.f(int) (32 bytecodes, 19.28%)</title>"), "{picture}");
    assert!(!picture.contains(PRUNED), "too narrow for a box: {picture}");
    assert_eq!(
        source.pruning().as_deref(),
        Some(
            "2 contexts with 4 calls and 12 bytecodes pruned (below 10 % of the bytecodes), and added up as [pruned]"
        )
    );
}

/// Characters that an XML parser rejects (XML 1.0, section 2.2).
fn is_no_character(c: char) -> bool {
    c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

#[test]
fn pictures_are_xml_whatever_names_are() {
    let odd = "a\u{1b}[2J\u{0}\u{FFFE}<&\"";
    let methods = vec![method(odd, odd, "()V")];
    let threads = vec![thread(odd, tree(&[(1, 0, 1, 5)]))];
    let full = source(profile(&[("main", odd)], methods, threads), &Options::default());
    let empty = source(profile(&[("main", odd)], vec![], vec![]), &Options::default());
    for source in [full, empty] {
        for growth in [flame::Growth::Flames, flame::Growth::Icicles] {
            let mut picture = Vec::new();
            flame::write(&source, growth, &mut picture).unwrap();
            let picture = String::from_utf8(picture).unwrap();
            assert_eq!(picture.find(is_no_character), None, "{picture}");
            assert!(picture.contains("a\\u{1b}[2J\\u{0}\\u{fffe}&lt;&amp;"), "{picture}");
        }
    }
    let mut changed = Vec::new();
    let one = |count| {
        let threads = vec![thread(odd, tree(&[(1, 0, 1, count)]))];
        profile(&[("main", odd)], vec![method(odd, odd, "()V")], threads)
    };
    let difference = Difference::new(one(5), one(7), &Options::default()).unwrap();
    flame::write_difference(&difference, flame::Growth::Flames, &mut changed).unwrap();
    assert_eq!(String::from_utf8(changed).unwrap().find(is_no_character), None);
}

#[test]
fn boxes_are_not_torn_apart_by_names_that_sort_between() {
    // In the order of bytes, the line of `a$` is between that of `a` and those of its callees.
    let methods = vec![method("A", "a", ""), method("A", "a$", ""), method("A", "b", "")];
    let main = [(1, 0, 1, 5), (2, 2, 1, 7), (1, 1, 1, 3)];
    let profile = profile(&[], methods, vec![thread("main", tree(&main))]);
    let picture = text(&source(profile, &Options::default()), |source, out| {
        flame::write(source, flame::Growth::Flames, out)
    });
    assert!(picture.contains("<title>A.a (12 bytecodes, 80.00%)</title>"), "{picture}");
}

#[test]
fn a_picture_that_no_browser_could_show_is_refused() {
    let mut builder = cct_profile::TreeBuilder::new();
    (0..40_000).for_each(|_| builder.enter(0, 1, 2).unwrap());
    let deep =
        profile(&[], vec![method("package/Class", "f", "()V")], vec![thread("main", builder.finish())]);
    let whole = source(deep, &Options::default());
    let written = flame::write(&whole, flame::Growth::Flames, &mut Vec::new());
    assert!(matches!(written, Err(ExportError::PictureTooLarge)));
}
