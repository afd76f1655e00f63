use super::*;

fn read(text: &str) -> Result<Vec<Rule>, RulesError> {
    let mut rules = Rules::default();
    rules.add(text).map(|()| rules.list)
}

#[test]
fn rules_are_read_with_their_defaults() {
    let rules = read(
        "# iterators\n[[marker]]\ntoken = \"it\"\npredicate = \"n\"\nat = \"method\"\nmethod = \"next\"\n\n[[marker]]\ntoken = \"l\"\nat = \"line\"\nlines = [3, 0x10]\nsample = 25\n",
    )
    .unwrap();
    let [first, second] = &rules[..] else { panic!("{rules:?}") };
    assert_eq!((first.line, &*first.token, &*first.predicate, first.at), (2, "it", "n", At::Method));
    assert!(first.pair && first.receiver && !first.arguments && !first.per_object);
    assert_eq!((second.line, second.at, second.pair), (8, At::Line, false));
    assert_eq!((&second.lines[..], second.sample), (&[3, 16][..], Some(25)));
}

#[test]
fn texts_of_rules_give_the_same_rules() {
    let mut rules = Rules::default();
    // One whose last line has no end.
    rules.add("[[marker]]\ntoken = \"a\"\nat = \"method\"\nclass = \"p.A\"").unwrap();
    rules
        .add("[[marker]]\ntoken = \"b\"\nat = \"method\"\nclass = \"q.*\"\nsubtypes-of = \"r.R\"\n")
        .unwrap();
    let again = read(&rules.text()).unwrap();
    let tokens: Vec<&str> = again.iter().map(|rule| &*rule.token).collect();
    assert_eq!(tokens, ["a", "b"]);
    let of = |name: &[u8]| (rules.may_match(name), rules.ask_what_is_above(name));
    assert_eq!([of(b"p/A"), of(b"q/B"), of(b"p/B")], [(true, false), (true, true), (false, false)]);
}

#[test]
fn unknown_lines_are_refused_with_their_numbers() {
    let marker = |rest: &str| format!("[[marker]]\ntoken = \"t\"\nat = \"method\"\n{rest}\n");
    for (text, line, problem) in [
        ("x = 1".to_owned(), 1, "unknown key 'x'"),
        ("[marker]\ntoken = 1".to_owned(), 1, "only tables [[marker]]"),
        ("[[marker]]\nat = \"method\"".to_owned(), 1, "needs the key 'token'"),
        ("\n[[marker]]\ntoken = \"t\"".to_owned(), 2, "needs the key 'at'"),
        ("[[marker]]\ntoken = \"t\"\nat = \"here\"".to_owned(), 3, "method, loop,"),
        (marker("clas = \"a\""), 4, "unknown key 'clas'"),
        (marker("class = 1"), 4, "must be a \"string\""),
        (marker("class = \"a{\""), 4, "bad glob"),
        (marker("callee = \"a\""), 4, "is for at = \"call\""),
        (marker("callers = \"all\""), 4, "is for at = \"call\""),
        (marker("callee-subtypes = true"), 4, "is for at = \"call\""),
        ("[[marker]]\ntoken = \"t\"\nat = \"call\"\ncallers = \"us\"".to_owned(), 4, "all, program"),
        (
            "[[marker]]\ntoken = \"t\"\nat = \"call\"\ncallee-subtypes = true".to_owned(),
            1,
            "needs the key 'callee'",
        ),
        (
            "[[marker]]\ntoken = \"t\"\nat = \"call\"\ncallee-subtypes = true\ncallee = \"m\"".to_owned(),
            5,
            "TYPES.METHODS",
        ),
        (marker("kind = \"both\""), 4, "pair, one-way"),
        (marker("context = [\"this\"]"), 4, "receiver, arguments"),
        (marker("sample = 101"), 4, "0 to 100"),
        (marker("per-object = 1"), 4, "true or false"),
        ("[[marker]]\ntoken = \"t\"\nat = \"line\"".to_owned(), 1, "needs the key 'lines'"),
        ("[[marker]]\ntoken = \"t\"\nat = \"handler\"\nkind = \"pair\"".to_owned(), 4, "one-way"),
        (marker("x"), 4, ""),
    ] {
        let error = read(&text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.to_string().contains(problem), "{text}: {error}");
    }
}

#[test]
fn anything_is_read_or_refused() {
    arbtest::arbtest(|u| {
        let bytes: Vec<u8> = u.arbitrary()?;
        let text = String::from_utf8_lossy(&bytes);
        let _ = read(&text);
        let _ = read(&format!("[[marker]]\ntoken = \"t\"\nat = \"method\"\n{text}"));
        Ok(())
    });
}
