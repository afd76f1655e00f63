//! The browsers that tests run in, fetched by `cargo xtask readers`.

use std::path::{Path, PathBuf};

use super::browser::Browser;
use super::{chromium, firefox};

/// A browser's engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Chromium,
    Firefox,
}

impl Engine {
    /// Name of the folder below the readers'.
    fn name(self) -> &'static str {
        match self {
            Engine::Chromium => "chromium",
            Engine::Firefox => "firefox",
        }
    }

    /// The browser's folder; if it is missing, prints that the test is skipped.
    pub fn root(self) -> Option<PathBuf> {
        let Some(folder) = std::env::var_os("CCTREWRITE_READERS") else {
            println!("skipped: the browser is not known (cargo xtask test, or CCTREWRITE_READERS)");
            return None;
        };
        let root = Path::new(&folder).join(self.name());
        let program = match self {
            Engine::Chromium => chromium::program(&root),
            Engine::Firefox => firefox::program(&root),
        };
        if !program.exists() {
            println!("skipped: {} is missing (cargo xtask readers says why)", self.name());
            return None;
        }
        Some(root)
    }

    /// Starts the browser with a page of this size; if it is missing, prints that the test is
    /// skipped.
    pub fn start(self, width: u32, height: u32) -> Option<Browser> {
        let root = self.root()?;
        Some(match self {
            Engine::Chromium => Browser::new(chromium::DevTools::start(&root), width, height),
            Engine::Firefox => Browser::new(firefox::Marionette::start(&root), width, height),
        })
    }
}

/// Tests that run in each engine: `engines!(a, b);` for functions `a` and `b` of an [`Engine`].
macro_rules! engines {
    ($($test:ident),+ $(,)?) => {
        mod chromium_tests {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::engine::Engine::Chromium);
                }
            )+
        }

        mod firefox_tests {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::engine::Engine::Firefox);
                }
            )+
        }
    };
}
pub(crate) use engines;
