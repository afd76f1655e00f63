//! JVM options that keep counts exact, and options for speed.

/// A JVM option for exact counts. Without it, compiled code omits calls that the interpreter makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactnessOption {
    /// Name of the flag.
    pub flag: &'static str,
    /// The value that the flag must have. If the flag is a list: a word that it must contain.
    pub wanted: &'static str,
    /// Whether the option is needed only if the bodies of intrinsics are counted.
    pub for_bodies: bool,
    /// The last feature release of the JDK that knows the option.
    pub until: u32,
}

const fn option(flag: &'static str, wanted: &'static str) -> ExactnessOption {
    ExactnessOption { flag, wanted, for_bodies: false, until: u32::MAX }
}

const fn intrinsic(name: &'static str) -> ExactnessOption {
    ExactnessOption { flag: "DisableIntrinsic", wanted: name, for_bodies: true, until: u32::MAX }
}

/// The JVM options for exact counts. The runtime checks the same list, which also has the reasons
/// (`jdk-wrap/java/cctrewrite/runtime/Exactness.java`). A test keeps the two equal.
pub const EXACTNESS: &[ExactnessOption] = &[
    option("OmitStackTraceInFastThrow", "false"),
    // Later releases have intrinsics for two static methods instead. Callers use their extended
    // forms, so they need no option. HotSpot refuses names that it does not know.
    ExactnessOption { until: 8, ..intrinsic("_equals") },
    intrinsic("_profileBoolean"),
    option("DisableIntrinsic", "_isCompileConstant"),
    option("EliminateAutoBox", "false"),
    option("OptimizeStringConcat", "false"),
];

/// Keeps the JVM's own threads out of profiles with a cost model: they do not run on the target
/// machine (CCCP 5.2).
pub const WITHOUT_SYSTEM_THREADS: &str = "-Dcctrewrite.system-threads=no";

/// Options for speed, which change no count.
///
/// * By default HotSpot never compiles methods of more than 8,000 bytes of bytecode. Instrumented
///   methods are about twice as large as their originals.
/// * The time of HotSpot's second compiler (C2) grows faster than the size of a method. In short
///   programs it is most of the time. So C2 compiles a method only after thirty times as many calls
///   as by default. The first compiler (C1) compiles as early as by default.
/// * C2 inlines less where much has been inlined already. It gives up on a method whose graph still
///   has more than 30,000 nodes (default: 80,000). C1 then compiles the method for good, without
///   counters for C2.
///
/// Profiled programs that run for long are as fast as with HotSpot's defaults; plain ones are
/// slower (docs/internals/performance.md, *Warm programs*). Higher limits for inlining are not
/// here, since they made the measured programs slower.
pub const FAST: &[&str] = &[
    "-XX:-DontCompileHugeMethods",
    "-XX:Tier4InvocationThreshold=150000",
    "-XX:Tier4MinInvocationThreshold=18000",
    "-XX:Tier4CompileThreshold=450000",
    "-XX:Tier4BackEdgeThreshold=1200000",
    "-XX:MaxNodeLimit=30000",
    "-XX:LiveNodeCountInliningCutoff=15000",
];

/// The options of [`EXACTNESS`] in the spelling of this feature release. `bodies` says whether the
/// outputs count the bodies of intrinsics (`--intrinsics bytecode`).
pub fn spelled(version: u32, bodies: bool) -> Vec<String> {
    let mut options = Vec::new();
    let mut intrinsics = Vec::new();
    for option in EXACTNESS.iter().filter(|option| (bodies || !option.for_bodies) && version <= option.until)
    {
        match option.wanted {
            "true" => options.push(format!("-XX:+{}", option.flag)),
            "false" => options.push(format!("-XX:-{}", option.flag)),
            // Only one flag is a list.
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
