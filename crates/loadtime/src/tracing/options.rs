//! Options of the trace, as the runtime passes them (`-Dcctrewrite.trace-...`).

/// Options of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the order between threads is kept (`trace-mode`).
    pub is_shared: bool,
    /// Number of last events to keep of each thread; `None` keeps all (`trace-last`).
    pub last: Option<usize>,
    /// Bytes of events to keep in memory until the JVM ends (`trace-memory`).
    pub memory: usize,
}

/// Minimum number of last events of a thread: fewer leave no room for an event.
const LEAST: usize = 64;

/// Maximum number of last events of a thread.
const MOST: usize = 1 << 30;

impl Options {
    /// Parses the options; empty texts set nothing.
    ///
    /// # Errors
    /// Fails if a text is not a valid value.
    pub fn of(texts: &[String]) -> Result<Options, String> {
        let [mode, last, memory] = texts else { return Ok(Options::default()) };
        let is_shared = match mode.as_str() {
            "" | "thread" => false,
            "shared" => true,
            other => return Err(format!("trace-mode={other}: expected thread or shared")),
        };
        let last = match last.as_str() {
            "" => None,
            text => match text.parse() {
                Ok(last) if (1..=MOST).contains(&last) => Some(last.max(LEAST)),
                _ => {
                    return Err(format!("trace-last={text}: expected a number of events from 1 to {MOST}"));
                }
            },
        };
        let memory = match memory.as_str() {
            "" => 0,
            text => size(text)
                .ok_or_else(|| format!("trace-memory={text}: expected a size such as 500m or 4g"))?,
        };
        if last.is_some() && memory > 0 {
            return Err("trace-last cannot be combined with trace-memory; give one of them".to_owned());
        }
        Ok(Options { is_shared, last, memory })
    }

    /// The options as lines for readers of the trace.
    pub fn lines(&self) -> String {
        let mode = if self.is_shared { "mode=shared\n" } else { "mode=thread\n" };
        self.last.map_or(mode.to_owned(), |last| format!("{mode}last={last}\n"))
    }
}

fn size(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << unit).filter(|&size| size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mode: &str, last: &str, memory: &str) -> Result<Options, String> {
        Options::of(&[mode, last, memory].map(str::to_owned))
    }

    #[test]
    fn statements_of_the_table_hold() {
        assert_eq!(of("", "", ""), Ok(Options::default()));
        assert_eq!(of("shared", "5000", ""), Ok(Options { is_shared: true, last: Some(5000), memory: 0 }));
        assert_eq!(of("thread", "", "3m").map(|options| options.memory), Ok(3 << 20));
        assert_eq!(
            of("shared", "1", "").map(|options| options.lines()),
            Ok("mode=shared\nlast=64\n".to_owned())
        );
    }

    #[test]
    fn invalid_values_are_refused() {
        for (mode, last, memory, named) in [
            ("both", "", "", "both"),
            ("", "0", "", "trace-last"),
            ("", "", "1x", "1x"),
            ("", "9", "1g", "one of them"),
        ] {
            assert!(of(mode, last, memory).unwrap_err().contains(named), "{named}");
        }
    }
}
