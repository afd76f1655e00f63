//! `cctrewrite pcc contexts`: from values back to contexts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

use anyhow::{Context, Result, bail};
use cct_pcc::chosen::separated;
use cct_pcc::{Chosen, Place, Recorded, Value};
use cct_profile::names::{Frame, FrameTable, NameStyle, escaped};
use cct_profile::{Method, Profile};

use super::values::Values;
use super::{method, read_values};
use crate::args::PccContexts;
use crate::exit::{say, to_stdout};
use crate::profile_file::read;
use crate::text::counted;

/// Runs the command.
pub fn run(arguments: &PccContexts) -> Result<()> {
    let profile = read(&arguments.tree)?;
    let recorded = match &arguments.file {
        Some(file) => read_values(file)?,
        None => {
            everywhere(&arguments.value, &profile).with_context(|| arguments.tree.display().to_string())?
        }
    };
    let found = found(&recorded, &profile).with_context(|| arguments.tree.display().to_string())?;
    to_stdout(|out| write(&recorded, &profile, &found, (arguments.top, arguments.file.is_none()), out))?;
    if found.left_out > 0 {
        say(&format!(
            "note: {} of the tree have no value, since they are called by methods without a name",
            counted(found.left_out, "context")
        ));
    }
    if !recorded.meta.get("pcc-only").is_none_or(String::is_empty) {
        say(
            "note: not all methods take part in the values (--pcc-only): contexts that differ by others alone have the same",
        );
    }
    Ok(())
}

/// What the tree has for each value of each place: paths of frames.
pub struct Found<'r> {
    paths: BTreeMap<(&'r Place, Value), BTreeSet<Vec<u32>>>,
    left_out: u64,
}

/// As if these values had been recorded at whichever methods have them, each once for each of its contexts. One that no method has is at none.
fn everywhere(wanted: &[Value], profile: &Profile) -> Result<Recorded> {
    let mut recorded = Recorded::default();
    Values::of(profile, &Chosen::default())?.visit(|context| {
        if let Some(&own) = context.path.last()
            && wanted.contains(&context.value)
        {
            recorded.add(place(&profile.methods[own as usize]), context.value, 1);
        }
    });
    for &value in wanted {
        if !recorded.counts.values().any(|values| values.contains_key(&value)) {
            bail!("no context of the tree has the value {value}");
        }
    }
    Ok(recorded)
}

fn place(method: &Method) -> Place {
    let [class, name, descriptor] =
        [&method.class, &method.name, &method.descriptor].map(|text| text.to_string());
    Place { class, name, descriptor }
}

/// The methods that took part in values, as the file says.
pub fn chosen(recorded: &Recorded) -> Result<Chosen> {
    let only = recorded.meta.get("pcc-only").map_or("", String::as_str);
    Ok(Chosen::parse([], separated(only))?)
}

/// Looks all values up. Contexts of several threads with the same frames are one.
pub fn found<'r>(recorded: &'r Recorded, profile: &Profile) -> Result<Found<'r>> {
    let mut values = Values::of(profile, &chosen(recorded)?)?;
    let table = FrameTable::new(&profile.methods, NameStyle::Raw);
    // Of the methods of the tree those that are places.
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
    Ok(Found { paths, left_out })
}

/// Lists the contexts of each value, the innermost frame first, as in the traces of exceptions. Of values that were asked for it is not known how often.
fn write(
    recorded: &Recorded,
    profile: &Profile,
    found: &Found<'_>,
    (top, is_asked): (Option<usize>, bool),
    out: &mut dyn Write,
) -> Result<()> {
    let table = FrameTable::new(&profile.methods, NameStyle::Raw);
    let none = BTreeSet::new();
    for (place, values) in &recorded.counts {
        writeln!(out, "{}", method(place))?;
        let mut order: Vec<(Value, u64)> = values.iter().map(|(&value, &count)| (value, count)).collect();
        order.sort_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
        for (value, count) in order.into_iter().take(top.unwrap_or(usize::MAX)) {
            let candidates = found.paths.get(&(place, value)).unwrap_or(&none);
            let how_many = match candidates.len() {
                0 => ", not in the tree".to_owned(),
                1 => String::new(),
                several => format!(", one of {several} contexts"),
            };
            let times = if is_asked { String::new() } else { format!(" {}", counted(count, "time")) };
            writeln!(out, "  {value}{times}{how_many}")?;
            for (number, path) in candidates.iter().enumerate() {
                if number > 0 {
                    writeln!(out, "      or")?;
                }
                for (at, &frame) in path.iter().enumerate().rev() {
                    // A frame's call site lies in its caller: shown there.
                    let below = path.get(at + 1).map(|&below| &table.frames()[below as usize]);
                    writeln!(out, "    {}", shown(&table.frames()[frame as usize], below))?;
                }
            }
        }
    }
    Ok(())
}

/// A frame, and where it is: at the call of the one below, by its line or else its index.
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
    escaped(&format!("{name}{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcc_command::values::tests::{all, profile};

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
        let values = all(&profile, &Chosen::default());
        let mut recorded = Recorded::default();
        recorded.add(at("B", "g"), values[2], 5);
        recorded.add(at("B", "g"), Value(77), 1);
        recorded.add(at("X", "y"), values[2], 1);
        let found = found(&recorded, &profile).unwrap();
        let mut out = Vec::new();
        write(&recorded, &profile, &found, (None, false), &mut out).unwrap();
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
        let values = all(&profile, &Chosen::default());
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
        let mut recorded = Recorded::default();
        recorded.meta.insert("pcc-only".to_owned(), "A.main".to_owned());
        let value = all(&profile, &chosen(&recorded).unwrap())[2];
        recorded.add(at("B", "g"), value, 2);
        let found = found(&recorded, &profile).unwrap();
        let mut out = Vec::new();
        write(&recorded, &profile, &found, (None, false), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("2 times, one of 2 contexts\n"), "{text}");
        assert!(text.contains("A.f()V@0\n    A.main()V@3\n      or\n    B.g()V\n    A.f()V@9\n"), "{text}");
    }
}
