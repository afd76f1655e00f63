//! A macro that embeds a shared library in a program. Cargo has built the library as a dependency
//! of the program.
//!
//! `cargo install` copies programs but not libraries, so a program that needs a library must
//! contain it. Cargo has no stable feature for that (its artifact dependencies are unstable). But
//! cargo compiles a dependency of crate types `cdylib` and `rlib` in one step. It passes the path
//! of the `rlib` to the compiler of the program (`--extern name=path`). It compiles the program
//! only after the dependency is complete, because it links them. So the shared library is complete
//! and beside the `rlib` when this macro looks for it.
//!
//! A build script cannot do that: it runs before its package's dependencies are built. Build
//! dependencies would be built in time. But cargo would compile them a second time if features or
//! profiles differ, and also for `cargo check` and `clippy`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod externs;

use std::env;
use std::path::Path;

use externs::{LibraryState, find};
use proc_macro::{TokenStream, TokenTree};

/// The bytes of the shared library of the dependency with this name: `library!(my_crate)` is an
/// `Option<&'static [u8]>`.
///
/// `None` if nothing is linked (`cargo check`, `clippy`, documentation): then no library is built.
/// The name is that of the package, not an alias. The macro works only in programs: cargo compiles
/// a library as soon as its dependencies have metadata, before their libraries are complete.
#[proc_macro]
pub fn library(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let (Some(TokenTree::Ident(name)), None) = (tokens.next(), tokens.next()) else {
        return error("expected the name of a crate, as in `library!(my_crate)`");
    };
    match find(&name.to_string(), env::args()) {
        LibraryState::Library(path) => include(&path),
        LibraryState::NothingLinked => parsed("::core::option::Option::None::<&'static [u8]>"),
        LibraryState::Problem(what) => error(&what),
    }
}

/// An expression with the bytes of a file. The compiler notes the file, so that cargo builds again
/// when it changes.
fn include(path: &Path) -> TokenStream {
    match path.to_str() {
        Some(path) => parsed(&format!(
            "::core::option::Option::Some::<&'static [u8]>(::core::include_bytes!({path:?}))"
        )),
        None => error(&format!("the path {} is not Unicode; build in another target folder", path.display())),
    }
}

fn error(message: &str) -> TokenStream {
    parsed(&format!("::core::compile_error!({message:?})"))
}

fn parsed(code: &str) -> TokenStream {
    // What is parsed here is made above, and is Rust.
    code.parse().unwrap_or_default()
}
