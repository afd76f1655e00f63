//! Headings of `--help`.

/// A heading below which `--help` lists options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    /// Location and form of results.
    Output,
    /// The contexts to record.
    Recording,
    /// Rules for counting.
    Counting,
    /// The JDK and its profiled image.
    Image,
    /// Traces of events.
    Traces,
    /// Values of contexts.
    Values,
    /// Markers and their clients.
    Markers,
    /// Properties over objects.
    Typestate,
    /// Options that few users need.
    Advanced,
}

impl Heading {
    /// The text.
    pub const fn text(self) -> &'static str {
        match self {
            Heading::Output => "Output",
            Heading::Recording => "Recorded contexts",
            Heading::Counting => "Counting",
            Heading::Image => "Image",
            Heading::Traces => "Traces",
            Heading::Values => "Values",
            Heading::Markers => "Markers",
            Heading::Typestate => "Typestate",
            Heading::Advanced => "Advanced",
        }
    }
}
