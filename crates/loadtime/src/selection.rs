//! Methods that the user named: extents, and the one from which on everything is recorded
//! (docs/use/parts.md). What became of them is said in the end.

use cct_rewrite::filter::{Filter, separated};
use cct_rewrite::marks::{Marks, MethodName};

use crate::selected::Selected;
use crate::state::state;

/// Takes the methods that the user named, separated by commas, globs over the names of classes, and
/// by what classes are told apart, before the first class is rewritten. Says what is wrong with
/// them, if anything is.
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
        // The class library was rewritten before this was asked for.
        if state.library.class(method.class()).is_some() {
            return Err(format!(
                "{}: a class of the class library, which is rewritten when the profiled JDK is made; name a method of the program",
                method.text()
            ));
        }
    }
    let by_loader = identity == Some("loader");
    state.selected = Selected { marks, filter, by_loader, ..Selected::default() };
    Ok(())
}

/// What is wrong with a method's name.
fn malformed(text: &str) -> String {
    format!(
        "{text:?} names no method; a class and a method are expected, as in com.acme.Main.run or com.acme.Main.run(I)V"
    )
}
