//! JVM options beside those that put outputs in place.

/// An option without which compiled code leaves out calls that the interpreter makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactnessOption {
    /// Name of the flag.
    pub flag: &'static str,
    /// The value it must have; of a list, a word that must be in it.
    pub wanted: &'static str,
    /// Whether it is needed only where the bodies of intrinsics are counted.
    pub for_bodies: bool,
    /// The last version of the JDK that knows it.
    pub until: u32,
}

const fn option(flag: &'static str, wanted: &'static str) -> ExactnessOption {
    ExactnessOption { flag, wanted, for_bodies: false, until: u32::MAX }
}

const fn intrinsic(name: &'static str) -> ExactnessOption {
    ExactnessOption { flag: "DisableIntrinsic", wanted: name, for_bodies: true, until: u32::MAX }
}

/// What exact numbers need. The runtime checks the same list, where the reasons stand
/// (`jdk-wrap/java/cctrewrite/runtime/Exactness.java`); a test holds the two together.
pub const EXACTNESS: &[ExactnessOption] = &[
    option("OmitStackTraceInFastThrow", "false"),
    // Later there are intrinsics for two static methods instead, which are called by their extended
    // forms. HotSpot refuses unknown names.
    ExactnessOption { until: 8, ..intrinsic("_equals") },
    intrinsic("_profileBoolean"),
    option("DisableIntrinsic", "_isCompileConstant"),
    option("EliminateAutoBox", "false"),
    option("OptimizeStringConcat", "false"),
];

/// With a cost model: threads of the JVM's own do not run on the target machine (CCCP 5.2).
pub const WITHOUT_SYSTEM_THREADS: &str = "-Dcctrewrite.system-threads=no";

/// Options for speed, which change no number.
///
/// * HotSpot never compiles methods above 8000 bytes of bytecode, and instrumented ones are about
///   twice as large.
/// * Its second compiler (C2) takes more than in proportion for larger methods, and in short
///   programs that is most of what they take. So methods are called thirty times as often as by
///   default before it compiles them; with its first compiler (C1) they are compiled as early as
///   ever.
/// * C2 inlines less where much has been inlined already, and gives up on methods that are still
///   too large for it, which C1 then compiles for good, without counters for C2. That is by the
///   nodes of its graph, 30,000 instead of 80,000.
///
/// Programs that run for long end up with code that is as fast: kernels that are warm, and one
/// program for ten times as long, were measured (docs/benchmarks.md). (Higher limits for inlining
/// were measured and made programs slower, so they are not here.)
pub const FAST: &[&str] = &[
    "-XX:-DontCompileHugeMethods",
    "-XX:Tier4InvocationThreshold=150000",
    "-XX:Tier4MinInvocationThreshold=18000",
    "-XX:Tier4CompileThreshold=450000",
    "-XX:Tier4BackEdgeThreshold=1200000",
    "-XX:MaxNodeLimit=30000",
    "-XX:LiveNodeCountInliningCutoff=15000",
];

/// The options of [`EXACTNESS`] as a JDK of this feature release takes them, for outputs that count
/// the bodies of intrinsics (`--intrinsics bytecode`) or do not.
pub fn spelled(version: u32, bodies: bool) -> Vec<String> {
    let mut options = Vec::new();
    let mut intrinsics = Vec::new();
    for option in EXACTNESS.iter().filter(|option| (bodies || !option.for_bodies) && version <= option.until)
    {
        match option.wanted {
            "true" => options.push(format!("-XX:+{}", option.flag)),
            "false" => options.push(format!("-XX:-{}", option.flag)),
            // The one flag that is a list.
            word => intrinsics.push(word),
        }
    }
    if !intrinsics.is_empty() {
        options.push("-XX:+UnlockDiagnosticVMOptions".to_owned());
        options.push(format!("-XX:DisableIntrinsic={}", intrinsics.join(",")));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flags and values of the runtime's table: `new Option("flag", "value", ...)`.
    fn table_of_the_runtime() -> Vec<(String, String, bool)> {
        let source =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../jdk-wrap/java/cctrewrite/runtime/Exactness.java");
        let source = std::fs::read_to_string(source).unwrap();
        let rows = source.split("new Option(\"").skip(1);
        rows.map(|row| {
            let mut strings = row.split('"');
            let flag = strings.next().unwrap().to_owned();
            let wanted = strings.nth(1).unwrap().to_owned();
            (flag, wanted, strings.next().unwrap().contains("WITH_BODIES"))
        })
        .collect()
    }

    #[test]
    fn the_runtime_checks_what_is_printed() {
        let ours: Vec<_> =
            EXACTNESS.iter().map(|o| (o.flag.to_owned(), o.wanted.to_owned(), o.for_bodies)).collect();
        assert_eq!(ours, table_of_the_runtime());
    }

    #[test]
    fn lists_are_joined_and_unlocked() {
        assert_eq!(
            spelled(8, true),
            [
                "-XX:-OmitStackTraceInFastThrow",
                "-XX:-EliminateAutoBox",
                "-XX:-OptimizeStringConcat",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:DisableIntrinsic=_equals,_profileBoolean,_isCompileConstant",
            ]
        );
        let later = spelled(17, true).pop();
        assert_eq!(later.as_deref(), Some("-XX:DisableIntrinsic=_profileBoolean,_isCompileConstant"));
        let last = spelled(8, false).pop();
        assert_eq!(last.as_deref(), Some("-XX:DisableIntrinsic=_isCompileConstant"));
    }
}
