//! Files of values: with all contexts of a tree, with none, and with every optional part.

use cct_pcc::{MethodChoice, Place, RecordedValues, Value};
use cct_values::tree::Values;

use super::split_profile;

/// Files of values.
pub fn values() -> Vec<Vec<u8>> {
    let tree = split_profile();
    let mut all = RecordedValues::default();
    Values::of(&tree, &MethodChoice::default()).unwrap().visit(|context| {
        let method = &tree.methods[*context.path.last().unwrap() as usize];
        let [class, name, descriptor] =
            [&method.class, &method.name, &method.descriptor].map(|text| text.to_string());
        all.add(Place { class, name, descriptor }, context.value, 2);
    });
    let mut said = RecordedValues { lost: 7, ..all.clone() };
    for (key, value) in [
        ("main", "a.A"),
        ("tool", "pcc\\\nx"),
        ("pcc-at", "a.*.f a.A.g(I)V"),
        ("pcc-only", "a.**.* {b,c}.[mn]"),
    ] {
        said.meta.insert(key.to_owned(), value.to_owned());
    }
    said.notes = vec!["a note".to_owned(), "another\u{7}".to_owned()];
    let unknown = Place { class: "?".to_owned(), name: "1f".to_owned(), descriptor: String::new() };
    said.add(unknown, Value(77), u64::MAX);
    [all, said, RecordedValues::default()].map(|recorded| recorded.bytes()).into()
}
