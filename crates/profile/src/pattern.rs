//! Patterns for methods and threads.

use crate::Method;
use crate::names::{Frame, NameStyle};

/// A name pattern in which `*` matches any run of characters.
///
/// It is compared with a frame's text, `java.lang.String.charAt(I)C`, and, unless the pattern has a
/// parenthesis, also with that text without the descriptor. Slashes in the class name are dots, as
/// in the frame. A pattern without a `*` may omit packages and enclosing classes: `LruCache.get`
/// matches `com.acme.LruCache.get`. Selections take names as reports write them, too:
/// `java.util.Map.get(Object)`. A call site at the frame's end, `@12`, is ignored unless the
/// pattern has an `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    given: String,
    text: Vec<u8>,
}

impl Pattern {
    /// The pattern of a text, which may come from a frame or from a class file
    /// (`java/lang/String.charAt(I)C`).
    pub fn new(given: &str) -> Pattern {
        let name = given.find('(').unwrap_or(given.len());
        let dotted = given[..name].replace('/', ".") + &given[name..].replace(';', ",");
        Pattern { given: given.to_owned(), text: dotted.into_bytes() }
    }

    /// The pattern of a thread's name, in which nothing is a class.
    pub fn of_thread(given: &str) -> Pattern {
        Pattern { given: given.to_owned(), text: format!("[{}]", given.replace(';', ",")).into_bytes() }
    }

    /// The text of the pattern.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Whether it may match only some call sites of a method.
    pub(crate) fn names_call_sites(&self) -> bool {
        self.text.contains(&b'@')
    }

    /// Whether it says what a method's parameters are.
    pub(crate) fn names_parameters(&self) -> bool {
        self.text.contains(&b'(')
    }

    /// Whether a pattern from [`Pattern::of_thread`] matches a thread's name.
    pub fn matches_thread(&self, name: &str) -> bool {
        self.matches(&Frame::thread(name).bytes().collect::<Vec<u8>>())
    }

    /// Whether the pattern matches a frame's text.
    pub fn matches(&self, frame: &[u8]) -> bool {
        let name = frame.iter().position(|&b| b == b'(').filter(|_| !self.text.contains(&b'('));
        let matches = |text: &[u8]| wildcard(&self.text, text) || self.is_end_of(text);
        matches(frame) || name.is_some_and(|end| matches(&frame[..end]))
    }

    /// Whether the pattern matches a method, in the form of frames or as reports write it.
    pub fn matches_method(&self, method: &Method, style: NameStyle) -> bool {
        let frame = Frame::method(method, style).without_call_site();
        self.matches(&frame.bytes().collect::<Vec<u8>>())
            || self.names_parameters() && self.matches(frame.readable().as_bytes())
    }

    /// Whether the pattern has no stars and equals the text without leading packages or classes.
    fn is_end_of(&self, text: &[u8]) -> bool {
        let before = text.strip_suffix(&*self.text).and_then(<[u8]>::last);
        // A descriptor has dots in it, too.
        let is_name = !self.text.is_empty() && self.text.first() != Some(&b'[') && !self.text.contains(&b'*');
        is_name && matches!(before, Some(b'.' | b'$'))
    }
}

/// Whether `text` is `pattern` with every `*` replaced by something. Time is at most the product of
/// the lengths: only the last star reached may need to take more.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, t) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&b| b == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_names_as_they_are_written() {
        let frame = b"java.lang.String.indexOf(Ljava/lang/String,I)I";
        for (pattern, expected) in [
            ("java.lang.String.indexOf", true),
            ("java/lang/String.indexOf", true),
            ("java/lang/String.indexOf(Ljava/lang/String;I)I", true),
            ("java.lang.String.indexOf(Ljava/lang/String,I)I", true),
            ("java.lang.String.indexOf(Ljava/lang/String;I)", false),
            ("java.lang.String.indexOf(*", true),
            ("java.lang.String.index", false),
            ("java.lang.String", false),
            ("java.lang.*", true),
            ("*.indexOf", true),
            ("*.indexO", false),
            ("*I", true),
            ("*(*String,I)*", true),
            ("*a*a*n*x*f", true),
            ("*a*a*n*x*g", false),
            ("*", true),
            ("", false),
            ("String.indexOf", true),
            ("indexOf", true),
            ("lang/String.indexOf(Ljava/lang/String;I)I", true),
            ("tring.indexOf", false),
            ("String.indexOf*", false),
            ("I", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(frame), expected, "{pattern}");
        }
        assert!(Pattern::of_thread("a;b/c*").matches(b"[a,b/c-1]"));
        assert!(!Pattern::of_thread("main").matches(b"[main2]"));
        let nested = b"com.acme.Outer$Inner.run()V";
        for (pattern, expected) in [("Inner.run", true), ("Outer$Inner.run", true), ("acme.Inner.run", false)]
        {
            assert_eq!(Pattern::new(pattern).matches(nested), expected, "{pattern}");
        }
    }
}
