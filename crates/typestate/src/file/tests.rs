use super::*;

const GOOD: &str = r#"
[[property]]
name = "File"
message = "m"
expression = "(open (read | eof)* close)*"
[property.events]
open  = { class = "a.File", method = "open", when = "return" }
read  = [{ class = "a.File", method = "read" }, { callee = "a.Files.read", at = "call", object = "argument 0" }]
eof   = { class = "a.File", method = "eof" }
close = { class = "a.File", method = "close" }
"#;

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn begins(text: &str, with: &str) {
    assert!(text.starts_with(with), "{text}");
}

/// The file with a change.
fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    error(&GOOD.replacen(from, to, 1))
}

#[test]
fn properties_are_read() {
    let all = parse(GOOD).unwrap();
    let [file] = &all[..] else { panic!("{all:?}") };
    assert_eq!((file.name.as_str(), file.line, file.level), ("File", 2, Level::Warning));
    assert_eq!(file.ends, Ends { death: true, exit: true });
    assert_eq!(file.objects, Objects::One("object".into()));
    let names: Vec<&str> = file.events.iter().map(|e| e.name.as_str()).collect();
    // In the order of the file, not of the alphabet.
    assert_eq!(names, ["open", "read", "eof", "close"]);
    assert_eq!(file.events[0].places[0].when, EventTime::Return);
    assert_eq!(file.events[1].places[0].object, Some(Role::Receiver));
    assert_eq!(file.events[1].places[1].object, Some(Role::Argument(0)));
    assert_eq!(file.events[1].places[1].line, 8);
    assert_eq!(file.automaton.states.len(), 3);
    assert_eq!(file.state_name(1), "open");
    assert_eq!(file.names(file.automaton.self_loops(1)), ["read", "eof"]);
}

#[test]
fn pairs_say_who_is_who() {
    let text = r#"
[[property]]
name = "P"
message = "m"
expression = "change* iterator next* change*"
objects = ["collection", "iterator"]
ends = []
level = "error"
[property.events]
iterator = { callee = "c", when = "return", parent = "receiver", child = "result" }
next = { callee = "n", child = "receiver" }
change = { callee = "m", parent = "receiver" }
"#;
    let all = parse(text).unwrap();
    assert_eq!(
        all[0].events.iter().map(|e| e.of).collect::<Vec<_>>(),
        [Of::Creation, Of::Object, Of::Parent]
    );
    let error = |from: &str, to: &str| error(&text.replacen(from, to, 1));
    begins(
        &error("child = \"receiver\"", "object = \"receiver\""),
        "line 11, column 24: in a property of pairs",
    );
    begins(&error(", child = \"receiver\"", ""), "line 11, column 1: in a property of pairs");
    assert!(error("when = \"return\", ", "").contains("'child' = \"result\" is known when"));
    begins(&error(", child = \"result\"", ""), "line 2, column 1: no event of \"P\" has both");
    let mixed =
        "next = [{ callee = \"n\", child = \"receiver\" }, { callee = \"n\", parent = \"receiver\" }]";
    assert!(
        error("next = { callee = \"n\", child = \"receiver\" }", mixed)
            .contains("all places of event 'next'")
    );
}

#[test]
fn types_and_conditions_are_read() {
    let text = r#"
[[property]]
name = "P"
message = "m"
expression = "change* (iterator next* change*)*"
objects = ["collection", "iterator"]
ends = []
[property.types]
collection = ["java.util.ArrayList", "a.B$*", "!java.util.concurrent.*"]
[property.events]
iterator = { at = "call", callee = "c.C.i", callee-subtypes = true, when = "return", parent = "receiver", child = "result" }
next = { at = "call", callee = "c.I.n", callee-subtypes = true, child = "receiver", callers = "all" }
change = { at = "call", callee = "c.C.m", when = "return", if = "result", parent = "receiver" }
"#;
    let all = parse(text).unwrap();
    let [property] = &all[..] else { panic!("{all:?}") };
    assert_eq!(property.object_types, Types::default());
    assert_eq!(property.parent_types.0, ["java.util.ArrayList", "a.B$*", "!java.util.concurrent.*"]);
    let place = |event: usize| &property.events[event].places[0];
    assert_eq!([place(0).is_of_program(), place(1).is_of_program()], [true, false]);
    assert_eq!([place(0).if_result, place(2).if_result], [false, true]);
    assert_eq!(property.unknown(), None);
    let error = |from: &str, to: &str| error(&text.replacen(from, to, 1));
    begins(
        &error("[property.types]\ncollection", "[property.types]\ncollections"),
        "line 9, column 1: unknown key 'collections': the keys are 'iterator', 'collection'",
    );
    for types in ["[]", "[\"!a.B\"]", "[\"a.*.B\"]", "[\"a B\"]", "[\"\"]", "[1]", "1"] {
        let list = "[\"java.util.ArrayList\", \"a.B$*\", \"!java.util.concurrent.*\"]";
        assert!(error(list, types).contains("'collection' must be a list of class names"), "{types}");
    }
    begins(
        &error("collection = [\"java.util.ArrayList\", \"a.B$*\", \"!java.util.concurrent.*\"]\n", ""),
        "line 10, column 1: event 'iterator' has callee-subtypes, but [property.types]",
    );
    assert!(error("if = \"result\"", "if = \"true\"").contains("'if' must be \"result\""));
    assert!(error(", when = \"return\", if", ", if").contains("'if' = \"result\" is known when"));
    assert!(error("callee-subtypes = true", "callee-subtypes = 1").contains("must be true or false"));
    assert!(error("callers = \"all\"", "callers = \"us\"").contains("must be \"all\" or \"program\""));
}

