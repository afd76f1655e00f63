//! Minimal deterministic automata of expressions (thesis 4.1, 4.2.1).
//!
//! Letters are event names in the expression and bytes in the automaton: event `i` is the byte `i`.
//! The expression becomes the form that `regex-syntax` would produce for one over bytes, and
//! `regex-automata` determinises and minimises it. Its tables, built for searching text, become our
//! states by a walk from the start. The end-of-text transitions decide which states accept.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};

use crate::expression::Expression;

/// Maximum number of events of a property: their sets are words of 64 bits.
pub const MOST_EVENTS: usize = 63;

/// Maximum number of states of an automaton.
const MOST_STATES: usize = 1000;

/// Maximum memory in bytes for tables while they are built. The time for minimising grows faster
/// than this.
const LARGEST: usize = 256 << 10;

/// The automaton exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the expression has too many states: the limit is {MOST_STATES}")]
pub struct TooLarge;

/// A state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The next state for each event.
    pub next: Vec<usize>,
    /// Whether the expression accepts the events that lead to this state.
    pub accepting: bool,
    /// A shortest sequence of events that leads to this state.
    pub path: Vec<usize>,
}

/// A minimal automaton. State 0 is the initial state of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automaton {
    /// Number of events.
    pub events: usize,
    /// States in the order of their shortest sequences; among equal lengths, in the order of
    /// events.
    pub states: Vec<State>,
    /// The state from which no accepting state can be reached, if there is one: an object that
    /// enters it has violated the property.
    pub sink: Option<usize>,
}

impl Automaton {
    /// The automaton of an expression over this many events.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn of(expression: &Expression, events: usize) -> Result<Automaton, TooLarge> {
        let whole = Hir::concat(vec![hir(expression, events), Hir::look(Look::End)]);
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .which_captures(WhichCaptures::None)
                    .nfa_size_limit(Some(16 * LARGEST)),
            )
            .build_from_hir(&whole)
            .map_err(|_| TooLarge)?;
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(StartKind::Anchored)
                    .match_kind(MatchKind::All)
                    .minimize(true)
                    .dfa_size_limit(Some(LARGEST))
                    .determinize_size_limit(Some(16 * LARGEST)),
            )
            .build_from_nfa(&nfa)
            .map_err(|_| TooLarge)?;
        let start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).map_err(|_| TooLarge)?;
        walk(&dfa, start, events)
    }

    /// The state after an event.
    pub fn step(&self, state: usize, event: usize) -> usize {
        self.states[state].next[event]
    }

    /// The state after a sequence of events from the initial state.
    pub fn run(&self, word: &[usize]) -> usize {
        word.iter().fold(0, |state, &event| self.step(state, event))
    }

    /// Events that do not change a state (thesis, Table 4.2). They can be ignored while an object
    /// is in that state.
    pub fn self_loops(&self, state: usize) -> u64 {
        let next = self.states[state].next.iter().enumerate();
        next.filter(|&(_, &to)| to == state).fold(0, |set, (event, _)| set | 1 << event)
    }

    /// Events that change the state.
    pub fn outgoing(&self, state: usize) -> u64 {
        !self.self_loops(state) & ((1 << self.events) - 1)
    }

    /// Whether a state other than the sink is not accepting. Then the state in which an object ends
    /// matters.
    pub fn has_open_ends(&self) -> bool {
        self.states.iter().enumerate().any(|(at, state)| !state.accepting && Some(at) != self.sink)
    }
}

fn hir(expression: &Expression, events: usize) -> Hir {
    let byte = |event: usize| u8::try_from(event).unwrap_or(u8::MAX);
    match expression {
        Expression::Event(event) => Hir::literal([byte(*event)]),
        Expression::Any => {
            let all = ClassBytesRange::new(0, byte(events.saturating_sub(1)));
            Hir::class(Class::Bytes(ClassBytes::new([all])))
        }
        Expression::Sequence(all) => Hir::concat(all.iter().map(|e| hir(e, events)).collect()),
        Expression::Alternatives(all) => Hir::alternation(all.iter().map(|e| hir(e, events)).collect()),
        Expression::Repeated { what, least, many } => Hir::repetition(Repetition {
            min: *least,
            max: if *many { None } else { Some(1) },
            greedy: true,
            sub: Box::new(hir(what, events)),
        }),
    }
}

/// Builds the states from those of `regex-automata` that events reach, breadth first.
fn walk(dfa: &dense::DFA<Vec<u32>>, start: StateID, events: usize) -> Result<Automaton, TooLarge> {
    let mut numbers = BTreeMap::from([(start, 0)]);
    let mut order = VecDeque::from([(start, Vec::new())]);
    let mut states: Vec<State> = Vec::new();
    while let Some((id, path)) = order.pop_front() {
        if states.len() == MOST_STATES {
            return Err(TooLarge);
        }
        let mut next = Vec::with_capacity(events);
        for event in 0..events {
            let to = dfa.next_state(id, u8::try_from(event).map_err(|_| TooLarge)?);
            let new = numbers.len();
            let number = *numbers.entry(to).or_insert(new);
            if number == new {
                let mut path = path.clone();
                path.push(event);
                order.push_back((to, path));
            }
            next.push(number);
        }
        // Its states report a match one step late; an accepting state here is one at the end of the
        // text.
        let accepting = dfa.is_match_state(dfa.next_eoi_state(id));
        states.push(State { next, accepting, path });
    }
    let is_sink = |(at, state): (usize, &State)| !state.accepting && state.next.iter().all(|&to| to == at);
    let sink = states.iter().enumerate().position(is_sink);
    Ok(Automaton { events, states, sink })
}

