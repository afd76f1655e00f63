//! Entries: the methods that `bench` runs, as users write them.

use std::fmt;
use std::str::FromStr;

use cct_build::text::readable;

/// An entry.
///
/// | written | runs |
/// |---|---|
/// | `app.Bench.parse` | the static method, or the method of a `new app.Bench()` |
/// | `app.Bench.parse(1000, "big file")` | the same with arguments |
/// | `new app.Bench(1000).parse` | the method of an object that this constructor makes |
/// | `app.Bench.create(1000).parse` | the method of an object that this static method returns |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    text: String,
    /// The binary name of the class that is named.
    class: String,
    receiver: Receiver,
    call: Call,
}

/// The object whose method is run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Receiver {
    /// None for a static method, else an object made by the constructor without parameters.
    Default,
    /// An object made by a constructor with these arguments.
    Constructor(Vec<Argument>),
    /// The object that a static method returns.
    Factory(Call),
}

/// A method's name and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    method: String,
    arguments: Vec<Argument>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Argument {
    /// A string literal, without its quotes.
    Quoted(String),
    /// A number, `true`, `false`, `null`, or the name of an enum constant.
    Bare(String),
}

/// A text that is not an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not an entry; write it as app.Bench.parse, app.Bench.parse(1000, \"text\"), \
         new app.Bench(1000).parse or app.Bench.create(1000).parse", readable(.0.as_bytes()))]
pub struct NotAnEntry(String);

impl Entry {
    /// The entry as the user wrote it, without outer blanks: its name in the baseline.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        &self.call.method
    }

    /// The arguments of `cctrewrite.bench.Harness` for this entry: the class, the receiver, and
    /// the method; each list of arguments begins with its length.
    pub fn harness_arguments(&self) -> Vec<String> {
        let mut all = vec![self.class.clone()];
        let mut list = |kind: &str, name: &str, arguments: &[Argument]| {
            all.extend([kind.to_owned(), name.to_owned(), arguments.len().to_string()]);
            all.extend(arguments.iter().map(Argument::for_harness));
        };
        match &self.receiver {
            Receiver::Default => list("default", "", &[]),
            Receiver::Constructor(arguments) => list("new", "", arguments),
            Receiver::Factory(call) => list("factory", &call.method, &call.arguments),
        }
        list("method", &self.call.method, &self.call.arguments);
        all
    }

    /// The name of the entry's file of a profile: bytes other than letters, digits and `._$-` as
    /// `%` and two digits.
    pub fn file_name(&self) -> String {
        let mut name = String::new();
        for byte in self.text.bytes() {
            if byte.is_ascii_alphanumeric() || b"._$-".contains(&byte) {
                name.push(char::from(byte));
            } else {
                name.push_str(&format!("%{byte:02x}"));
            }
        }
        name + ".cct"
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Argument {
    /// The argument behind a letter for its kind.
    fn for_harness(&self) -> String {
        match self {
            Argument::Quoted(text) => format!("q{text}"),
            Argument::Bare(text) => format!("b{text}"),
        }
    }
}

impl FromStr for Entry {
    type Err = NotAnEntry;

    fn from_str(text: &str) -> Result<Entry, NotAnEntry> {
        let text = text.trim();
        parse(text).ok_or_else(|| NotAnEntry(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Entry> {
    let is_constructor = text.strip_prefix("new ");
    let mut rest = Rest(is_constructor.unwrap_or(text).trim_start());
    let path = rest.path()?;
    let arguments = rest.arguments()?;
    let entry = |class: &str, receiver, method: &str, arguments| Entry {
        text: text.to_owned(),
        class: class.to_owned(),
        receiver,
        call: Call { method: method.to_owned(), arguments },
    };
    let parsed = if is_constructor.is_some() {
        let arguments = arguments?;
        let (method, of_method) = rest.next_call()?;
        entry(path, Receiver::Constructor(arguments), method, of_method)
    } else {
        let (class, last) = path.rsplit_once('.')?;
        if rest.0.is_empty() {
            entry(class, Receiver::Default, last, arguments.unwrap_or_default())
        } else {
            let factory = Call { method: last.to_owned(), arguments: arguments? };
            let (method, of_method) = rest.next_call()?;
            entry(class, Receiver::Factory(factory), method, of_method)
        }
    };
    rest.0.is_empty().then_some(parsed)
}

/// The part of an entry that has not been read.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// Names separated by dots, up to a parenthesis or the end.
    fn path(&mut self) -> Option<&'t str> {
        let end = self.0.find('(').unwrap_or(self.0.len());
        let (path, rest) = self.0.split_at(end);
        self.0 = rest;
        path.split('.').all(is_name).then_some(path)
    }

    /// A dot, the name of a method, and its arguments, if there are some.
    fn next_call(&mut self) -> Option<(&'t str, Vec<Argument>)> {
        self.0 = self.0.strip_prefix('.')?;
        let name = self.path()?;
        let arguments = self.arguments()?.unwrap_or_default();
        (!name.contains('.')).then_some((name, arguments))
    }

    /// A list of arguments in parentheses: `Some(None)` if there is none here, `None` if it is
    /// malformed.
    #[expect(clippy::option_option, reason = "malformed, absent, or a list")]
    fn arguments(&mut self) -> Option<Option<Vec<Argument>>> {
        let Some(rest) = self.0.strip_prefix('(') else { return Some(None) };
        self.0 = rest.trim_start();
        let mut arguments = Vec::new();
        if let Some(rest) = self.0.strip_prefix(')') {
            self.0 = rest;
            return Some(Some(arguments));
        }
        loop {
            arguments.push(self.argument()?);
            let rest = self.0.trim_start();
            if let Some(rest) = rest.strip_prefix(')') {
                self.0 = rest;
                return Some(Some(arguments));
            }
            self.0 = rest.strip_prefix(',')?.trim_start();
        }
    }

    fn argument(&mut self) -> Option<Argument> {
        let Some(rest) = self.0.strip_prefix('"') else {
            let end = self.0.find([',', ')'])?;
            let (bare, rest) = self.0.split_at(end);
            self.0 = rest;
            let bare = bare.trim();
            let is_bare = !bare.is_empty() && !bare.contains(['"', '(']) && !bare.contains(char::is_control);
            return is_bare.then(|| Argument::Bare(bare.to_owned()));
        };
        let mut text = String::new();
        let mut characters = rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.0 = rest.get(at + 1..)?;
                    return Some(Argument::Quoted(text));
                }
                '\\' => text.push(match characters.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    other @ ('"' | '\\') => other,
                    _ => return None,
                }),
                '\0' => return None,
                other => text.push(other),
            }
        }
        None
    }
}

