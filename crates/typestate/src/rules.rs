//! Rules of markers for properties: `[[marker]]`, one for each location of each event.

use std::fmt::Write;

use crate::property::{EventTime, Objects, Place, Property, Role, Words};

/// The rules as a file for `--markers`.
///
/// A rule's token is the property's name. Its predicate is for the runtime's client: the event, its
/// time, the roles of object and parent (`-` for none), `if-result` if the result decides, and
/// `of-program` if the caller of a method does.
pub fn rules(properties: &[Property]) -> String {
    let mut text = String::new();
    for property in properties {
        for event in &property.events {
            for place in &event.places {
                // Writing to a string cannot fail.
                let _ = write_rule(&mut text, property, &event.name, place);
            }
        }
    }
    text
}

fn write_rule(out: &mut String, property: &Property, event: &str, place: &Place) -> std::fmt::Result {
    writeln!(out, "[[marker]]\ntoken = {}", toml_string(&property.name))?;
    writeln!(out, "predicate = {}", toml_string(&predicate(event, place)))?;
    if !place.rule.iter().any(|(key, _)| key == "at") {
        writeln!(out, "at = \"method\"")?;
    }
    for (key, value) in &place.rule {
        match value {
            // The client tests the callers of methods: the rule is the same for all.
            _ if key == "callers" && place.is_method() => {}
            Words::One(text) => writeln!(out, "{key} = {}", toml_string(text))?,
            Words::Numbers(all) => writeln!(out, "{key} = {all:?}")?,
            Words::Flag(flag) if key == "callee-subtypes" => writeln!(out, "{key} = {flag}")?,
            Words::Flag(_) => {}
        }
    }
    if place.is_call() && place.is_of_program() && place.said("callers").is_none() {
        writeln!(out, "callers = \"program\"")?;
    }
    if matches!(property.objects, Objects::One(_)) && is_per_object(place) {
        writeln!(out, "per-object = true")?;
    }
    let kind = if place.when == EventTime::Return { "pair" } else { "one-way" };
    writeln!(out, "kind = \"{kind}\"")?;
    let mut context: Vec<&str> = Vec::new();
    let condition = place.if_result.then_some(Role::Result);
    for role in [place.object, place.parent, condition].into_iter().flatten() {
        let word = match role {
            Role::Receiver => "receiver",
            Role::Result => "result",
            Role::Argument(_) => "arguments",
        };
        if !context.contains(&word) {
            context.push(word);
        }
    }
    writeln!(out, "context = {context:?}\n")
}

/// Whether objects get a field for the marker: objects of a method's own class do, unless the file
/// says otherwise.
fn is_per_object(place: &Place) -> bool {
    let said = |name: &str| place.said(name);
    let wanted = match said("per-object") {
        Some(said) => *said == Words::Flag(true),
        // Rules for interfaces and constructors cannot have it.
        None => said("subtypes-of").is_none() && said("method") != Some(&Words::One("<init>".to_owned())),
    };
    place.is_method() && wanted && place.object == Some(Role::Receiver)
}

/// The predicate of a marker, for the client.
pub fn predicate(event: &str, place: &Place) -> String {
    let role = |role: Option<Role>| role.map_or("-".to_owned(), |role| role.to_string().replace(' ', ":"));
    let of_result = if place.if_result { " if-result" } else { "" };
    let of_caller = if place.is_of_program() && place.is_method() { " of-program" } else { "" };
    let (object, parent) = (role(place.object), role(place.parent));
    format!("{event} {} {object} {parent}{of_result}{of_caller}", place.when.word())
}

