//! JVM options that belong to outputs made with `--reproducible` (docs/ci/reproducible.md).

/// A JVM option that fixes something which otherwise differs between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Name of the flag, or of a system property. Only names of properties have dots.
    pub flag: &'static str,
    /// The value to set. A value that the user gives after it wins.
    pub value: &'static str,
    /// The first feature release that has the option.
    pub since: u16,
    /// The last feature release that has the option; [`NEWEST`] if none has dropped it.
    pub until: u16,
}

/// Stands for the newest JDK, whichever that is.
pub const NEWEST: u16 = u16::MAX;

const fn pin(flag: &'static str, value: &'static str, since: u16, until: u16) -> Pin {
    Pin { flag, value, since, until }
}

/// The JVM options of `--reproducible`. The runtime notes each one that is missing, with the reason
/// (`jdk-wrap/java/cctrewrite/runtime/Reproducibility.java`). A test keeps the two lists equal.
pub const PINS: &[Pin] = &[
    pin("hashCode", "3", 8, NEWEST),
    pin("ActiveProcessorCount", "1", 8, NEWEST),
    pin("SoftRefLRUPolicyMSPerMB", "2147483647", 8, NEWEST),
    pin("UseDynamicNumberOfCompilerThreads", "false", 11, NEWEST),
    pin("BytecodeVerificationRemote", "false", 8, NEWEST),
    pin("sun.io.useCanonCaches", "false", 8, 11),
];

/// Gives every thread its own tree. By default the tree of an ended thread goes to the next thread.
/// Which thread is next depends on timing; the sums of all trees do not.
const TREES: &str = "-Dcctrewrite.threads=each";

/// The options of [`PINS`] in the spelling of this JDK, and the profiler's own option.
pub fn spelled(jdk: u16) -> Vec<String> {
    let mut options = Vec::new();
    for &Pin { flag, value, .. } in PINS.iter().filter(|pin| (pin.since..=pin.until).contains(&jdk)) {
        // Some JDKs accept these flags only after an unlocking option, which all JDKs accept.
        match flag {
            "hashCode" => options.push("-XX:+UnlockExperimentalVMOptions".to_owned()),
            "BytecodeVerificationRemote" => options.push("-XX:+UnlockDiagnosticVMOptions".to_owned()),
            _ => {}
        }
        options.push(match value {
            _ if flag.contains('.') => format!("-D{flag}={value}"),
            "true" => format!("-XX:+{flag}"),
            "false" => format!("-XX:-{flag}"),
            _ => format!("-XX:{flag}={value}"),
        });
    }
    options.push(TREES.to_owned());
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runtime's table: `new Option("flag", "value", also, since, until, "why")`.
    fn table_of_the_runtime() -> Vec<(String, String, u16, u16)> {
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../jdk-wrap/java/cctrewrite/runtime/Reproducibility.java"
        );
        let source = std::fs::read_to_string(source).unwrap();
        let number = |text: &str| if text == "NEWEST" { NEWEST } else { text.parse().unwrap() };
        let rows = source.split("new Option(").skip(1).map(|row| {
            let columns: Vec<&str> = row.split(',').map(|column| column.trim().trim_matches('"')).collect();
            (columns[0].to_owned(), columns[1].to_owned(), number(columns[3]), number(columns[4]))
        });
        rows.collect()
    }

    #[test]
    fn the_runtime_checks_what_is_printed() {
        let ours: Vec<_> =
            PINS.iter().map(|p| (p.flag.to_owned(), p.value.to_owned(), p.since, p.until)).collect();
        assert_eq!(ours, table_of_the_runtime());
    }

    #[test]
    fn a_jdk_gets_the_options_that_it_knows() {
        assert_eq!(
            spelled(8),
            [
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:hashCode=3",
                "-XX:ActiveProcessorCount=1",
                "-XX:SoftRefLRUPolicyMSPerMB=2147483647",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-Dsun.io.useCanonCaches=false",
                "-Dcctrewrite.threads=each",
            ]
        );
        assert!(spelled(11).contains(&"-XX:-UseDynamicNumberOfCompilerThreads".to_owned()));
        assert!(!spelled(17).contains(&"-Dsun.io.useCanonCaches=false".to_owned()));
    }
}
