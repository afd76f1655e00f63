//! Formatting of numbers for people.

/// A count with a comma between groups of three digits: `1,234,567`.
pub fn grouped(count: u128) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `part` of `total` in percent; 0 if the total is 0.
pub fn percent(part: u128, total: u128) -> f64 {
    if total == 0 { 0.0 } else { part as f64 * 100.0 / total as f64 }
}

/// `count` and the word, in the plural unless the count is one.
pub fn counted(count: u128, word: &str) -> String {
    let plural = match word {
        _ if count == 1 => "",
        word if word.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {word}{plural}", grouped(count))
}

/// Lines of a table: columns of numbers right-aligned, the last column left-aligned; empty columns
/// are omitted.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> impl Iterator<Item = String> {
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(widest);
    rows.iter().map(move |row| {
        let numbers = row.iter().zip(widths).take(N - 1).filter(|(_, width)| *width > 0);
        let mut line: String = numbers.map(|(number, width)| format!("{number:>width$}  ")).collect();
        line += &row[N - 1];
        line
    })
}

/// The text cut to this many terminal columns, with `…` in place of the rest.
pub fn cut(text: &str, columns: usize) -> String {
    if text.chars().map(columns_of).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let kept = text.chars().take_while(|&c| {
        let fits = columns_of(c) <= left;
        left = left.saturating_sub(columns_of(c));
        fits
    });
    kept.chain((columns > 0).then_some('…')).collect()
}

/// Two columns for East Asian wide characters (Unicode Annex 11, the blocks that names are written
/// in), one for others.
pub(super) fn columns_of(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' => 2,
        '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE6F}' | '\u{FF00}'..='\u{FF60}' => 2,
        '\u{FFE0}'..='\u{FFE6}' | '\u{1F300}'..='\u{1F64F}' | '\u{20000}'..='\u{3FFFD}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (count, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(count), text);
        }
        assert_eq!(counted(1, "context"), "1 context");
        assert_eq!(counted(2000, "context"), "2,000 contexts");
        assert_eq!([counted(1, "class"), counted(2, "class")], ["1 class", "2 classes"]);
    }

    #[test]
    fn percent_of_nothing_is_none() {
        assert_eq!(percent(1, 0).to_bits(), 0f64.to_bits());
        assert!((percent(1, 8) - 12.5).abs() < 1e-9);
    }

    #[test]
    fn long_lines_are_cut_to_the_terminal() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("漢字かな", 8), "漢字かな");
        assert_eq!(cut("漢字かな", 7), "漢字か…");
        assert_eq!(cut("漢字かな", 6), "漢字…");
        assert_eq!(cut("abc", 0), "");
    }
}
