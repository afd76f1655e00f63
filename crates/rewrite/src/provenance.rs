//! The provenance that outputs state (docs/reference/formats/index.md).

use cct_index::provenance::Provenance;
use cct_jdk::convention;
use cct_settings::Settings;

/// Version of the lines.
const FORMAT: &str = "1";

/// The provenance of a run with these settings. `jdk` is the hash of the surveyed class library, if
/// there was one.
pub fn provenance(settings: &Settings, tool: &str, jdk: Option<u64>) -> Provenance {
    let mut entries = settings.entries();
    entries.insert("format", FORMAT.to_owned());
    entries.insert("jdk", jdk.map_or("none".to_owned(), |hash| format!("{hash:016x}")));
    entries.insert("scheme", convention::SCHEME.to_string());
    entries.insert("tool", tool.to_owned());
    let mut lines: Vec<String> = entries.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    lines.sort();
    Provenance::of_lines(&lines.concat())
}

#[cfg(test)]
mod tests {
    use cct_pcc::MethodChoice;

    use super::*;

    #[test]
    fn lines_are_sorted() {
        let chosen = MethodChoice::parse(["a.B.m"], ["a.**.*"]).unwrap().interned();
        let provenance = provenance(&Settings::default().of_values(chosen), "test", Some(7));
        assert!(provenance.lines().lines().is_sorted(), "{}", provenance.lines());
        assert_eq!(provenance.value("jdk"), Some("0000000000000007"));
    }

    #[test]
    fn a_module_is_the_last_key() {
        let plain = provenance(&Settings::default(), "test", None);
        let with = plain.clone().with_udi("count@0123456789abcdef");
        assert!(with.lines().lines().is_sorted());
        assert_eq!((with.value("udi"), plain.value("udi")), (Some("count@0123456789abcdef"), None));
        assert_eq!(Settings::of_entries(with.lines()), Settings::of_entries(plain.lines()));
    }
}
