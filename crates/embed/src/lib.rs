//! The bytes of a shared library that cargo built as a dependency, inside the program that depends
//! on it.
//!
//! `cargo install` copies programs and no libraries, so a program that needs a library must contain
//! it. Cargo has no stable way to say so (its artifact dependencies are unstable). But it compiles
//! a dependency of crate types `cdylib` and `rlib` in one go, names the `rlib` to the compiler of
//! the dependent (`--extern name=path`), and waits for the whole of it before it compiles a
//! program, which links it. So the library lies beside the `rlib`, complete, when this macro looks.
//!
//! A build script cannot do that: it runs before its package's dependencies are built. As build
//! dependencies they would be there, but compiled a second time wherever features or profiles
//! differ, and by `cargo check` and `clippy`, too.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod externs;

use std::env;
use std::path::Path;

use externs::{Found, find};
use proc_macro::{TokenStream, TokenTree};

/// The bytes of the shared library of the dependency with this name: `library!(my_crate)` is an
/// `Option<&'static [u8]>`.
///
/// `None` where nothing is linked (`cargo check`, `clippy`, documentation): dependencies have no
/// libraries then. For a package, not for an alias of it. Only for programs, since cargo compiles a
/// library as soon as its dependencies have metadata.
#[proc_macro]
pub fn library(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let (Some(TokenTree::Ident(name)), None) = (tokens.next(), tokens.next()) else {
        return error("expected the name of a crate, as in `library!(my_crate)`");
    };
    match find(&name.to_string(), env::args()) {
        Found::Library(path) => include(&path),
        Found::NothingLinked => parsed("::core::option::Option::None::<&'static [u8]>"),
        Found::Problem(what) => error(&what),
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