#[cfg(test)]
mod tests {
    use arbtest::arbitrary::{Result, Unstructured};

    use super::*;

    fn events(number: usize) -> Vec<String> {
        (0..number).map(|i| char::from(b'a' + i as u8).to_string()).collect()
    }

    fn of(text: &str, number: usize) -> Automaton {
        Automaton::of(&Expression::parse(text, &events(number)).unwrap(), number).unwrap()
    }

    /// Table 4.2 of the thesis, for `(open (read|write|eof)* close)*`.
    #[test]
    fn the_file_api_is_that_of_the_thesis() {
        // open read write eof close
        let file = of("(a (b|c|d)* e)*", 5);
        assert_eq!(file.states.len(), 3);
        let sink = file.sink.unwrap();
        let open = file.step(0, 0);
        assert_eq!((file.self_loops(0), file.outgoing(0)), (0, 0b11111));
        assert_eq!((file.self_loops(open), file.outgoing(open)), (0b01110, 0b10001));
        assert_eq!((file.self_loops(sink), file.outgoing(sink)), (0b11111, 0));
        assert!(file.states[0].accepting && !file.states[open].accepting && file.has_open_ends());
        assert_eq!(file.run(&[0, 1, 2, 3, 3, 1, 4, 0, 4]), 0);
        assert_eq!(file.run(&[1]), sink);
        assert_eq!(file.states[open].path, [0]);
    }

    /// Figure 4.4: HasNextOnce ignores all events after the first one, HasNext always observes one
    /// of the two.
    #[test]
    fn iterators_are_those_of_the_thesis() {
        // has-next next
        let once = of("(a .*)?", 2);
        assert_eq!((once.states.len(), once.outgoing(once.run(&[0]))), (3, 0));
        assert_eq!(once.run(&[1]), once.sink.unwrap());
        let each = of("(a+ b)* a*", 2);
        assert_eq!((each.states.len(), each.outgoing(0), each.outgoing(each.run(&[0]))), (3, 0b11, 0b10));
        assert_eq!(each.run(&[0, 0, 1, 1]), each.sink.unwrap());
        assert!(!each.has_open_ends() && !once.has_open_ends());
    }

    #[test]
    fn expressions_that_accept_everything_have_one_state_and_no_sink() {
        let all = of(".*", 3);
        assert_eq!((all.states.len(), all.sink, all.self_loops(0)), (1, None, 0b111));
        // The maximum number of events.
        let many = Automaton::of(&Expression::Any, MOST_EVENTS).unwrap();
        assert_eq!((many.states.len(), many.outgoing(0)), (3, (1 << MOST_EVENTS) - 1));
    }

    #[test]
    fn too_many_states_are_refused() {
        let text = format!("(a|b)* a {}", "(a|b) ".repeat(14));
        let expression = Expression::parse(&text, &events(2)).unwrap();
        assert_eq!(Automaton::of(&expression, 2), Err(TooLarge));
    }

    fn any(u: &mut Unstructured<'_>, depth: u32, events: usize) -> Result<Expression> {
        let several = |u: &mut Unstructured<'_>| -> Result<Vec<Expression>> {
            (0..u.int_in_range(1..=3)?).map(|_| any(u, depth + 1, events)).collect()
        };
        Ok(match u.int_in_range(0..=if depth > 4 { 1 } else { 5 })? {
            0 => Expression::Any,
            1 | 2 => Expression::Event(u.choose_index(events)?),
            3 => Expression::Sequence(several(u)?),
            4 => Expression::Alternatives(several(u)?),
            _ => Expression::Repeated {
                what: Box::new(any(u, depth + 1, events)?),
                least: u.int_in_range(0..=1)?,
                many: u.arbitrary()?,
            },
        })
    }

    /// Words of the two lengths after the shortest ones distinguish any two states of a minimal
    /// automaton in small tests; here all words up to a length.
    fn words(events: usize, most: usize) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..most {
            let end = all.len();
            for at in from..end {
                for event in 0..events {
                    let mut word = all[at].clone();
                    word.push(event);
                    all.push(word);
                }
            }
            from = end;
        }
        all
    }

    #[test]
    fn automata_accept_what_expressions_accept() {
        let words = words(3, 6);
        arbtest::arbtest(|u| {
            let expression = any(u, 0, 3)?;
            let Ok(automaton) = Automaton::of(&expression, 3) else { return Ok(()) };
            for word in &words {
                let state = automaton.run(word);
                assert_eq!(
                    automaton.states[state].accepting,
                    expression.accepts(word),
                    "{expression:?} {word:?}"
                );
            }
            Ok(())
        });
    }

    /// Moore's refinement: some sequence distinguishes any two states, and all states are reached.
    #[test]
    fn automata_are_minimal() {
        arbtest::arbtest(|u| {
            let expression = any(u, 0, 3)?;
            let Ok(automaton) = Automaton::of(&expression, 3) else { return Ok(()) };
            let mut class: Vec<usize> = automaton.states.iter().map(|s| usize::from(s.accepting)).collect();
            for _ in 0..automaton.states.len() {
                let key = |s: usize| {
                    (class[s], automaton.states[s].next.iter().map(|&t| class[t]).collect::<Vec<_>>())
                };
                let mut keys: Vec<_> = (0..class.len()).map(key).collect();
                let refined = keys.clone();
                keys.sort();
                keys.dedup();
                class = refined.iter().map(|k| keys.binary_search(k).unwrap()).collect();
            }
            let mut distinct = class.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), automaton.states.len(), "{expression:?}");
            for (at, state) in automaton.states.iter().enumerate() {
                assert_eq!(automaton.run(&state.path), at);
            }
            Ok(())
        });
    }
}
