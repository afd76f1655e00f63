//! The user's selection of methods: extents, and the method at which recording starts
//! (docs/use/parts.md). The profile reports in the end how they matched.

use cct_rewrite::filter::{Filter, separated};
use cct_rewrite::marks::{Marks, MethodName};

use crate::selected_methods::Selection;
use crate::state::state;

/// Sets the methods that the user named (separated by commas), the globs over class names, and how
/// classes are distinguished. Called before the first class is rewritten. Returns an error message
/// if they are malformed.
pub fn select(
    start_at: Option<&str>,
    extents: Option<&str>,
    include: Option<&str>,
    exclude: Option<&str>,
    identity: Option<&str>,
) -> Result<(), String> {
    let globs = |text: Option<&str>| text.map_or_else(Vec::new, separated);
    let filter = Filter::new(&globs(include), &globs(exclude)).map_err(|e| e.to_string())?;
    let parse = |texts: Option<&str>| -> Result<Vec<MethodName>, String> {
        let names = texts.into_iter().flat_map(|texts| texts.split(','));
        names.map(|text| MethodName::parse(text).ok_or_else(|| malformed(text))).collect()
    };
    let marks = Marks { starts: parse(start_at)?, extents: parse(extents)? };
    let mut state = state();
    for method in marks.starts.iter().chain(&marks.extents) {
        // The class library was rewritten before this selection was made.
        if state.library.class(method.class()).is_some() {
            return Err(format!(
                "{}: a method of the class library, which is rewritten beforehand; name a method \
                 of the program",
                method.text()
            ));
        }
    }
    let by_loader = identity == Some("loader");
    state.selected = Selection { marks, filter, by_loader, ..Selection::default() };
    Ok(())
}

/// The message for a malformed method name.
fn malformed(text: &str) -> String {
    format!(
        "{text:?} is not a method; expected a class and a method, as in com.acme.Main.run or \
         com.acme.Main.run(I)V"
    )
}
