//! Regular expressions whose letters are names of events.
//!
//! ```text
//! alternatives = sequence { "|" sequence }
//! sequence     = repeated { repeated }
//! repeated     = atom { "*" | "+" | "?" }
//! atom         = NAME | "." | "(" alternatives ")" | "nested(" NAME NAME NUMBER ")"
//! ```
//!
//! Names are those of the property's events; `.` is any of them. `nested(a b 8)` is any sequence in
//! which each `a` has its `b` later, as parentheses have, up to eight levels; after a further level
//! nothing is known, and any events may follow. Spaces and ends of lines only separate names.

/// Maximum depth of nested parentheses and repetitions: far beyond normal use, and safe for the
/// stack.
const DEEPEST: usize = 100;

/// Maximum number of characters of an expression.
const LONGEST: usize = 10_000;

/// Maximum number of levels of `nested`: the expression that it stands for grows with their square.
const MOST_LEVELS: u32 = 32;

/// The word for nested events, unless an event has that name.
const NESTED: &str = "nested";

/// An expression. Letters are positions in the property's list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// One event.
    Event(usize),
    /// Any event of the property.
    Any,
    /// All of these in order.
    Sequence(Vec<Expression>),
    /// One of these.
    Alternatives(Vec<Expression>),
    /// A repetition, with its minimum and maximum.
    Repeated {
        /// The repeated expression.
        what: Box<Expression>,
        /// Minimum number of repetitions, 0 or 1.
        least: u32,
        /// Whether more than once is possible.
        many: bool,
    },
}

/// A fault of an expression, with its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ExpressionError {
    /// Byte offset in the expression.
    pub at: usize,
    /// The fault at that offset.
    pub problem: Fault,
}

/// The fault of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The expression is empty.
    #[error("the expression is empty")]
    Nothing,
    /// A name that no event has.
    #[error("'{name}' is not an event of this property; its events are {known}")]
    UnknownEvent {
        /// The name.
        name: String,
        /// The known ones.
        known: String,
    },
    /// A wrong `nested`.
    #[error("it must be {NESTED}(BEGIN END LEVELS): two events, and 1 to {MOST_LEVELS} levels")]
    Nested,
    /// A character without a meaning at its location.
    #[error("'{0}' is not allowed in expressions: use names, '.', '|', '*', '+', '?' and parentheses")]
    Character(char),
    /// An empty alternative, sequence or pair of parentheses.
    #[error("expected an event or '(' before {0}; '?' marks an optional event")]
    Expected(String),
    /// An unclosed parenthesis.
    #[error("this '(' is never closed")]
    Open,
    /// A closing parenthesis without an opening one.
    #[error("this ')' closes nothing")]
    Closing,
    /// The expression exceeds the maximum depth.
    #[error("the expression is too deep: the limit is {DEEPEST} nested parentheses and repetitions")]
    Deep,
    /// The expression exceeds the maximum length.
    #[error("the expression is too long: the limit is {LONGEST} bytes")]
    Long,
}

