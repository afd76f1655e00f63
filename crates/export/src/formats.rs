//! The table of formats.

use crate::{Format, callgrind, collapsed, flame, json, otlp, parquet, pprof, speedscope};

/// All formats, in the order of the help text.
pub static FORMATS: [Format; 9] = [
    collapsed::FORMAT,
    flame::SVG,
    flame::ICICLE,
    speedscope::FORMAT,
    pprof::FORMAT,
    otlp::FORMAT,
    callgrind::FORMAT,
    parquet::FORMAT,
    json::FORMAT,
];
