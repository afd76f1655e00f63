//! Keys of a profile's metadata (`META`) that several files know, and their fixed values.

/// Whether objects were counted.
pub const ALLOCATIONS: &str = "allocations";

/// Whether call sites are distinguished: `yes`.
pub const CALL_SITES: &str = "call-sites";

/// The columns, sorted, separated by spaces; missing without columns.
pub const COLUMNS: &str = "columns";

/// The cost model, by name and content hash.
pub const COST_MODEL: &str = "cost-model";

/// Which methods are collapsed into contexts `(library)`; see [`crate::library`].
pub const LIBRARY: &str = "library";

/// Of a merged profile: the names of the merged profiles, one on each line.
pub const MERGED: &str = "merged";

/// The metrics of the profile.
pub const METRICS: &str = "metrics";

/// Of a merged profile: the number of runs that it is the sum of.
pub const RUNS: &str = "runs";

/// The outputs that took part, one on each line.
pub const PROVENANCE: &str = "provenance";

/// Which part of everything is in the profile.
pub const SELECTION: &str = "selection";

/// The metric of calls, in [`METRICS`].
pub const CALLS: &str = "calls";

/// The metric of executed bytecodes, in [`METRICS`].
pub const BYTECODES: &str = "bytecodes";

/// The value of [`METRICS`] in a view of objects
/// ([`Profile::allocations`](crate::Profile::allocations)).
pub const METRICS_OF_OBJECTS: &str = "allocations";
