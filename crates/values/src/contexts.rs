//! Lookup of the contexts of values, for `cctrewrite pcc contexts`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

use cct_pcc::method_choice::separated;
use cct_pcc::{MethodChoice, Place, RecordedValues, Value};
use cct_profile::escape::terminal;
use cct_profile::names::{Frame, FrameTable, NameStyle};
use cct_profile::report::counted;
use cct_profile::{Method, Profile};

use crate::Error;
use crate::report::method;
use crate::tree::Values;

/// Options for showing values.
#[derive(Debug, Clone, Copy)]
pub struct DisplayOptions {
    /// Maximum number of values of each method, the most frequent ones; `None` shows all.
    pub top: Option<usize>,
    /// Whether to show how often each occurred, which is unknown for values from the command line.
    pub how_often: bool,
}

/// The contexts of each value of each place: paths of frames.
#[derive(Debug)]
pub struct ContextsByValue<'r> {
    paths: BTreeMap<(&'r Place, Value), BTreeSet<Vec<u32>>>,
    /// Number of contexts without a value, since methods without a name call them.
    pub left_out: u64,
}

/// Values as if recorded at all methods that have them, once for each of their contexts. A value
/// without a context is at no method.
pub fn everywhere(wanted: &[Value], profile: &Profile) -> Result<RecordedValues, Error> {
    let mut recorded = RecordedValues::default();
    Values::of(profile, &MethodChoice::default())?.visit(|context| {
        if let Some(&own) = context.path.last()
            && wanted.contains(&context.value)
        {
            recorded.add(place(&profile.methods[own as usize]), context.value, 1);
        }
    });
    for &value in wanted {
        if !recorded.counts.values().any(|values| values.contains_key(&value)) {
            return Err(Error::NoContext(value));
        }
    }
    Ok(recorded)
}

fn place(method: &Method) -> Place {
    let [class, name, descriptor] =
        [&method.class, &method.name, &method.descriptor].map(|text| text.to_string());
    Place { class, name, descriptor }
}

/// The methods that took part in values, from the file.
pub fn chosen(recorded: &RecordedValues) -> Result<MethodChoice, Error> {
    let only = recorded.meta.get("pcc-only").map_or("", String::as_str);
    Ok(MethodChoice::parse([], separated(only))?)
}

/// Looks up all values. Contexts of several threads with the same frames are one.
pub fn found<'r>(recorded: &'r RecordedValues, profile: &Profile) -> Result<ContextsByValue<'r>, Error> {
    let mut values = Values::of(profile, &chosen(recorded)?)?;
    let table = FrameTable::new(&profile.methods, NameStyle::Raw);
    // The methods of the tree that are places.
    let places: HashMap<u32, (&Place, &BTreeMap<Value, u64>)> = (0u32..)
        .zip(&profile.methods)
        .filter_map(|(number, method)| Some((number, recorded.counts.get_key_value(&place(method))?)))
        .collect();
    let mut paths: BTreeMap<(&Place, Value), BTreeSet<Vec<u32>>> = BTreeMap::new();
    let left_out = values.visit(|context| {
        let Some((place, of_place)) = context.path.last().and_then(|own| places.get(own)) else { return };
        if of_place.contains_key(&context.value) {
            let path = context.path.iter().map(|&method| table.of_method()[method as usize]).collect();
            paths.entry((place, context.value)).or_default().insert(path);
        }
    });
    Ok(ContextsByValue { paths, left_out })
}