fn is_name(part: &str) -> bool {
    let forbidden = ['/', '\\', ';', '[', ']', '*', '(', ')', '"', ',', ' '];
    !part.is_empty() && !part.contains(forbidden) && !part.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_methods_with_receivers_and_arguments() {
        let expected: [(&str, &[&str]); 6] = [
            ("app.B.run", &["app.B", "default", "", "0", "method", "run", "0"]),
            (" app.B$C.run() ", &["app.B$C", "default", "", "0", "method", "run", "0"]),
            (
                r#"app.B.run( -1 , "a, \"b\"\n)", null,X)"#,
                &["app.B", "default", "", "0", "method", "run", "4", "b-1", "qa, \"b\"\n)", "bnull", "bX"],
            ),
            ("new app.B(10).run", &["app.B", "new", "", "1", "b10", "method", "run", "0"]),
            ("new B().run(1.5)", &["B", "new", "", "0", "method", "run", "1", "b1.5"]),
            ("app.B.of(1).run(2)", &["app.B", "factory", "of", "1", "b1", "method", "run", "1", "b2"]),
        ];
        for (text, arguments) in expected {
            let entry: Entry = text.parse().unwrap();
            assert_eq!(entry.harness_arguments(), arguments, "{text}");
            assert_eq!(entry.text(), text.trim());
            assert_eq!(entry.text().parse(), Ok(entry.clone()), "the name of an entry is an entry");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "run",
            "app..run",
            "app.B.",
            ".run",
            "a/B.run",
            "a.B.*",
            "new B.run",
            "new B(1)",
            "new B(1).a.b",
            "B.run(",
            "B.run(1",
            "B.run(1,)",
            "B.run(,1)",
            "B.run(\"a)",
            "B.run(\"\\x\")",
            "B.run(1)x",
            "B.a(1).b(2).c",
            "B.run(a\u{1b})",
            "B.ru\nn",
        ] {
            assert_eq!(text.parse::<Entry>(), Err(NotAnEntry(text.to_owned())));
        }
    }

    #[test]
    fn file_names_are_in_one_folder_and_distinct() {
        let name = |text: &str| text.parse::<Entry>().unwrap().file_name();
        assert_eq!(name("app.B$C.run"), "app.B$C.run.cct");
        assert_eq!(name("B.run(\"../x\", 1)"), "B.run%28%22..%2fx%22%2c%201%29.cct");
    }
}
