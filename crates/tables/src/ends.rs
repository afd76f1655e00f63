//! User-defined rules for the ends of basic blocks, besides the built-in ones (JP 4: custom
//! basic-block analyses).
//!
//! A block always ends after every instruction that may change the flow of control, since otherwise
//! sums would be wrong even without exceptions. A rule names further ends: groups of instructions,
//! and single opcodes.

use std::fmt::Write;

use cct_classfile::opcode::{self, Opcode};
use xxhash_rust::xxh3::xxh3_64;

use crate::interner::Interner;
use crate::toml::{self, Entry, Problem, TableError, Value};

/// Number of opcodes in class files: up to `jsr_w`.
const OPCODES: usize = opcode::JSR_W as usize + 1;

/// Number of words of a set of opcodes.
const WORDS: usize = OPCODES.div_ceil(64);

/// Maximum number of characters of a rule's name.
const LONGEST_NAME: usize = 24;

/// A group of instructions: its name, and whether an opcode is in it.
type Group = (&'static str, fn(Opcode) -> bool);

/// All groups except [`THROWING`].
const GROUPS: [Group; 6] = [
    ("calls", opcode::is_invoke),
    ("fields", |op| (opcode::GETSTATIC..=opcode::PUTFIELD).contains(&op)),
    ("arrays", |op| {
        (opcode::IALOAD..=opcode::SALOAD).contains(&op)
            || (opcode::IASTORE..=opcode::SASTORE).contains(&op)
            || op == opcode::ARRAYLENGTH
    }),
    ("allocations", |op| (opcode::NEW..=opcode::ANEWARRAY).contains(&op) || op == opcode::MULTIANEWARRAY),
    ("monitors", |op| matches!(op, opcode::MONITORENTER | opcode::MONITOREXIT)),
    ("divisions", |op| matches!(op, opcode::IDIV | opcode::LDIV | opcode::IREM | opcode::LREM)),
];

/// The group of all instructions that may throw. For `ldc` the constant decides.
const THROWING: &str = "throwing";

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockEnds {
    name: String,
    /// Whether blocks end after every instruction that may throw.
    throwing: bool,
    /// The opcodes after which blocks end too.
    opcodes: [u64; WORDS],
}

impl BlockEnds {
    /// Reads a file.
    ///
    /// # Errors
    /// The first unknown or missing item, by its line.
    pub fn parse(text: &str) -> Result<BlockEnds, TableError> {
        let entries = toml::read(text, &[])?;
        let last = text.lines().count() + 1;
        let missing = |what| TableError::at(last, Problem::Missing(what));
        let (mut name, mut ends) = (None, None);
        for entry in &entries {
            match &*entry.key {
                "name" => {
                    let word = entry.word(LONGEST_NAME)?;
                    if TAKEN.contains(&&*word) {
                        return Err(TableError::at(entry.line, Problem::TakenRule(word)));
                    }
                    name = Some(word);
                }
                "ends" => ends = Some(set(entry)?),
                _ => return Err(entry.unknown("the keys are 'name' and 'ends'")),
            }
        }
        let (throwing, opcodes) = ends.ok_or_else(|| missing("ends"))?;
        Ok(BlockEnds { name: name.ok_or_else(|| missing("name"))?, throwing, opcodes })
    }

    /// The text of a built-in rule, by its name.
    pub fn shipped(name: &str) -> Option<&'static str> {
        crate::shipped::BLOCK_ENDS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
    }

    /// The names of the built-in rules.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        crate::shipped::BLOCK_ENDS.iter().map(|(name, _)| *name)
    }

    /// The rule with the lifetime of the process; equal rules are one.
    pub fn interned(self) -> &'static BlockEnds {
        static KNOWN: Interner<BlockEnds> = Interner::new();
        KNOWN.of(self)
    }

    /// Name and content hash, by which profiles and outputs refer to the rule.
    pub fn id(&self) -> String {
        format!("{}@{:016x}", self.name, xxh3_64(self.encoded().as_bytes()))
    }

    /// Whether a block ends after every instruction that may throw.
    pub fn throwing(&self) -> bool {
        self.throwing
    }

    /// Whether a block ends after this opcode, even if it neither jumps nor throws.
    pub fn after(&self, op: Opcode) -> bool {
        self.opcodes.get(usize::from(op) / 64).is_some_and(|word| word >> (op % 64) & 1 != 0)
    }

    /// The whole rule as one line of text without spaces and equals signs, for
    /// [`BlockEnds::decode`].
    pub fn encoded(&self) -> String {
        let mut text = format!("{};{};", self.name, u8::from(self.throwing));
        for word in self.opcodes {
            let _ = write!(text, "{word:016x}");
        }
        text
    }

    /// The rule of a text from [`BlockEnds::encoded`]; `None` for any other text.
    pub fn decode(text: &str) -> Option<BlockEnds> {
        let parts: Vec<&str> = text.split(';').collect();
        let [name, throwing, opcodes] = parts[..] else { return None };
        let throwing = match throwing {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        if !toml::is_word(name, LONGEST_NAME) || TAKEN.contains(&name) || opcodes.len() != 16 * WORDS {
            return None;
        }
        let mut words = [0; WORDS];
        for (word, at) in words.iter_mut().zip((0..).step_by(16)) {
            *word = u64::from_str_radix(opcodes.get(at..at + 16)?, 16).ok()?;
        }
        let rule = BlockEnds { name: name.to_owned(), throwing, opcodes: words };
        (rule.encoded() == text).then_some(rule)
    }
}

