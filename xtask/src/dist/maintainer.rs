//! The maintainer of the Debian package.

use std::env;
use std::fmt;
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context as _, Result};
use xtask_tools::process;
use xtask_tools::workspace::root;

/// Debian's variables for the maintainer's name and address (debchange(1)).
const VARIABLES: [&str; 2] = ["DEBFULLNAME", "DEBEMAIL"];

/// A name and an e-mail address, as the field Maintainer has them (Debian Policy 5.6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintainer {
    name: String,
    address: String,
}

impl Maintainer {
    /// The given one, else that of `DEBFULLNAME` and `DEBEMAIL`, else the author of the last
    /// commit.
    ///
    /// # Errors
    /// Fails if there is none of them, or if it is not a name with an address.
    pub fn get(given: Option<&Maintainer>) -> Result<Maintainer> {
        if let Some(given) = given {
            return Ok(given.clone());
        }
        let [name, address] = VARIABLES.map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
        let text = match (name, address) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            _ => author().context("no maintainer of the Debian package; give --maintainer")?,
        };
        text.parse().with_context(|| format!("{text:?} as maintainer; give --maintainer"))
    }
}

/// The author of the last commit.
fn author() -> Result<String> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["log", "-1", "--format=%an <%ae>"]);
    Ok(process::output(&mut git)?.trim().to_owned())
}

impl FromStr for Maintainer {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Maintainer> {
        parsed(text).context("expected NAME <ADDRESS>, for instance \"Ada Lovelace <ada@lovelace.org>\"")
    }
}

fn parsed(text: &str) -> Option<Maintainer> {
    let (name, rest) = text.split_once('<')?;
    let (name, address) = (name.trim(), rest.strip_suffix('>')?);
    let (user, host) = address.split_once('@')?;
    // Commas separate people in the fields of Debian.
    let is_odd = |c: char| c.is_control() || "<>,@".contains(c);
    let is_word = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || is_odd(c));
    let is_name = !name.is_empty() && !name.contains(is_odd);
    (is_name && is_word(user) && is_word(host))
        .then(|| Maintainer { name: name.to_owned(), address: address.to_owned() })
}

impl fmt::Display for Maintainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maintainer_has_a_name_and_an_address() {
        for text in ["Ada Lovelace <ada@lovelace.org>", "A <a@b>", "J. R. \"Bob\" Dobbs <bob+deb@sub.org>"] {
            assert_eq!(text.parse::<Maintainer>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "Ada",
            "<ada@lovelace.org>",
            "Ada <ada>",
            "Ada <ada@>",
            "Ada <ada@a b>",
            "Ada <a@b> x",
            "Ada, Bob <a@b>",
            "Ada\nDepends: x <a@b>",
            "Ada <a@b\n>",
        ] {
            assert!(text.parse::<Maintainer>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_given_one_counts_first_and_the_author_is_one() {
        let given = Maintainer { name: "Ada".into(), address: "a@b".into() };
        assert_eq!(Maintainer::get(Some(&given)).unwrap(), given);
        let author = author().unwrap();
        assert_eq!(author.parse::<Maintainer>().unwrap().to_string(), author);
    }
}