/// Lists the contexts of each value, the innermost frame first, as in stack traces of exceptions.
pub fn write(
    recorded: &RecordedValues,
    profile: &Profile,
    found: &ContextsByValue<'_>,
    what: DisplayOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let table = FrameTable::new(&profile.methods, NameStyle::Raw);
    let none = BTreeSet::new();
    for (place, values) in &recorded.counts {
        writeln!(out, "{}", method(place))?;
        let mut order: Vec<(Value, u64)> = values.iter().map(|(&value, &count)| (value, count)).collect();
        order.sort_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
        for (value, count) in order.into_iter().take(what.top.unwrap_or(usize::MAX)) {
            let candidates = found.paths.get(&(place, value)).unwrap_or(&none);
            let how_many = match candidates.len() {
                0 => ", not in the tree".to_owned(),
                1 => String::new(),
                several => format!(", one of {several} contexts"),
            };
            let times = if what.how_often {
                format!(" {}", counted(u128::from(count), "time"))
            } else {
                String::new()
            };
            writeln!(out, "  {value}{times}{how_many}")?;
            for (number, path) in candidates.iter().enumerate() {
                if number > 0 {
                    writeln!(out, "      or")?;
                }
                for (at, &frame) in path.iter().enumerate().rev() {
                    // A frame's call site is in its caller, and is shown there.
                    let below = path.get(at + 1).map(|&below| &table.frames()[below as usize]);
                    writeln!(out, "    {}", shown(&table.frames()[frame as usize], below))?;
                }
            }
        }
    }
    Ok(())
}

/// A frame with its position: the call of the frame below, by its line or else its index.
fn shown(frame: &Frame<'_>, below: Option<&Frame<'_>>) -> String {
    let name = frame.without_call_site().exact();
    let place = match below.map(|below| below.site()) {
        None => String::new(),
        Some(None) => "@-1".to_owned(),
        Some(Some(site)) => match site.known_line() {
            Some(line) => format!("@{}:{line}", site.index()),
            None => format!("@{}", site.index()),
        },
    };
    terminal(&format!("{name}{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::{all, profile};

    const ALL: DisplayOptions = DisplayOptions { top: None, how_often: true };

    fn at(class: &str, name: &str) -> Place {
        Place { class: class.to_owned(), name: name.to_owned(), descriptor: "()V".to_owned() }
    }

    #[test]
    fn values_lead_to_their_contexts() {
        let profile = profile(&[
            (0, "A", "main", None),
            (1, "A", "f", Some(3)),
            (2, "B", "g", Some(0)),
            (1, "A", "f", Some(7)),
            (2, "B", "g", Some(0)),
        ]);
        let values = all(&profile, &MethodChoice::default());
        let mut recorded = RecordedValues::default();
        recorded.add(at("B", "g"), values[2], 5);
        recorded.add(at("B", "g"), Value(77), 1);
        recorded.add(at("X", "y"), values[2], 1);
        let found = found(&recorded, &profile).unwrap();
        let mut out = Vec::new();
        write(&recorded, &profile, &found, ALL, &mut out).unwrap();
        let expected = format!(
            "B.g()V\n  {} 5 times\n    B.g()V\n    A.f()V@0\n    A.main()V@3\n  {} 1 time, not in the tree\nX.y()V\n  {} 1 time, not in the tree\n",
            values[2],
            Value(77),
            values[2]
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn values_are_looked_for_everywhere() {
        let profile = profile(&[(0, "A", "main", None), (1, "A", "f", Some(3)), (1, "B", "f", Some(3))]);
        let values = all(&profile, &MethodChoice::default());
        let recorded = everywhere(&values[1..2], &profile).unwrap();
        assert_eq!(recorded.counts.keys().collect::<Vec<_>>(), [&at("A", "f"), &at("B", "f")]);
        let error = everywhere(&[Value(77)], &profile).unwrap_err();
        assert!(error.to_string().contains("000000000000004d"), "{error}");
    }

    #[test]
    fn where_a_value_is_of_several_contexts_all_are_listed() {
        let profile = profile(&[
            (0, "A", "main", None),
            (1, "A", "f", Some(3)),
            (2, "B", "g", Some(0)),
            (2, "B", "g", Some(9)),
        ]);
        let mut recorded = RecordedValues::default();
        recorded.meta.insert("pcc-only".to_owned(), "A.main".to_owned());
        let value = all(&profile, &chosen(&recorded).unwrap())[2];
        recorded.add(at("B", "g"), value, 2);
        let found = found(&recorded, &profile).unwrap();
        let mut out = Vec::new();
        write(&recorded, &profile, &found, ALL, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("2 times, one of 2 contexts\n"), "{text}");
        assert!(text.contains("A.f()V@0\n    A.main()V@3\n      or\n    B.g()V\n    A.f()V@9\n"), "{text}");
    }
}
