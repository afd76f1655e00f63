//! The ways to run marked programs.

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The way's name on the command line.
    pub word: &'static str,
    /// The heading of its column.
    pub name: &'static str,
    /// Percentage of marked methods.
    pub sample: u32,
    /// The class of the client.
    pub client: Option<&'static str>,
}

const NOP: Option<&str> = Some("Nop");

/// All of them.
pub const WAYS: [Way; 8] = [
    Way { word: "0", name: "0 %", sample: 0, client: NOP },
    Way { word: "10", name: "10 %", sample: 10, client: NOP },
    Way { word: "25", name: "25 %", sample: 25, client: NOP },
    Way { word: "50", name: "50 %", sample: 50, client: NOP },
    Way { word: "75", name: "75 %", sample: 75, client: NOP },
    Way { word: "100", name: "100 %", sample: 100, client: NOP },
    Way { word: "off", name: "no client", sample: 100, client: None },
    Way { word: "simple", name: "simple", sample: 100, client: Some("SimpleNop") },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        for (at, way) in WAYS.iter().enumerate() {
            assert_eq!(WAYS.iter().position(|other| other.word == way.word), Some(at));
        }
    }
}
