//! The ways in which programs are run.

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its name on the command line.
    pub word: &'static str,
    /// The head of its column.
    pub name: &'static str,
    /// How many of 100 methods are marked; `None` of the plain program.
    pub sample: Option<u32>,
    /// The class of the client.
    pub client: Option<&'static str>,
}

const NOP: Option<&str> = Some("Nop");

/// All of them; the plain one first.
pub const WAYS: [Way; 9] = [
    Way { word: "plain", name: "plain", sample: None, client: None },
    Way { word: "0", name: "0 %", sample: Some(0), client: NOP },
    Way { word: "10", name: "10 %", sample: Some(10), client: NOP },
    Way { word: "25", name: "25 %", sample: Some(25), client: NOP },
    Way { word: "50", name: "50 %", sample: Some(50), client: NOP },
    Way { word: "75", name: "75 %", sample: Some(75), client: NOP },
    Way { word: "100", name: "100 %", sample: Some(100), client: NOP },
    Way { word: "off", name: "no client", sample: Some(100), client: None },
    Way { word: "simple", name: "simple", sample: Some(100), client: Some("SimpleNop") },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_what_the_others_are_held_against() {
        assert!(WAYS[0].sample.is_none() && WAYS[1..].iter().all(|way| way.sample.is_some()));
        for (at, way) in WAYS.iter().enumerate() {
            assert_eq!(WAYS.iter().position(|other| other.word == way.word), Some(at));
        }
    }
}
