//! Escaping of texts from strangers: one function for each kind of output.
//!
//! JSON is serde_json's, CSV is [`crate::csv`]'s.

/// Escapes characters that could harm a terminal, or pass for another line: control characters, and
/// those that reverse the direction of writing.
pub fn terminal(text: &str) -> String {
    notated(text, |c| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    })
}

/// Escapes characters that XML does not allow: control characters except tabs and line ends, and
/// code points that are no characters (XML 1.0, section 2.2).
///
/// For writers that escape markup themselves; otherwise [`xml`].
pub fn xml_characters(text: &str) -> String {
    notated(text, |c| c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{FFFE}' | '\u{FFFF}'))
}

/// Escapes text for an element or an attribute in double quotes, of XML or HTML.
pub fn xml(text: &str) -> String {
    let text = xml_characters(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Text for Markdown, outside of code, also in a cell of a table: no character of it marks anything
/// up. Hosts of Git repositories read more than the standard: names of people, formulas, numbers of
/// issues.
pub fn markdown(text: &str) -> String {
    referenced(&terminal(text), |c| "\\`*_{}[]<>#!|~@$&\"^".contains(c))
}

/// Text as code in Markdown, also in a cell of a table. Backslashes, backticks and bars have a
/// meaning even there: such text becomes an element of HTML.
pub fn markdown_code(text: &str) -> String {
    let text = terminal(text);
    if text.is_empty() {
        text
    } else if text.contains(['\\', '`', '|']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("<code>{}</code>", referenced(&text, |c| !c.is_alphanumeric() && c != ' '))
    } else {
        format!("`{text}`")
    }
}

/// Writes some characters as references of HTML.
fn referenced(text: &str, is_meant: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_meant(c) { out += &format!("&#{};", u32::from(c)) } else { out.push(c) }
    }
    out
}

/// Writes some characters in Rust's notation.
fn notated(text: &str, is_meant: impl Fn(char) -> bool) -> String {
    if !text.contains(&is_meant) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_meant(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_a_terminal() {
        assert_eq!(terminal("a\r\nb\u{9b}m\u{202e} \u{1F600}é"), "a\\r\\nb\\u{9b}m\\u{202e} \u{1F600}é");
    }

    #[test]
    fn nothing_is_markup_of_markdown() {
        assert_eq!(markdown("a|b *c* @d, 5 %\n"), "a&#124;b &#42;c&#42; &#64;d, 5 %&#92;n");
        assert_eq!(markdown_code("A.<init>(I)V"), "`A.<init>(I)V`");
        assert_eq!(markdown_code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(markdown_code("`"), "<code>&#96;</code>");
        assert_eq!(markdown_code(""), "");
    }

    #[test]
    fn nothing_is_markup_or_no_character_of_xml() {
        assert_eq!(xml("A.<init>(\"&\")\u{1b}\n\t"), "A.&lt;init&gt;(&quot;&amp;&quot;)\\u{1b}\n\t");
        assert_eq!(xml_characters("<\u{0}\r\u{FFFE}\u{FFFF}>"), "<\\u{0}\\r\\u{fffe}\\u{ffff}>");
    }
}