/// Whether a text can be an event's name: letters, digits, `_` and `-`, a letter first.
pub fn is_event_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_in_name)
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl Expression {
    /// Parses an expression over these events.
    ///
    /// # Errors
    /// The first fault, with its location.
    pub fn parse(text: &str, events: &[String]) -> Result<Expression, ExpressionError> {
        let fault = |at, problem| ExpressionError { at, problem };
        if text.len() > LONGEST {
            return Err(fault(LONGEST, Fault::Long));
        }
        if text.trim().is_empty() {
            return Err(fault(0, Fault::Nothing));
        }
        let mut parser = Parser { text, at: 0, events };
        let expression = parser.alternatives(0)?;
        match parser.peek() {
            Some(_) => Err(fault(parser.at, Fault::Closing)),
            None => Ok(expression),
        }
    }

    /// Whether a text has a `nested`, after whose last level nothing is known.
    pub fn has_levels(text: &str, events: &[String]) -> bool {
        let mut words = text.split(|c| !is_in_name(c));
        words.any(|word| word == NESTED) && !events.iter().any(|event| event == NESTED)
    }

    /// Whether the expression accepts this word, by the definition, slowly. Tests compare automata
    /// with it.
    pub fn accepts(&self, word: &[usize]) -> bool {
        self.ends(word, 0).contains(&word.len())
    }

    /// The possible ends of a match that starts at `from`.
    fn ends(&self, word: &[usize], from: usize) -> std::collections::BTreeSet<usize> {
        match self {
            Expression::Event(event) => {
                (word.get(from) == Some(event)).then_some(from + 1).into_iter().collect()
            }
            Expression::Any => (from < word.len()).then_some(from + 1).into_iter().collect(),
            Expression::Alternatives(all) => all.iter().flat_map(|e| e.ends(word, from)).collect(),
            Expression::Sequence(all) => all.iter().fold([from].into(), |starts, e| {
                starts.into_iter().flat_map(|start| e.ends(word, start)).collect()
            }),
            Expression::Repeated { what, least, many } => {
                let once = what.ends(word, from);
                let mut all = once.clone();
                let mut new = once;
                while *many && !new.is_empty() {
                    let next = new
                        .iter()
                        .flat_map(|&start| what.ends(word, start))
                        .collect::<std::collections::BTreeSet<_>>();
                    new = next.difference(&all).copied().collect();
                    all.extend(&new);
                }
                if *least == 0 {
                    all.insert(from);
                }
                all
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    events: &'a [String],
}

impl Parser<'_> {
    /// The next character other than a space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.text.get(self.at..)?;
        let blank = rest.len() - rest.trim_start().len();
        self.at += blank;
        rest.get(blank..)?.chars().next()
    }

    fn event(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|event| event == name)
    }

    /// Parses `nested(BEGIN END LEVELS)`.
    fn nested(&mut self) -> Result<Expression, ExpressionError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let inside = rest.strip_prefix(NESTED).map(str::trim_start).and_then(|r| r.strip_prefix('('));
        let Some((inside, _)) = inside.and_then(|inside| inside.split_once(')')) else {
            return self.fault(Fault::Nested);
        };
        let words: Vec<&str> = inside.split_whitespace().collect();
        let [begin, end, levels] = words[..] else { return self.fault(Fault::Nested) };
        let levels = levels.parse().ok().filter(|levels| (1..=MOST_LEVELS).contains(levels));
        let (Some(begin), Some(end), Some(levels)) = (self.event(begin), self.event(end), levels) else {
            return self.fault(Fault::Nested);
        };
        self.at += rest.find(')').map_or(rest.len(), |at| at + 1);
        Ok(nested(begin, end, levels))
    }

    fn fault<T>(&self, problem: Fault) -> Result<T, ExpressionError> {
        Err(ExpressionError { at: self.at, problem })
    }

    fn alternatives(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let mut all = vec![self.sequence(depth)?];
        while self.peek() == Some('|') {
            self.at += 1;
            all.push(self.sequence(depth)?);
        }
        Ok(if all.len() > 1 { Expression::Alternatives(all) } else { all.remove(0) })
    }

    fn sequence(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let mut all = vec![self.repeated(depth)?];
        while !matches!(self.peek(), None | Some('|' | ')')) {
            all.push(self.repeated(depth)?);
        }
        Ok(if all.len() > 1 { Expression::Sequence(all) } else { all.remove(0) })
    }

    fn repeated(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let mut expression = self.atom(depth)?;
        let mut times = 0;
        while let Some(sign @ ('*' | '+' | '?')) = self.peek() {
            times += 1;
            if depth + times > DEEPEST {
                return self.fault(Fault::Deep);
            }
            self.at += 1;
            let (least, many) = (u32::from(sign == '+'), sign != '?');
            expression = Expression::Repeated { what: Box::new(expression), least, many };
        }
        Ok(expression)
    }

    fn atom(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let next = self.peek();
        match next {
            Some('(') => {
                let open = self.at;
                if depth >= DEEPEST {
                    return self.fault(Fault::Deep);
                }
                self.at += 1;
                let inside = self.alternatives(depth + 1)?;
                if self.peek() != Some(')') {
                    self.at = open;
                    return self.fault(Fault::Open);
                }
                self.at += 1;
                Ok(inside)
            }
            Some('.') => {
                self.at += 1;
                Ok(Expression::Any)
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let name = rest.split(|c| !is_in_name(c)).next().unwrap_or_default();
                let event = self.event(name);
                if event.is_none() && name == NESTED {
                    return self.nested();
                }
                let Some(event) = event else {
                    let known = self.events.join(", ");
                    return self.fault(Fault::UnknownEvent { name: name.to_owned(), known });
                };
                self.at += name.len();
                Ok(Expression::Event(event))
            }
            Some(c @ (')' | '|' | '*' | '+' | '?')) => self.fault(Fault::Expected(format!("'{c}'"))),
            Some(c) => self.fault(Fault::Character(c)),
            None => self.fault(Fault::Expected("the end".to_owned())),
        }
    }
}

