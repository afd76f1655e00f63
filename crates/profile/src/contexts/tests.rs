use super::*;
use crate::names::normalised_class;
use crate::testing::{deep, method, profile, random, random_split, thread, tree};
use std::collections::BTreeMap;

fn text(p: &Profile, options: ContextsOptions) -> String {
    let mut out = Vec::new();
    write_contexts(p, options, &mut out).expect("memory");
    String::from_utf8(out).expect("names are UTF-8")
}

fn lines(p: &Profile, options: ContextsOptions) -> Vec<String> {
    text(p, options).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// The same lines computed naively: all paths as strings in a sorted map.
fn naive(p: &Profile, options: ContextsOptions) -> Vec<String> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let clean = |s: &str| s.replace(';', ",").replace(['\n', '\r'], "?");
    for thread in &p.threads {
        let mut ends: Vec<(u32, String)> = Vec::new();
        for (index, node) in (0u32..).zip(thread.tree.nodes()).skip(1) {
            while ends.last().is_some_and(|&(end, _)| end <= index) {
                ends.pop();
            }
            let m = &p.methods[node.method as usize];
            let class = if options.names == NameStyle::Raw { &m.class } else { normalised_class(&m.class) };
            let dot = if class.is_empty() { "" } else { "." };
            let site = match m.site {
                Some(site) => format!("@{}", site.bci),
                None if p.tells_call_sites() && !ends.is_empty() => "@-1".to_owned(),
                None => String::new(),
            };
            let frame = clean(&format!("{}{dot}{}{}{site}", class.replace('/', "."), m.name, m.descriptor));
            ends.push((thread.tree.subtree(index).end, frame));
            let path: Vec<String> = ends.iter().map(|(_, frame)| frame.clone()).collect();
            let thread =
                if options.per_thread { clean(&format!("[{}]", thread.name)) + ";" } else { String::new() };
            let sum = sums.entry(thread + &path.join(";")).or_default();
            sum.0 += node.calls;
            sum.1 += node.bytecodes;
        }
    }
    let mut lines = Vec::new();
    for (path, (calls, bytecodes)) in sums {
        if calls + bytecodes > 0 {
            lines.push(format!("{calls} {bytecodes} {path}"));
        }
    }
    lines
}

#[test]
fn lines_are_those_of_a_plain_sort_by_bytes() {
    arbtest::arbtest(|u| {
        let p = if u.arbitrary()? { random(u)? } else { random_split(u)?.0 };
        for per_thread in [false, true] {
            for names in [NameStyle::Normalised, NameStyle::Raw] {
                let options = ContextsOptions { per_thread, names };
                let ours: Vec<String> = text(&p, options)
                    .split('\n')
                    .filter(|l| !l.starts_with('#'))
                    .map(str::to_owned)
                    .collect();
                let mut expected = naive(&p, options);
                expected.push(String::new());
                assert_eq!(ours, expected);
            }
        }
        Ok(())
    });
}

#[test]
fn a_sibling_may_stand_between_a_context_and_its_callees() {
    let methods = vec![method("", "a", ""), method("", "a$b", ""), method("", "a<", ""), method("", "x", "")];
    let t = tree(&[(1, 0, 1, 1), (2, 3, 2, 2), (1, 1, 3, 3), (2, 3, 4, 4), (1, 2, 5, 5)]);
    let p = profile(methods, vec![thread("main", t)]);
    assert_eq!(lines(&p, ContextsOptions::default()), ["1 1 a", "3 3 a$b", "4 4 a$b;x", "2 2 a;x", "5 5 a<"]);
}

#[test]
fn the_format_is_the_common_one() {
    let methods = vec![
        method("Main", "main", "([Ljava/lang/String;)V"),
        method("Main$$Lambda$1", "run", "()V"),
        method("Main$$Lambda$2", "run", "()V"),
        method("java/lang/String", "charAt", "(I)C"),
    ];
    let main = tree(&[(1, 0, 1, 7), (2, 1, 1, 2), (2, 2, 1, 2), (2, 3, 4, 20)]);
    let mut p =
        profile(methods, vec![thread("main", main), thread("pool;1", tree(&[(1, 0, 0, 0), (2, 3, 1, 5)]))]);
    p.meta.insert("main".into(), "Main".into());
    p.notes.push("first\nsecond".into());
    assert_eq!(
        text(&p, ContextsOptions::default()),
        "# cctrewrite contexts 1  format: calls bytecodes frame;frame;...\n\
         # bytecodes=36 calls=8 contexts=3\n\
         # main=Main\n\
         # note: first second\n\
         1 7 Main.main([Ljava/lang/String,)V\n\
         2 4 Main.main([Ljava/lang/String,)V;Main$$Lambda.run()V\n\
         5 25 Main.main([Ljava/lang/String,)V;java.lang.String.charAt(I)C\n"
    );
    let options = ContextsOptions { per_thread: true, names: NameStyle::Raw };
    assert_eq!(
        lines(&p, options),
        [
            "1 7 [main];Main.main([Ljava/lang/String,)V",
            "1 2 [main];Main.main([Ljava/lang/String,)V;Main$$Lambda$1.run()V",
            "1 2 [main];Main.main([Ljava/lang/String,)V;Main$$Lambda$2.run()V",
            "4 20 [main];Main.main([Ljava/lang/String,)V;java.lang.String.charAt(I)C",
            // Main.main has no counts in this thread, so no line.
            "1 5 [pool,1];Main.main([Ljava/lang/String,)V;java.lang.String.charAt(I)C",
        ]
    );
}

#[test]
fn bytecodes_that_were_not_counted_are_no_zeros() {
    let mut p = deep(1);
    p.meta.insert("metrics".into(), "calls".into());
    assert_eq!(lines(&p, ContextsOptions::default()), ["1 - A.f()V"]);
}

#[test]
fn deep_paths_are_written() {
    let p = deep(10_000);
    let mut out = Vec::new();
    write_contexts(&p, ContextsOptions::default(), &mut out).expect("memory");
    let last = out.strip_suffix(b"\n").and_then(|out| out.rsplit(|&b| b == b'\n').next()).expect("lines");
    assert_eq!(last.iter().filter(|&&b| b == b';').count(), 9_999);
}
