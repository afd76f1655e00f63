//! `cctrewrite typestate check`.

use std::fmt::Write;

use anyhow::Result;
use cct_typestate::Property;
use cct_typestate::property::{Objects, Of};

use crate::args::{CheckFormat, TypestateCheck};

/// Runs the command.
pub fn run(arguments: &TypestateCheck) -> Result<()> {
    let properties = super::properties(&arguments.file)?;
    let text = match arguments.format {
        CheckFormat::Dot => cct_typestate::dot::dot(&properties),
        CheckFormat::Text => {
            let mut text = String::new();
            for property in &properties {
                write_property(&mut text, property)?;
            }
            text
        }
    };
    super::write(None, &text)
}

fn write_property(out: &mut String, property: &Property) -> std::fmt::Result {
    let Property { name, message, text, level, automaton, .. } = property;
    writeln!(out, "{name} ({}): {message}", level.word())?;
    writeln!(out, "  {text}")?;
    match &property.objects {
        Objects::One(object) => writeln!(out, "  of each {object}")?,
        Objects::Pair { parent, child } => writeln!(out, "  of each {child}, with its {parent}")?,
    }
    let (object, parent) = match &property.objects {
        Objects::One(object) => (object, object),
        Objects::Pair { parent, child } => (child, parent),
    };
    for (object, types) in [(object, &property.object_types), (parent, &property.parent_types)] {
        if !types.0.is_empty() {
            writeln!(out, "  only {object} of {}", types.0.join(", "))?;
        }
    }
    let ends = match (automaton.has_open_ends(), property.ends.death, property.ends.exit) {
        (false, ..) => "in any state that is not a violation",
        (true, true, true) => "in a final state, whether they die or the program ends",
        (true, true, false) => "in a final state when they die",
        (true, false, true) => "in a final state when the program ends",
        (true, false, false) => "in any state",
    };
    writeln!(out, "  objects may end {ends}")?;
    for event in &property.events {
        let of = match event.of {
            Of::Object => "",
            Of::Parent => "  (of the other)",
            Of::Creation => "  (one comes from the other)",
        };
        let places = event.places.len();
        let of_program = event.places.iter().filter(|place| place.is_of_program()).count();
        let callers = match places - of_program {
            0 => " outside the class library",
            all if all == places => "",
            _ => ", some of them outside the class library only",
        };
        writeln!(
            out,
            "  event {} at {places} kind{} of places{callers}{of}",
            event.name,
            if places == 1 { "" } else { "s" }
        )?;
    }
    if property.unknown().is_some() {
        writeln!(out, "  after too many levels nothing is known of an object")?;
    }
    let mut rows = vec![["state", "", "heard", "not heard", "transitions"].map(str::to_owned)];
    for at in 0..automaton.states.len() {
        rows.push(row(property, at));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    for row in &rows {
        let fields: Vec<String> =
            row.iter().zip(&widths).map(|(field, width)| format!("{field:<width$}")).collect();
        writeln!(out, "  {}", fields.join("  ").trim_end())?;
    }
    writeln!(out)
}

fn row(property: &Property, at: usize) -> [String; 5] {
    let automaton = &property.automaton;
    let called = |state: usize| {
        if automaton.sink == Some(state) {
            "violation".to_owned()
        } else if property.unknown() == Some(state) {
            "not known".to_owned()
        } else {
            property.state_name(state)
        }
    };
    let set = |set: u64| if set == 0 { "-".to_owned() } else { property.names(set).join(" ") };
    let kind = match (automaton.sink == Some(at), automaton.states[at].accepting) {
        (true, _) => "sink",
        (false, true) => "final",
        (false, false) => "",
    };
    let outgoing = automaton.outgoing(at);
    let events = property.events.iter().enumerate().filter(|(event, _)| outgoing >> event & 1 != 0);
    let transitions: Vec<String> =
        events.map(|(event, e)| format!("{} -> {}", e.name, called(automaton.step(at, event)))).collect();
    [called(at), kind.to_owned(), set(outgoing), set(automaton.self_loops(at)), transitions.join(", ")]
}
