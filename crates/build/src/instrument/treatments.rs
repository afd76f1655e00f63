//! Descriptions of the treatments of methods.

use cct_index::treatment::Treatment;

/// A treatment in half a line, for tables.
pub fn in_brief(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Wrapped => "body takes the context as an argument, the original signature forwards to it",
        Treatment::Duplicated => "body under both signatures",
        Treatment::Redispatched => "body under the original signature, the extended one calls it virtually",
        Treatment::AbstractRedispatched => "no body, the extended signature calls the original one virtually",
        Treatment::OriginalOnly => {
            "body under the original signature only, its context comes through the thread"
        }
        Treatment::Native => "native, with a wrapper that counts it and leaves its context in the thread",
        Treatment::LeafNative => "native that never calls back, with a wrapper that counts it",
        Treatment::Magic => "known to the VM, with a wrapper that counts it",
        Treatment::CallerCounted => "untouched, counted by its callers",
        Treatment::Untouched => "untouched, not counted",
        Treatment::Prefixed => "native under another name, with a method in its place that counts it",
        Treatment::Intrinsic => "untouched, HotSpot may replace it; with a wrapper that counts it",
    }
}
