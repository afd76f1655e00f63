//! Arguments that collapse the library, shared by the commands that show or write profiles.

use std::path::PathBuf;

use anyhow::{Result, bail};
use cct_build::classes;
use cct_profile::library;
use cct_profile::names::{NameStyle, normalised_class};
use cct_profile::origin::{Origins, is_jdk_by_name};
use cct_profile::{Method, Pattern, Profile};
use cct_rewrite::filter::Filter;
use cct_settings::{NamedValues, ToolName};
use clap::Args;

/// Which classes are the user's own, and whether the rest is collapsed.
#[derive(Debug, Clone, Args)]
pub struct LibraryArguments {
    /// Add the work of the JDK to your frames that call it, as one line `(library)` below each
    ///
    /// Sums stay exact: no count is lost. The calls of `(library)` are those of all library methods
    /// that ran there. What the library calls back hangs below the frame that called the library
    /// (docs/use/my-code.md)
    #[arg(long, help_heading = "My code")]
    pub collapse_library: bool,

    /// Collapse everything but the classes that match, such as `com.acme.**` (repeatable)
    ///
    /// As --collapse-library, with all other classes as the library, those of other jars included.
    /// GLOB is over names with dots or slashes
    #[arg(long, value_name = "GLOB", help_heading = "My code")]
    pub mine: Vec<String>,

    /// Collapse everything but the classes in this jar, folder or image (repeatable)
    ///
    /// As --mine, with the classes that are found there instead of names. With both, either
    /// suffices. Classes generated while the program runs belong to the class that they were
    /// generated for
    #[arg(long, value_name = "PATH", help_heading = "My code", hide_short_help = true)]
    pub mine_from: Vec<PathBuf>,
}

/// Which methods are of the library.
#[derive(Debug)]
pub struct Library {
    /// The program's own classes; `None` for all that are not the JDK's.
    mine: Option<OwnClasses>,
    /// The library in words.
    which: String,
}

/// The program's own classes.
#[derive(Debug)]
struct OwnClasses {
    /// Those that match; `None` without globs.
    names: Option<Filter>,
    /// Those in jars, folders and images.
    found: Origins,
    /// The option, without spaces around its name.
    setting: String,
}

impl LibraryArguments {
    /// The library to collapse; `None` for none.
    pub fn library(&self) -> Result<Option<Library>> {
        let LibraryArguments { collapse_library, mine, mine_from } = self;
        if mine.is_empty() && mine_from.is_empty() {
            return Ok(collapse_library.then(Library::jdk));
        }
        let names = if mine.is_empty() { None } else { Some(Filter::new(mine, &[])?) };
        let found = classes::origins(mine_from)?;
        if let Some(path) = mine_from.first().filter(|_| found.is_empty()) {
            bail!("{}: no class is there, so --mine-from has nothing to keep", path.display());
        }
        // Paths without folders, which may be others on another machine.
        let places = mine_from.iter().map(|path| {
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into())
        });
        let places: Vec<String> = places.collect();
        let of = |option: &str, values: &[String]| {
            (!values.is_empty()).then(|| format!("{option}={}", values.join(",")))
        };
        let setting = [of("mine", mine), of("mine-from", &places)].into_iter().flatten().collect::<Vec<_>>();
        let which = format!("all but {}", [&**mine, &*places].concat().join(", "));
        let mine = OwnClasses { names, found, setting: setting.join(" ") };
        Ok(Some(Library { mine: Some(mine), which }))
    }

    /// Whether nothing is collapsed.
    pub fn is_none(&self) -> bool {
        !self.collapse_library && self.mine.is_empty() && self.mine_from.is_empty()
    }

    /// Fails if a library is to be collapsed with a tool that leaves no profile.
    pub fn check_none(&self, tool: ToolName) -> Result<()> {
        if self.library()?.is_some() {
            let tool = tool.name();
            bail!(
                "--collapse-library, --mine and --mine-from are for profiles; leave them out, or leave out \
                 --tool {tool}"
            );
        }
        Ok(())
    }
}

impl Library {
    /// The JDK, by the names of its packages.
    pub fn jdk() -> Library {
        Library { mine: None, which: library::JDK.to_owned() }
    }

    /// The message if the user names classes of which the profile has none.
    pub fn unmatched(&self, profile: &Profile) -> Option<String> {
        let mine = self.mine.as_ref()?;
        let of_program = |method: &&Method| method.flags & (Method::MARKER | Method::UNKNOWN) == 0;
        let mut methods = profile.methods.iter().filter(of_program);
        if methods.clone().next().is_none() || methods.any(|method| !self.has(method)) {
            return None;
        }
        let setting = &mine.setting;
        Some(format!("no class of the profile matches --{setting}, so everything is the library"))
    }

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
            Some(OwnClasses { names, found, .. }) => {
                let is_named = names.as_ref().is_some_and(|names| names.records(class.as_bytes()));
                !is_named && found.of(&method.class).is_none()
            }
        };
        is_library && method.flags & Method::UNKNOWN == 0
    }

    /// Whether all methods of a profile that match the pattern are of the library. False if none
    /// matches.
    pub fn hides(&self, pattern: &Pattern, profile: &Profile) -> bool {
        let matches = |method: &&Method| {
            [NameStyle::Normalised, NameStyle::Raw].iter().any(|&style| pattern.matches_method(method, style))
        };
        let mut found = profile.methods.iter().filter(matches).peekable();
        found.peek().is_some() && found.all(|method| self.has(method))
    }

    /// The library as an option, without spaces around its name.
    pub fn setting(&self) -> String {
        self.mine.as_ref().map_or("collapse-library", |mine| &mine.setting).to_owned()
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
        LibraryArguments { collapse_library, mine, mine_from: Vec::new() }.library().unwrap()
    }

    fn method(class: &str, flags: u64) -> Method {
        let (class, name, descriptor) = (class.into(), "f".into(), "()V".into());
        Method { class, name, descriptor, site: None, flags, mid: 1 }
    }

    #[test]
    fn unmatched_classes_are_the_library() {
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
