//! JVM options for stack traces of the same depth as without cctrewrite.
//!
//! The JVM counts the frames of forwarders, which the runtime removes (docs/internals/runtime.md).
//! So these options ask the JVM for more frames, and the runtime cuts the trace where the JVM would
//! have cut it.

/// HotSpot's default for `MaxJavaStackTraceDepth`.
pub const DEFAULT_DEPTH: i32 = 1024;

/// Number of frames to ask for, for each frame shown. A call can go through two forwarders, a
/// redispatching form and a wrapper. The fourth frame leaves room for the runtime's own frames.
const FRAMES_FOR_ONE: i32 = 4;

/// Maximum depth of a trace, in frames.
pub const MAX_DEPTH: i64 = (i32::MAX / FRAMES_FOR_ONE) as i64;

/// The options for traces of `depth` frames on a feature release; -1 means no limit. HotSpot 8 also
/// uses -1 for that. Later releases use 0, and accept at most half of the largest `int`.
pub fn spelled(depth: i32, release: u32) -> Vec<String> {
    let limit = match depth {
        ..0 if release > 8 => 0,
        ..0 => -1,
        // Not below the default: lists of classes need a trace, too, whatever exceptions show.
        _ => depth.max(DEFAULT_DEPTH).saturating_mul(FRAMES_FOR_ONE),
    };
    let limit = if release > 8 { limit.min(i32::MAX / 2) } else { limit };
    let mut options = vec![format!("-XX:MaxJavaStackTraceDepth={limit}")];
    if depth != DEFAULT_DEPTH {
        options.push(format!("-Dcctrewrite.depth={depth}"));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jvm_is_asked_for_more_and_the_runtime_gets_the_limit() {
        assert_eq!(spelled(1024, 17), ["-XX:MaxJavaStackTraceDepth=4096"]);
        assert_eq!(spelled(-1, 17), ["-XX:MaxJavaStackTraceDepth=0", "-Dcctrewrite.depth=-1"]);
        assert_eq!(spelled(1024, 8), ["-XX:MaxJavaStackTraceDepth=4096"]);
        assert_eq!(spelled(10, 8), ["-XX:MaxJavaStackTraceDepth=4096", "-Dcctrewrite.depth=10"]);
        assert_eq!(spelled(3000, 8), ["-XX:MaxJavaStackTraceDepth=12000", "-Dcctrewrite.depth=3000"]);
        assert_eq!(spelled(-1, 8), ["-XX:MaxJavaStackTraceDepth=-1", "-Dcctrewrite.depth=-1"]);
    }
}
