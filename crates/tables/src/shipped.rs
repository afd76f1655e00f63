//! Tables that come along, by name.

/// Cost models.
pub(crate) const COST_MODELS: &[(&str, &str)] =
    &[("jop", include_str!("../models/jop.toml")), ("unit", include_str!("../models/unit.toml"))];