/// Balanced events, and those that exceed the levels. With `B(n)` for balanced events of up to `n`
/// levels: `B(n)`, or `B(n) begin B(n-1) begin ... B(1) begin begin` and then any events.
fn nested(begin: usize, end: usize, levels: u32) -> Expression {
    let any_number = |what| Expression::Repeated { what: Box::new(what), least: 0, many: true };
    let mut balanced: Option<Expression> = None;
    let mut beyond = Expression::Sequence(vec![Expression::Event(begin), any_number(Expression::Any)]);
    for _ in 0..levels {
        let inside = [Some(Expression::Event(begin)), balanced, Some(Expression::Event(end))];
        let inner = any_number(Expression::Sequence(inside.into_iter().flatten().collect()));
        beyond = Expression::Sequence(vec![inner.clone(), Expression::Event(begin), beyond]);
        balanced = Some(inner);
    }
    Expression::Alternatives(balanced.into_iter().chain([beyond]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<String> {
        ["open", "read", "has-next"].map(str::to_owned).to_vec()
    }

    fn fault(text: &str) -> (usize, Fault) {
        let error = Expression::parse(text, &events()).unwrap_err();
        (error.at, error.problem)
    }

    #[test]
    fn expressions_are_read() {
        let of = |text| Expression::parse(text, &events()).unwrap();
        let star = |what, least, many| Expression::Repeated { what: Box::new(what), least, many };
        assert_eq!(of(" open "), Expression::Event(0));
        assert_eq!(of("((has-next))"), Expression::Event(2));
        assert_eq!(of("open|read\n|."), {
            Expression::Alternatives(vec![Expression::Event(0), Expression::Event(1), Expression::Any])
        });
        // Repetition binds closest, then sequence.
        assert_eq!(
            of("open read* | read+?"),
            Expression::Alternatives(vec![
                Expression::Sequence(vec![Expression::Event(0), star(Expression::Event(1), 0, true)]),
                star(star(Expression::Event(1), 1, true), 0, false),
            ])
        );
    }

    #[test]
    fn nested_events_are_balanced_up_to_a_level() {
        let two = Expression::parse("nested(open read 2)", &events()).unwrap();
        for (word, is_accepted) in [
            (&[][..], true),
            (&[0, 1, 0, 1], true),
            (&[0, 0, 1, 0, 1, 1], true),
            (&[0], false),
            (&[0, 0, 1], false),
            (&[1], false),
            (&[0, 1, 1], false),
            // The third level: nothing is known any more.
            (&[0, 0, 0], true),
            (&[0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 2], true),
        ] {
            assert_eq!(two.accepts(word), is_accepted, "{word:?}");
        }
        assert!(Expression::parse("nested ( open\n read 32 )* has-next", &events()).is_ok());
        assert!(Expression::has_levels("a nested(b c 1)", &events()));
        assert!(!Expression::has_levels("nested-a b", &events()));
        let named = ["nested".to_owned()];
        assert!(!Expression::has_levels("nested", &named));
        assert_eq!(Expression::parse("nested", &named), Ok(Expression::Event(0)));
        for text in ["nested", "nested(open read)", "nested(open read 0)", "nested(open read 33)"] {
            assert_eq!(fault(&format!("open {text}")), (5, Fault::Nested), "{text}");
        }
        assert_eq!(fault("nested(open raed 2)"), (0, Fault::Nested));
        assert_eq!(fault("nested(open read 2"), (0, Fault::Nested));
    }

    #[test]
    fn faults_have_their_places() {
        assert_eq!(fault("  "), (0, Fault::Nothing));
        assert!(matches!(fault("open raed"), (5, Fault::UnknownEvent { name, .. }) if name == "raed"));
        assert_eq!(fault("open ; read"), (5, Fault::Character(';')));
        assert_eq!(fault("open [read]"), (5, Fault::Character('[')));
        assert_eq!(fault("(open | )"), (8, Fault::Expected("')'".into())));
        assert_eq!(fault("open |"), (6, Fault::Expected("the end".into())));
        assert_eq!(fault("()"), (1, Fault::Expected("')'".into())));
        assert_eq!(fault("*open"), (0, Fault::Expected("'*'".into())));
        assert_eq!(fault("open (read"), (5, Fault::Open));
        assert_eq!(fault("open) read"), (4, Fault::Closing));
        assert!(matches!(fault(&"(".repeat(5000)), (100, Fault::Deep)));
        assert!(matches!(fault(&format!("open{}", "*".repeat(5000))), (104, Fault::Deep)));
        assert!(matches!(fault(&"open ".repeat(5000)), (_, Fault::Long)));
    }

    #[test]
    fn anything_is_read_or_refused() {
        arbtest::arbtest(|u| {
            let words = ["open", "read", "nested", "2", "(", ")", "*", "+", "?", "|", ".", " ", "ü", "x"];
            let mut text = String::new();
            for _ in 0..u.int_in_range(0..=30)? {
                text += u.choose(&words)?;
            }
            if let Err(error) = Expression::parse(&text, &events()) {
                assert!(text.is_char_boundary(error.at), "{text}: {error:?}");
            }
            Ok(())
        });
    }
}
