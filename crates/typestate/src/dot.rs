//! Automata as graphs for Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::property::Property;

/// A graph of each property, as Graphviz source.
pub fn dot(properties: &[Property]) -> String {
    let mut out = String::new();
    for property in properties {
        // Writing to a string cannot fail.
        let _ = write_graph(&mut out, property);
    }
    out
}

fn write_graph(out: &mut String, property: &Property) -> std::fmt::Result {
    writeln!(out, "digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=circle];", property.name)?;
    writeln!(out, "  start [shape=point];")?;
    for (at, state) in property.automaton.states.iter().enumerate() {
        let (label, shape) = if property.automaton.sink == Some(at) {
            ("violation".to_owned(), "octagon")
        } else if state.accepting {
            (property.state_name(at), "doublecircle")
        } else {
            (property.state_name(at), "circle")
        };
        writeln!(out, "  s{at} [label=\"{label}\" shape={shape}];")?;
    }
    writeln!(out, "  start -> s0;")?;
    for (at, state) in property.automaton.states.iter().enumerate() {
        let mut edges: BTreeMap<usize, u64> = BTreeMap::new();
        for (event, &to) in state.next.iter().enumerate() {
            *edges.entry(to).or_default() |= 1 << event;
        }
        for (to, set) in edges {
            // An event that is switched off.
            let style = if to == at { " style=dashed" } else { "" };
            writeln!(out, "  s{at} -> s{to} [label=\"{}\"{style}];", property.names(set).join("\\n"))?;
        }
    }
    writeln!(out, "}}")
}
