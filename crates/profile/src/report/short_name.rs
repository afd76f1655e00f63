//! Names of methods that fit into few terminal columns.

use super::numbers::columns_of;

/// A name in at most this many terminal columns, with `…` for what is missing in the middle:
/// parameters first, then packages. The method and its class stay as long as possible, and so does
/// the call site at the end.
pub fn shortened(name: &str, columns: usize) -> String {
    let fits = |text: &str| width(text) <= columns;
    if fits(name) {
        return name.to_owned();
    }
    let Some((head, rest)) = name.split_once('(') else { return without_middle(name, columns) };
    let Some((parameters, site)) = rest.rsplit_once(')') else { return without_middle(name, columns) };
    let tail = if parameters.is_empty() { format!("(){site}") } else { format!("(…){site}") };
    let short = format!("{head}{tail}");
    if fits(&short) {
        return short;
    }
    // Packages from the right, the outermost last.
    let starts: Vec<usize> = head.match_indices('.').map(|(at, _)| at).collect();
    let packages = starts.len().saturating_sub(1);
    let outermost = starts.first().map_or("", |&at| &head[..at]);
    for &dropped in starts.iter().take(packages).skip(1) {
        let short = format!("{outermost}…{}{tail}", &head[dropped + 1..]);
        if fits(&short) {
            return short;
        }
    }
    match packages.checked_sub(1).map(|last| format!("…{}{tail}", &head[starts[last] + 1..])) {
        Some(short) if fits(&short) => short,
        Some(short) => without_middle(&short, columns),
        None => without_middle(&short, columns),
    }
}

/// The text with `…` for characters in its middle, in at most this many terminal columns.
fn without_middle(text: &str, columns: usize) -> String {
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let begin = fitting(text.chars(), room - room / 2);
    let end: Vec<char> = fitting(text.chars().rev(), room / 2).collect();
    begin.chain(['…']).chain(end.into_iter().rev()).collect()
}

/// The first characters that fit into this many terminal columns.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    let mut left = columns;
    chars.take_while(move |&c| {
        let fits = columns_of(c) <= left;
        left = left.saturating_sub(columns_of(c));
        fits
    })
}

/// The terminal columns of a text.
fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_go_first_then_packages_then_the_middle() {
        let name = "java.lang.invoke.MethodHandleNatives.linkCallSite(Object, int, Object[])";
        for (columns, text) in [
            (72, name),
            (71, "java.lang.invoke.MethodHandleNatives.linkCallSite(…)"),
            (51, "java…invoke.MethodHandleNatives.linkCallSite(…)"),
            (46, "java…MethodHandleNatives.linkCallSite(…)"),
            (39, "…MethodHandleNatives.linkCallSite(…)"),
            (20, "…MethodHan…llSite(…)"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(shortened(name, columns), text, "{columns}");
            assert!(width(&shortened(name, columns)) <= columns, "{columns}");
        }
    }

    #[test]
    fn call_sites_and_other_names_stay() {
        assert_eq!(shortened("app.Main.step(int):12@7", 22), "app.Main.step(…):12@7");
        assert_eq!(shortened("app.Main.step():12", 17), "…Main.step():12");
        assert_eq!(shortened("step(int)", 8), "step(…)");
        assert_eq!(shortened("no method at all", 9), "no m… all");
        assert_eq!(shortened("漢字かな", 6), "漢…な");
        assert_eq!(shortened("a(b", 2), "a…");
    }

    #[test]
    fn every_name_fits() {
        arbtest::arbtest(|u| {
            let (name, columns) = (u.arbitrary::<&str>()?, u.int_in_range(0..=40usize)?);
            assert!(width(&shortened(name, columns)) <= columns);
            Ok(())
        });
    }
}