/// A text as a basic string of TOML.
fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_rule() {
        let text = r#"
            [[property]]
            name = "P"
            message = "m"
            expression = "create use*"
            objects = ["collection", "iterator"]
            [property.events]
            create = { class = "a.\"B", method = "iterator", when = "return", child = "result", parent = "receiver" }
            use = [{ class = "C", method = "m", child = "receiver" }, { class = "D", child = "receiver", per-object = false }, { callee = "c", at = "line", lines = [1, 2], child = "argument 1" }]
        "#;
        let rules = rules(&crate::file::parse(text).unwrap());
        assert_eq!(
            rules,
            "[[marker]]\ntoken = \"P\"\npredicate = \"create return result receiver\"\nat = \"method\"\nclass = \"a.\\\"B\"\nmethod = \"iterator\"\n\
             kind = \"pair\"\ncontext = [\"result\", \"receiver\"]\n\n\
             [[marker]]\ntoken = \"P\"\npredicate = \"use enter receiver -\"\nat = \"method\"\nclass = \"C\"\nmethod = \"m\"\n\
             kind = \"one-way\"\ncontext = [\"receiver\"]\n\n\
             [[marker]]\ntoken = \"P\"\npredicate = \"use enter receiver -\"\nat = \"method\"\nclass = \"D\"\n\
             kind = \"one-way\"\ncontext = [\"receiver\"]\n\n\
             [[marker]]\ntoken = \"P\"\npredicate = \"use enter argument:1 -\"\ncallee = \"c\"\nat = \"line\"\nlines = [1, 2]\n\
             kind = \"one-way\"\ncontext = [\"arguments\"]\n\n"
        );
        let single = "[[property]]\nname = \"P\"\nmessage = \"m\"\nexpression = \"a b c\"\n[property.events]\na = { class = \"C\" }\nb = { class = \"C\", per-object = false }\nc = { callee = \"d\", at = \"call\" }\n";
        let single = super::rules(&crate::file::parse(single).unwrap());
        assert_eq!(single.matches("callers = \"program\"").count(), 1);
        // Only the first one gives objects a field.
        assert_eq!(single.matches("per-object = true").count(), 1);
        assert!(single.find("per-object") < single.find("b enter"), "{single}");
        let calls = "[[property]]\nname = \"P\"\nmessage = \"m\"\nexpression = \"a b\"\n[property.types]\nobject = [\"D\"]\n[property.events]\na = { callee = \"d.D.m\", callee-subtypes = true, at = \"call\", when = \"return\", if = \"result\" }\nb = { callee = \"d.D.n\", at = \"call\", callers = \"all\" }\n";
        let calls = crate::file::parse(calls).unwrap();
        assert_eq!(
            super::rules(&calls),
            "[[marker]]\ntoken = \"P\"\npredicate = \"a return receiver - if-result\"\ncallee = \"d.D.m\"\n\
             callee-subtypes = true\nat = \"call\"\ncallers = \"program\"\nkind = \"pair\"\n\
             context = [\"receiver\", \"result\"]\n\n\
             [[marker]]\ntoken = \"P\"\npredicate = \"b enter receiver -\"\ncallee = \"d.D.n\"\nat = \"call\"\n\
             callers = \"all\"\nkind = \"one-way\"\ncontext = [\"receiver\"]\n\n"
        );
        let methods = "[[property]]\nname = \"P\"\nmessage = \"m\"\nexpression = \"a b\"\n[property.events]\na = { class = \"C\", callers = \"program\", per-object = false }\nb = { class = \"C\", callers = \"all\", per-object = false }\n";
        assert_eq!(
            super::rules(&crate::file::parse(methods).unwrap()),
            "[[marker]]\ntoken = \"P\"\npredicate = \"a enter receiver - of-program\"\nat = \"method\"\nclass = \"C\"\n\
             kind = \"one-way\"\ncontext = [\"receiver\"]\n\n\
             [[marker]]\ntoken = \"P\"\npredicate = \"b enter receiver -\"\nat = \"method\"\nclass = \"C\"\n\
             kind = \"one-way\"\ncontext = [\"receiver\"]\n\n"
        );
        let tables = crate::encoded::encoded(&calls);
        assert!(tables.contains("objects\tobject\ntypes\tobject\tD\nevent\ta\tobject\n"), "{tables}");
        // The output is valid TOML, and the reader accepts a file with both.
        assert_eq!(crate::file::parse(&(text.to_owned() + &rules)).unwrap().len(), 1);
    }
}
