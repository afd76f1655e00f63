//! Properties as text for the runtime, which parses only lines and tabs (docs/research/typestate.md
//! specifies the format).

use std::fmt::Write;

use crate::property::{Objects, Property};

/// The first line: the name and version of the format.
pub const HEAD: &str = "cctrewrite typestate 1";

/// All properties of a file, encoded.
pub fn encoded(properties: &[Property]) -> String {
    let mut text = format!("{HEAD}\n");
    for property in properties {
        // Writing to a string cannot fail.
        let _ = write_property(&mut text, property);
    }
    text += "end\n";
    text
}

fn write_property(out: &mut String, property: &Property) -> std::fmt::Result {
    let ends = u8::from(property.ends.death) + 2 * u8::from(property.ends.exit);
    let Property { name, message, text, level, .. } = property;
    let sink = property.automaton.sink.map_or("-".to_owned(), |sink| sink.to_string());
    writeln!(out, "property\t{name}\t{}\t{ends}\t{sink}\t{message}\t{text}", level.word())?;
    match &property.objects {
        Objects::One(object) => writeln!(out, "objects\t{object}")?,
        Objects::Pair { parent, child } => writeln!(out, "objects\t{parent}\t{child}")?,
    }
    for (of, types) in [("object", &property.object_types), ("parent", &property.parent_types)] {
        if !types.0.is_empty() {
            writeln!(out, "types\t{of}\t{}", types.0.join(" "))?;
        }
    }
    if let Some(unknown) = property.unknown() {
        writeln!(out, "unknown\t{unknown}")?;
    }
    for event in &property.events {
        writeln!(out, "event\t{}\t{}", event.name, event.of.word())?;
    }
    for (at, state) in property.automaton.states.iter().enumerate() {
        let next: Vec<String> = state.next.iter().map(usize::to_string).collect();
        let outgoing = property.automaton.outgoing(at);
        let accepting = u8::from(state.accepting);
        let name = property.state_name(at);
        writeln!(out, "state\t{accepting}\t{outgoing:x}\t{}\t{name}", next.join(" "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_lines() {
        let text = include_str!("../properties/file-api.toml");
        let encoded = encoded(&crate::file::parse(text).unwrap());
        let expected = "cctrewrite typestate 1\n\
            property\tFileApi\terror\t3\t2\tA file is opened before it is read or written, and closed at last\t(open (read | eof | write)* close)*\n\
            objects\tfile\n\
            event\topen\tobject\nevent\tread\tobject\nevent\twrite\tobject\nevent\teof\tobject\nevent\tclose\tobject\n\
            state\t1\t1f\t1 2 2 2 2\t^\n\
            state\t0\t11\t2 1 1 1 0\topen\n\
            state\t0\t0\t2 2 2 2 2\tread\n\
            end\n";
        assert_eq!(encoded.lines().next(), Some(HEAD));
        let lines: Vec<&str> = encoded.lines().filter(|line| !line.is_empty()).collect();
        let begin = lines.iter().position(|line| line.starts_with("property\tFileApi\t")).unwrap();
        let end = lines[begin + 1..]
            .iter()
            .position(|line| line.starts_with("property") || *line == "end")
            .unwrap();
        let ours = [&[HEAD], &lines[begin..=begin + end], &["end"]].concat();
        assert_eq!(ours, expected.lines().map(str::trim_start).collect::<Vec<_>>());
    }
}
