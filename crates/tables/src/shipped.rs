//! Built-in tables, by name.

/// Rules for the ends of blocks.
pub(crate) const BLOCK_ENDS: &[(&str, &str)] = &[
    ("calls", include_str!("../blocks/calls.toml")),
    ("like-default", include_str!("../blocks/like-default.toml")),
    ("like-precise", include_str!("../blocks/like-precise.toml")),
];

/// Cost models.
pub(crate) const COST_MODELS: &[(&str, &str)] =
    &[("jop", include_str!("../models/jop.toml")), ("unit", include_str!("../models/unit.toml"))];
