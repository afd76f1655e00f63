//! The file of stored counts. People commit it, so it is JSON with a line for each method: version
//! control shows readable differences.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use cct_build::pending_file::PendingFile;
use serde::{Deserialize, Serialize};

use super::counts::{Count, Counts};

/// The version of the format.
const VERSION: u32 = 1;

/// The conditions, other than the program, on which counts depend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// The JDK's version, for people.
    pub java: String,
    /// The hash of its class library.
    pub jdk: String,
    /// How classes are rewritten, as `key=value ...`.
    pub settings: String,
    /// Number of runs of an entry before the counted one.
    pub warm_up: u16,
}

/// Stored counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The conditions under which all entries were counted.
    pub conditions: Conditions,
    /// The counts of each entry, by its name.
    pub entries: BTreeMap<String, StoredEntry>,
}

/// The stored counts of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredEntry {
    /// The counts of the JVM that executed most.
    pub counts: Counts,
    /// The counts of the JVM that executed least; `None` if all counts were the same.
    pub least: Option<Count>,
}

/// The file as serde reads it.
#[derive(Deserialize)]
struct BaselineFile {
    #[serde(rename = "cctrewrite bench")]
    version: u32,
    #[serde(flatten)]
    conditions: Conditions,
    entries: BTreeMap<String, StoredCounts>,
}

#[derive(Deserialize)]
struct StoredCounts {
    all: [u64; 2],
    #[serde(default)]
    least: Option<[u64; 2]>,
    program: [u64; 2],
    methods: BTreeMap<String, [u64; 2]>,
}

impl From<[u64; 2]> for Count {
    fn from([calls, bytecodes]: [u64; 2]) -> Count {
        Count { calls: calls.into(), bytecodes: bytecodes.into() }
    }
}

impl Baseline {
    /// Reads a file; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Baseline>> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let not_one = || format!("{}: not a baseline of cctrewrite bench", path.display());
        let stored: BaselineFile = serde_json::from_str(&text).with_context(not_one)?;
        if stored.version != VERSION {
            bail!(
                "{}: format version {}; this version of cctrewrite reads version {VERSION}",
                path.display(),
                stored.version
            );
        }
        let entry = |stored: StoredCounts| StoredEntry {
            counts: Counts {
                all: stored.all.into(),
                program: stored.program.into(),
                methods: stored.methods.into_iter().map(|(name, count)| (name, count.into())).collect(),
            },
            least: stored.least.map(Count::from),
        };
        let entries = stored.entries.into_iter().map(|(name, stored)| (name, entry(stored))).collect();
        Ok(Some(Baseline { conditions: stored.conditions, entries }))
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(PendingFile::write_decisive(path, |out| self.json(out))?.commit()?)
    }

    /// The file's text. A count is `[calls, bytecodes]`.
    pub fn json(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Conditions { java, jdk, settings, warm_up } = &self.conditions;
        writeln!(out, "{{\n  \"cctrewrite bench\": {VERSION},")?;
        for (key, value) in [("java", java), ("jdk", jdk), ("settings", settings)] {
            writeln!(out, "  \"{key}\": {},", text(value))?;
        }
        write!(out, "  \"warm_up\": {warm_up},\n  \"entries\": {{")?;
        let mut separator = "";
        for (name, StoredEntry { counts, least }) in &self.entries {
            writeln!(out, "{separator}\n    {}: {{", text(name))?;
            writeln!(out, "      \"all\": {},", pair(counts.all))?;
            if let Some(least) = least {
                writeln!(out, "      \"least\": {},", pair(*least))?;
            }
            writeln!(out, "      \"program\": {},", pair(counts.program))?;
            write!(out, "      \"methods\": {{")?;
            let mut comma = "";
            for (method, count) in &counts.methods {
                write!(out, "{comma}\n        {}: {}", text(method), pair(*count))?;
                comma = ",";
            }
            write!(out, "\n      }}\n    }}")?;
            separator = ",";
        }
        writeln!(out, "\n  }}\n}}")
    }
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn pair(count: Count) -> String {
    format!("[{}, {}]", count.calls, count.bytecodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        let count = |calls, bytecodes| Count { calls, bytecodes };
        let methods = [("a.B.<init>()V".to_owned(), count(1, 5)), ("\"odd\\\n".to_owned(), count(2, 0))];
        let counts = Counts { all: count(3, 5), program: count(1, 5), methods: methods.into() };
        let conditions = Conditions {
            java: "17.0.1".into(),
            jdk: "00ff".into(),
            settings: "blocks=default".into(),
            warm_up: 2,
        };
        let same = StoredEntry { counts: counts.clone(), least: None };
        let varying = StoredEntry { counts, least: Some(count(3, 4)) };
        let entries = [("a.B.c".to_owned(), same), ("a.B.d(1, \"x\")".to_owned(), varying)];
        Baseline { conditions, entries: entries.into() }
    }

    #[test]
    fn written_data_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        assert_eq!(Baseline::read(&path).unwrap(), None);
        baseline().write(&path).unwrap();
        assert_eq!(Baseline::read(&path).unwrap(), Some(baseline()));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\n        \"a.B.<init>()V\": [1, 5]\n"), "{text}");
        fs::write(&path, text.replace("\"cctrewrite bench\": 1", "\"cctrewrite bench\": 2")).unwrap();
        assert!(Baseline::read(&path).is_err());
        fs::write(&path, "{}").unwrap();
        assert!(Baseline::read(&path).is_err());
    }
}