/// Names of built-in rules that are not tables.
const TAKEN: [&str; 4] = ["exact", "precise", "default", "none"];

fn set(entry: &Entry) -> Result<(bool, [u64; WORDS]), TableError> {
    let Value::List(words) = &entry.value else {
        let kind = "a list of groups and opcodes, as in [\"throwing\", \"idiv\"]";
        return Err(TableError::at(entry.line, Problem::Kind { key: entry.key.clone(), kind }));
    };
    let (mut throwing, mut opcodes) = (false, [0; WORDS]);
    for word in words {
        if word == THROWING {
            throwing = true;
            continue;
        }
        let group = GROUPS.iter().find(|(name, _)| name == word);
        let mut met = false;
        for op in (0..OPCODES as Opcode).filter(|&op| op != opcode::WIDE) {
            let is_meant = match group {
                Some((_, is_in)) => is_in(op),
                None => opcode::MNEMONICS[usize::from(op)] == word,
            };
            if is_meant {
                opcodes[usize::from(op) / 64] |= 1 << (op % 64);
                met = true;
            }
        }
        if !met {
            let groups: Vec<&str> = std::iter::once(THROWING).chain(GROUPS.map(|(name, _)| name)).collect();
            let known = format!("it is neither an opcode nor one of {}", groups.join(", "));
            return Err(TableError::at(entry.line, Problem::UnknownKey { key: toml::shown(word), known }));
        }
    }
    Ok((throwing, opcodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(ends: &str) -> BlockEnds {
        BlockEnds::parse(&format!("name = \"mine\"\nends = [{ends}]\n")).unwrap()
    }

    fn after(rule: &BlockEnds) -> Vec<&'static str> {
        let ops = (0..=u8::MAX).filter(|&op| rule.after(op));
        ops.map(|op| opcode::MNEMONICS[usize::from(op)]).collect()
    }

    #[test]
    fn rules_that_come_along_are_sound() {
        for name in BlockEnds::shipped_names() {
            let rule = BlockEnds::parse(BlockEnds::shipped(name).unwrap()).unwrap();
            assert!(rule.id().starts_with(&format!("{name}@")));
        }
    }

    #[test]
    fn groups_and_opcodes_are_sets() {
        assert_eq!(after(&rule("\"calls\"")).len(), 5);
        assert_eq!(after(&rule("\"idiv\", \"monitors\"")), ["idiv", "monitorenter", "monitorexit"]);
        assert_eq!(after(&rule("\"fields\"")), ["getstatic", "putstatic", "getfield", "putfield"]);
        assert_eq!(after(&rule("\"arrays\"")).len(), 17);
        assert_eq!(after(&rule("\"allocations\"")), ["new", "newarray", "anewarray", "multianewarray"]);
        let all = rule("\"throwing\"");
        assert!(all.throwing() && after(&all).is_empty());
        assert!(!rule("").throwing());
    }

    #[test]
    fn rules_come_back_from_their_lines() {
        for ends in ["", "\"throwing\"", "\"calls\", \"idiv\", \"jsr_w\", \"nop\""] {
            let rule = rule(ends);
            assert_eq!(BlockEnds::decode(&rule.encoded()), Some(rule.clone()));
            assert!(rule.id().starts_with("mine@") && !rule.encoded().contains(['=', ' ']));
            assert!(std::ptr::eq(rule.clone().interned(), rule.interned()));
        }
        assert_ne!(rule("\"calls\"").id(), rule("\"calls\", \"idiv\"").id());
        let line = rule("\"calls\"").encoded();
        for other in [
            String::new(),
            line.replacen("mine", "exact", 1),
            line.replacen(";0;", ";2;", 1),
            format!("{line}0"),
            line.replacen("00", "0g", 1),
            line.replacen("0000", "+000", 1),
        ] {
            assert_eq!(BlockEnds::decode(&other), None, "{other}");
        }
    }

    #[test]
    fn faults_are_named_by_their_lines() {
        let line = |text: &str| BlockEnds::parse(text).unwrap_err().line;
        assert_eq!(line("name = \"x\"\n"), 2);
        assert_eq!(line("name = \"x\"\n\nends = [\"idvi\"]\n"), 3);
        assert_eq!(line("name = \"x\"\nends = \"calls\"\n"), 2);
        assert_eq!(line("name = \"precise\"\nends = []\n"), 1);
        assert_eq!(line("name = \"x\"\nends = []\nmore = 1\n"), 3);
        assert_eq!(line("name = \"x\"\n[ends]\n"), 2);
        let text = BlockEnds::parse("name = \"x\"\nends = [\"wide\"]\n").unwrap_err().to_string();
        assert!(text.contains("neither an opcode nor one of throwing, calls,"), "{text}");
    }
}