/// The last level of `nested` leads to a state that is neither right nor wrong.
#[test]
fn further_levels_are_not_known() {
    let text = GOOD.replacen("(open (read | eof)* close)*", "nested(open close 3) (read | eof)*", 1);
    let all = parse(&text).unwrap();
    let unknown = all[0].unknown().unwrap();
    assert_eq!(all[0].automaton.run(&[0, 0, 0, 0]), unknown);
    assert_ne!(all[0].automaton.run(&[0, 0, 0]), unknown);
    assert!(all[0].automaton.states[unknown].accepting && Some(unknown) != all[0].automaton.sink);
    assert_eq!(all[0].automaton.run(&[0, 0, 0, 0, 3, 3, 3, 3, 3, 1]), unknown);
    begins(
        &error(&text.replacen("close 3", "close 99", 1)),
        "line 5, column 15: it must be nested(BEGIN END LEVELS)",
    );
}

#[test]
fn faults_are_named_by_line_and_column() {
    // Within the expression, to the character.
    begins(
        &changed("| eof", "| eoff"),
        "line 5, column 29: 'eoff' is not an event of this property; its events are open, read, eof, close",
    );
    assert_eq!(changed("close)*\"", "close)*)\""), "line 5, column 42: this ')' closes nothing");
    begins(
        &changed("\"(open (read | eof)* close)*\"", "\"\"\"\n(open\n  (raed | eof)* close)*\"\"\""),
        "line 7, column 4: 'raed' is not an event",
    );
    begins(&changed("(read | eof)*", "read*"), "line 9, column 1: event 'eof' is not in the expression");
    assert_eq!(
        changed("(open (read | eof)* close)*", ".*"),
        "line 5, column 14: the expression of \"File\" accepts everything: there is nothing to check"
    );
    assert_eq!(changed("message = \"m\"\n", ""), "line 2, column 1: property \"File\" has no 'message'");
    assert_eq!(changed("name = \"File\"\n", ""), "line 2, column 1: a property has no 'name'");
    begins(
        &changed("name = \"File\"", "name = \"a b\""),
        "line 3, column 8: \"a b\" is not a valid property name",
    );
    begins(
        &changed("message", "massage"),
        "line 4, column 1: unknown key 'massage': the keys are \
                                            'name', 'message',",
    );
    begins(&changed("method = \"eof\"", "methods = \"eof\""), "line 9, column 29: unknown key 'methods'");
    assert!(
        changed("class = \"a.File\", method = \"eof\"", "method = \"eof\"")
            .contains("must at least have 'class'")
    );
    begins(&changed("\"argument 0\"", "\"argument 255\""), "line 8, column 98: \"argument 255\" is none of");
    assert!(
        changed("object = \"argument 0\"", "object = \"result\"")
            .contains("'object' = \"result\" is known when")
    );
    assert!(
        changed("when = \"return\"", "when = \"later\"").contains("'when' must be \"enter\" or \"return\"")
    );
    assert!(
        changed("method = \"open\"", "child = \"result\"").contains("'child' is for properties of pairs")
    );
    assert!(changed("name = ", "level = \"bad\"\nname = ").contains("'level' must be"));
    assert!(changed("name = ", "ends = [\"end\"]\nname = ").contains("'ends' must be a list"));
    assert!(changed("name = ", "objects = [\"a\"]\nname = ").contains("'objects' must be"));
    assert_eq!(
        error(&(GOOD.to_owned() + GOOD)),
        "line 12, column 1: there is already a property \"File\" above"
    );
    begins(
        &error("[[properties]]"),
        "line 1, column 3: unknown key 'properties': the keys are 'property', 'marker'",
    );
    assert!(error("[property]\n").contains("'property' must be a list of tables"));
    begins(&error("property = 1\n x"), "line 2, column ");
}

#[test]
fn endings_are_not_demanded_where_all_states_accept() {
    // `ends = []` and no sink: nothing would ever be reported.
    let text =
        GOOD.replacen("name", "ends = []\nname", 1).replacen("(open (read | eof)* close)*", ".* close", 1);
    assert!(error(&text).contains("accepts everything"));
    assert!(parse(&text.replacen("ends = []", "ends = [\"exit\"]", 1)).is_ok());
}

#[test]
fn markers_in_files_of_properties_stay() {
    assert_eq!(parse(&format!("[[marker]]\nanything = 1\n{GOOD}")).unwrap().len(), 1);
    assert_eq!(parse("").unwrap(), []);
}

#[test]
fn anything_is_read_or_refused() {
    arbtest::arbtest(|u| {
        // Files with a piece cut out, doubled, or replaced.
        let pieces: Vec<&str> = GOOD.split_inclusive([' ', '\n', '"', '(', ')']).collect();
        let mut text = String::new();
        for piece in &pieces {
            match u.int_in_range(0..=30)? {
                0 => {}
                1 => text += &piece.repeat(2),
                2 => text += u.choose(&pieces)?,
                _ => text += piece,
            }
        }
        if let Err(error) = parse(&text) {
            assert!(error.line <= text.lines().count() + 1 && error.column > 0, "{error}");
        }
        Ok(())
    });
}
