//! The image's options: a file with one on each line, and the rule that gives users' own options
//! precedence.

/// The file, relative to `java.home`.
pub const FILE: &str = "lib/cctrewrite/options";

/// The name of this JVM in `jvm.cfg`, and of its folder.
pub const NAME: &str = "cctrewrite";

/// The environment variable that HotSpot reads *before* the options that a launcher gives it.
pub const ENVIRONMENT: &str = "JAVA_TOOL_OPTIONS";

/// The options in the file's text, without those that `environment` sets. (HotSpot uses the last of
/// options given twice, and a launcher's options follow those of the environment: otherwise the
/// image's would override the user's.)
pub fn chosen<'t>(text: &'t str, environment: &str) -> Vec<&'t str> {
    let theirs: Vec<&str> = environment.split_whitespace().map(key).collect();
    text.lines().filter(|line| !line.is_empty() && !theirs.contains(&key(line))).collect()
}

/// The setting of an option: `-XX:-Flag`, `-XX:+Flag` and `-XX:Flag=value` set `Flag`,
/// `-Dkey=value` sets `-Dkey`.
fn key(option: &str) -> &str {
    let before = option.split('=').next().unwrap_or(option);
    match before.strip_prefix("-XX:") {
        Some(flag) => flag.trim_start_matches(['+', '-']),
        None => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "-XX:-OmitStackTraceInFastThrow\n-XX:MaxJavaStackTraceDepth=4096\n-Dcctrewrite.depth=10\n";

    #[test]
    fn all_lines_are_options() {
        assert_eq!(chosen(TEXT, "").len(), 3);
        assert_eq!(chosen("", ""), [""; 0]);
    }

    #[test]
    fn settings_of_the_environment_stay() {
        let text = chosen(TEXT, " -XX:+OmitStackTraceInFastThrow\t-Dcctrewrite.depth=2 -Xmx1g ");
        assert_eq!(text, ["-XX:MaxJavaStackTraceDepth=4096"]);
        assert_eq!(chosen(TEXT, "-XX:MaxJavaStackTraceDepth=1 -Dcctrewrite=10").len(), 2);
    }
}
