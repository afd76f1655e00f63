//! Arguments that collapse the library, shared by the commands that show or write profiles.

use anyhow::Result;
use cct_profile::names::normalised_class;
use cct_profile::origin::is_jdk_by_name;
use cct_profile::{Method, Profile};
use cct_rewrite::filter::Filter;
use cct_settings::{NamedValues, ToolName};
use clap::Args;

/// Which classes are the user's own, and whether the rest is collapsed.
#[derive(Debug, Clone, Args)]
pub struct LibraryArguments {
    /// Add the work of the JDK to your frames that call it, as one line `(library)` below each
    ///
    /// Sums stay exact: no count is lost. What the library calls back hangs below the frame that
    /// called the library (docs/use/my-code.md)
    #[arg(long, help_heading = "My code")]
    pub collapse_library: bool,

    /// Collapse everything but the classes that match, such as `com.acme.**` (repeatable)
    ///
    /// As --collapse-library, with all other classes as the library, those of other jars included.
    /// GLOB is over names with dots or slashes
    #[arg(long, value_name = "GLOB", help_heading = "My code")]
    pub mine: Vec<String>,
}

/// Which methods are of the library.
#[derive(Debug)]
pub struct Library {
    /// The program's own classes; `None` for all that are not the JDK's.
    mine: Option<Filter>,
    /// The globs of these; none for the JDK as the library.
    globs: Vec<String>,
    /// The library in words.
    which: String,
}

impl LibraryArguments {
    /// The library to collapse; `None` for none.
    pub fn library(&self) -> Result<Option<Library>> {
        if self.mine.is_empty() {
            let jdk = || Library { mine: None, globs: Vec::new(), which: "the JDK".to_owned() };
            return Ok(self.collapse_library.then(jdk));
        }
        let which = format!("all but {}", self.mine.join(", "));
        Ok(Some(Library { mine: Some(Filter::new(&self.mine, &[])?), globs: self.mine.clone(), which }))
    }

    /// Fails if a library is to be collapsed with a tool that leaves no profile.
    pub fn check_none(&self, tool: ToolName) -> Result<()> {
        if self.library()?.is_some() {
            let tool = tool.name();
            anyhow::bail!(
                "--collapse-library and --mine are for profiles; leave them out, or leave out --tool {tool}"
            );
        }
        Ok(())
    }
}

impl Library {
    /// The profile with this library collapsed.
    pub fn collapsed(&self, profile: Profile) -> Result<Profile> {
        Ok(profile.with_library_collapsed(|method| self.has(method), &self.which)?)
    }

    /// As [`Library::collapsed`] for a file that is written: a note says what is in it.
    pub fn collapsed_for_good(&self, profile: Profile) -> Result<Profile> {
        let mut profile = self.collapsed(profile)?;
        profile.notes.push(format!(
            "the library ({}) is collapsed in this file, and its methods are not in it",
            self.which
        ));
        profile.notes.sort();
        profile.notes.dedup();
        Ok(profile)
    }

    /// Whether a method is of the library. A method without a name may be anybody's.
    pub fn has(&self, method: &Method) -> bool {
        // Globs are for the class that a lambda is in, whatever number its own class has.
        let class = normalised_class(&method.class);
        let is_library = match &self.mine {
            None => is_jdk_by_name(class),
            Some(mine) => !mine.records(class.as_bytes()),
        };
        is_library && method.flags & Method::UNKNOWN == 0
    }

    /// The library as an option, without spaces around its name.
    pub fn setting(&self) -> String {
        if self.globs.is_empty() {
            "collapse-library".to_owned()
        } else {
            format!("mine={}", self.globs.join(","))
        }
    }

    /// The library in words.
    pub fn which(&self) -> &str {
        &self.which
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(collapse_library: bool, mine: &[&str]) -> Option<Library> {
        let mine = mine.iter().map(|&glob| glob.to_owned()).collect();
        LibraryArguments { collapse_library, mine }.library().unwrap()
    }

    fn method(class: &str, flags: u64) -> Method {
        let (class, name, descriptor) = (class.into(), "f".into(), "()V".into());
        Method { class, name, descriptor, site: None, flags, mid: 1 }
    }

    #[test]
    fn what_is_not_mine_is_the_library() {
        assert!(library(false, &[]).is_none());
        let jdk = library(true, &[]).unwrap();
        let acme = library(false, &["com.acme.*"]).unwrap();
        for (class, of_jdk, of_acme) in [
            ("java/util/Map", true, true),
            ("jdk/proxy2/$Proxy7", true, true),
            ("org/json/Json", false, true),
            ("com/acme/Main", false, false),
            ("com/acme/Main$$Lambda/0x0000123", false, false),
        ] {
            let method = method(class, 0);
            assert_eq!((jdk.has(&method), acme.has(&method)), (of_jdk, of_acme), "{class}");
        }
        assert!(!acme.has(&method("?", Method::UNKNOWN)));
        assert_eq!((jdk.which(), acme.which()), ("the JDK", "all but com.acme.*"));
        let both = library(false, &["com.acme.*", "org.*"]).unwrap();
        assert_eq!((&*jdk.setting(), &*both.setting()), ("collapse-library", "mine=com.acme.*,org.*"));
    }
}
