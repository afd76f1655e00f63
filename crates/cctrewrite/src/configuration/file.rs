//! Reads the file: a table for each command, with options and their values.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use toml::Value as Toml;

/// Maximum size of a configuration file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The options of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the command.
    pub command: String,
    /// Options without dashes, and their values, in the order of their names.
    pub options: Vec<(String, Value)>,
}

/// The value of an option.
#[derive(Debug, PartialEq, Eq)]
pub enum Value {
    /// A switch: whether it is given.
    Switch(bool),
    /// One value, or several values of a repeatable option.
    Values(Vec<String>),
}

impl Value {
    /// Whether the value is that of a switch (true or false).
    pub fn is_switch(&self) -> bool {
        matches!(self, Value::Switch(_))
    }
}

impl Table {
    /// The options as on a command line.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.options.iter().flat_map(|(key, value)| match value {
            Value::Switch(true) => vec![format!("--{key}")],
            Value::Switch(false) => Vec::new(),
            Value::Values(values) => values.iter().map(|value| format!("--{key}={value}")).collect(),
        })
    }
}

/// Reads a file.
///
/// # Errors
/// Fails if the file cannot be read, is too long, or is not TOML. Values must be texts, numbers,
/// true, false, or lists of texts and numbers.
pub fn read(path: &Path) -> Result<Vec<Table>> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > LARGEST {
        bail!("not a configuration file: expected at most {LARGEST} bytes");
    }
    parse(&fs::read_to_string(path)?)
}

fn parse(text: &str) -> Result<Vec<Table>> {
    let file: toml::Table = text.parse()?;
    let mut tables = Vec::new();
    for (command, options) in file {
        let Toml::Table(options) = options else {
            bail!("{command} is outside of a table; write it below the name of its command, such as [run]");
        };
        let options = options.into_iter().map(|(key, value)| {
            let value = parse_value(&value).map_err(|what| anyhow::anyhow!("[{command}] {key}: {what}"))?;
            Ok((key, value))
        });
        let options = options.collect::<Result<Vec<_>>>()?;
        tables.push(Table { command, options });
    }
    Ok(tables)
}

fn parse_value(value: &Toml) -> Result<Value, &'static str> {
    let single = |value: &Toml| match value {
        Toml::String(text) if text.contains(['\0', '\n', '\r']) => Err("a text cannot have line breaks"),
        Toml::String(text) => Ok(text.clone()),
        Toml::Integer(number) => Ok(number.to_string()),
        Toml::Float(number) => Ok(number.to_string()),
        _ => Err("expected a text, a number, true, false or a list of texts and numbers"),
    };
    match value {
        Toml::Boolean(is_on) => Ok(Value::Switch(*is_on)),
        Toml::Array(values) => values.iter().map(single).collect::<Result<_, _>>().map(Value::Values),
        other => Ok(Value::Values(vec![single(other)?])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_on_a_command_line() {
        let text = "[run]\nonly = [\"com.acme.**\", \"org.x.*\"]\nallocations = true\nregions = false\nmax-contexts = 5\n[report]\ntop = 20\n";
        let tables = parse(text).unwrap();
        let words = |at: usize| tables[at].words().collect::<Vec<_>>().join(" ");
        let commands: Vec<&str> = tables.iter().map(|table| &*table.command).collect();
        let run = commands.iter().position(|command| *command == "run").unwrap();
        assert_eq!(words(run), "--allocations --max-contexts=5 --only=com.acme.** --only=org.x.*");
        assert_eq!(words(1 - run), "--top=20");
    }

    #[test]
    fn invalid_configurations_are_refused() {
        for (text, part) in [
            ("top = 20", "outside of a table"),
            ("[run]\nonly = { a = 1 }", "[run] only"),
            ("[run]\nonly = [[1]]", "[run] only"),
            ("[run]\nonly = \"a\\nb\"", "line breaks"),
            ("[run", ""),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
