//! Cost models: the cost of each instruction on some machine, so that a profile recorded here
//! estimates a program's running time there (cross-profiling; CCCP 5.2).
//!
//! The opcode decides an instruction's cost. Four field instructions may have other costs for
//! two-word values and for references. The cost of invocations and returns may also depend on the
//! size of the method that control reaches, since a processor may have to fetch it. An entry costs
//! by the size of the entered method. An invocation costs by the size of the calling method, to
//! which control returns. Both sizes are known where the costs arise.

use cct_classfile::{ConstantPool, Instruction, opcode};
use xxhash_rust::xxh3::xxh3_64;

use crate::interner::Interner;
use crate::toml::{self, Entry, Problem, TableError};

/// Maximum cost of one opcode.
pub const MOST: i64 = 30_000;

/// Maximum cost of a method's size. It keeps the sum for 65,535 bytes of code below 2^31 - 2^17,
/// with an instruction for each byte or an invocation for every three bytes.
pub const MOST_BY_SIZE: i64 = 60_000;

/// Maximum length of code in bytes (JVMS 4.7.3).
const LONGEST_CODE: u32 = 65_535;

/// Number of opcodes in class files: up to `jsr_w`.
const OPCODES: usize = opcode::JSR_W as usize + 1;

/// Maximum number of characters of a model's name, and of its unit.
const LONGEST_WORD: usize = 24;

/// Units that profiles already use for other numbers.
const NO_UNITS: [&str; 2] = ["calls", "bytecodes"];

/// Field instructions, whose cost may depend on the field's type.
const FIELD_OPCODES: [opcode::Opcode; 4] =
    [opcode::GETSTATIC, opcode::PUTSTATIC, opcode::GETFIELD, opcode::PUTFIELD];

/// Names of the tables in a file.
const TABLES: [&str; 3] = ["opcodes", "callee", "caller"];

/// The cost of a method's size: `fixed`, and a cost for each word of code; 0 if the sum is
/// negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct BySize {
    fixed: i32,
    per_word: u32,
    /// Length of a word in bytes.
    word: u32,
}

impl BySize {
    const NOTHING: BySize = BySize { fixed: 0, per_word: 0, word: 4 };

    fn of(self, size: u32) -> i64 {
        let words = i64::from(size).div_euclid(i64::from(self.word))
            + i64::from(i64::from(size).rem_euclid(i64::from(self.word)) != 0);
        (i64::from(self.fixed) + i64::from(self.per_word) * words).max(0)
    }

    fn is_sound(self) -> bool {
        self.word > 0 && self.of(LONGEST_CODE) <= MOST_BY_SIZE
    }
}

/// A cost model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CostModel {
    name: String,
    unit: String,
    costs: [u16; OPCODES],
    /// Costs for two-word values and for references, for each of [`FIELD_OPCODES`].
    fields: [[u16; 2]; 4],
    callee: BySize,
    caller: BySize,
}

impl CostModel {
    /// Reads a file.
    ///
    /// # Errors
    /// The first unknown, missing, negative or too large item, by its line.
    pub fn parse(text: &str) -> Result<CostModel, TableError> {
        let entries = toml::read(text, &TABLES)?;
        let last = text.lines().count() + 1;
        let missing = |what| TableError::at(last, Problem::Missing(what));
        let (mut name, mut unit, mut default) = (None, None, None);
        for entry in entries.iter().filter(|e| e.table.is_empty()) {
            match &*entry.key {
                "name" => name = Some(entry.word(LONGEST_WORD)?),
                "unit" => {
                    let word = entry.word(LONGEST_WORD)?;
                    if NO_UNITS.contains(&&*word) {
                        return Err(TableError::at(entry.line, Problem::Taken(word)));
                    }
                    unit = Some(word);
                }
                "default" => default = Some(entry.integer(0, MOST)? as u16),
                _ => return Err(entry.unknown("the keys are 'name', 'unit' and 'default'")),
            }
        }
        let mut costs = [None; OPCODES];
        let mut fields = [[None; 2]; 4];
        for entry in entries.iter().filter(|e| e.table == "opcodes") {
            let cost = entry.integer(0, MOST)? as u16;
            *place(&entry.key, &mut costs, &mut fields)
                .ok_or_else(|| entry.unknown("it is not an opcode of class files"))? = Some(cost);
        }
        // A widened instruction costs this much more if the file gives a cost, otherwise nothing
        // more.
        costs[usize::from(opcode::WIDE)].get_or_insert(0);
        let mut all = [0; OPCODES];
        for (op, cost) in costs.iter().enumerate() {
            let uncovered = || missing(opcode::MNEMONICS[op]);
            all[op] = cost.or(default).ok_or_else(uncovered)?;
        }
        let mut of_fields = [[0; 2]; 4];
        for (i, op) in FIELD_OPCODES.into_iter().enumerate() {
            of_fields[i] = fields[i].map(|cost| cost.unwrap_or(all[usize::from(op)]));
        }
        let [callee, caller] = ["callee", "caller"].map(|table| by_size(&entries, table));
        Ok(CostModel {
            name: name.ok_or_else(|| missing("name"))?,
            unit: unit.ok_or_else(|| missing("unit"))?,
            costs: all,
            fields: of_fields,
            callee: callee?,
            caller: caller?,
        })
    }

    /// The text of a built-in model, by its name.
    pub fn shipped(name: &str) -> Option<&'static str> {
        crate::shipped::COST_MODELS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
    }

    /// The names of the built-in models.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        crate::shipped::COST_MODELS.iter().map(|(name, _)| *name)
    }

    /// The model with the lifetime of the process; equal models are one. There are only as many as
    /// the user has given, or outputs name.
    pub fn interned(self) -> &'static CostModel {
        static KNOWN: Interner<CostModel> = Interner::new();
        KNOWN.of(self)
    }

    /// The name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit of its numbers: a word in the plural.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Name and content hash, by which profiles and outputs refer to the model. Comments in the
    /// file do not affect it.
    pub fn id(&self) -> String {
        format!("{}@{:016x}", self.name, xxh3_64(self.encoded().as_bytes()))
    }

    /// The cost of an instruction in a method with this many bytes of code, without the cost of a
    /// callee's size.
    pub fn of(&self, instruction: &Instruction<'_>, pool: &ConstantPool<'_>, size: u32) -> u32 {
        let op = instruction.opcode;
        let mut cost = u32::from(self.costs.get(usize::from(op)).copied().unwrap_or_default());
        if let Some(i) = FIELD_OPCODES.iter().position(|o| *o == op) {
            let field = instruction.pool_index().and_then(|index| pool.member_ref(index).ok());
            cost = match field.and_then(|field| field.descriptor.first().copied()) {
                Some(b'J' | b'D') => self.fields[i][0].into(),
                Some(b'L' | b'[') => self.fields[i][1].into(),
                _ => cost,
            };
        }
        if instruction.bytes.first() == Some(&opcode::WIDE) {
            cost += u32::from(self.costs[usize::from(opcode::WIDE)]);
        }
        if opcode::is_invoke(op) {
            cost += self.caller.of(size) as u32;
        }
        cost
    }

    /// The cost of an entry to a method with this many bytes of code, in addition to its
    /// invocation.
    pub fn entry(&self, size: u32) -> u32 {
        self.callee.of(size) as u32
    }

    /// The cost of a method that only returns.
    pub fn bare_return(&self) -> u32 {
        self.entry(1) + u32::from(self.costs[usize::from(opcode::RETURN)])
    }

    /// The whole model as one line of text without spaces and equals signs, for
    /// [`CostModel::decode`].
    pub fn encoded(&self) -> String {
        let numbers = |numbers: &mut dyn Iterator<Item = i64>| {
            numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(",")
        };
        let size = |s: BySize| numbers(&mut [s.fixed.into(), s.per_word.into(), s.word.into()].into_iter());
        [
            self.name.clone(),
            self.unit.clone(),
            size(self.callee),
            size(self.caller),
            numbers(&mut self.fields.iter().flatten().map(|&n| n.into())),
            numbers(&mut self.costs.iter().map(|&n| n.into())),
        ]
        .join(";")
    }

    /// The model of a text from [`CostModel::encoded`]; `None` for any other text.
    pub fn decode(text: &str) -> Option<CostModel> {
        let parts: Vec<&str> = text.split(';').collect();
        let [name, unit, callee, caller, fields, costs] = parts[..] else { return None };
        let size = |text: &str| {
            let numbers: Vec<i64> = text.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
            let [fixed, per_word, word] = numbers[..] else { return None };
            let is_sound = FIXED.contains(&fixed) && PER_WORD.contains(&per_word) && WORD.contains(&word);
            let size = BySize { fixed: fixed as i32, per_word: per_word as u32, word: word as u32 };
            (is_sound && size.is_sound()).then_some(size)
        };
        let list = |text: &str| -> Option<Vec<u16>> {
            let cost = |n: &str| n.parse().ok().filter(|&n| i64::from(n) <= MOST);
            text.split(',').map(cost).collect()
        };
        let fields: [u16; 8] = list(fields)?.try_into().ok()?;
        let words =
            [name, unit].iter().all(|word| toml::is_word(word, LONGEST_WORD)) && !NO_UNITS.contains(&unit);
        words.then_some(())?;
        Some(CostModel {
            name: name.to_owned(),
            unit: unit.to_owned(),
            costs: list(costs)?.try_into().ok()?,
            fields: std::array::from_fn(|i| [fields[2 * i], fields[2 * i + 1]]),
            callee: size(callee)?,
            caller: size(caller)?,
        })
    }
}

const FIXED: std::ops::RangeInclusive<i64> = -1_000_000..=MOST_BY_SIZE;
const PER_WORD: std::ops::RangeInclusive<i64> = 0..=10_000;
const WORD: std::ops::RangeInclusive<i64> = 1..=64;

/// The opcode to which a key of `[opcodes]` belongs.
fn place<'p>(
    key: &str,
    costs: &'p mut [Option<u16>; OPCODES],
    fields: &'p mut [[Option<u16>; 2]; 4],
) -> Option<&'p mut Option<u16>> {
    for (kind, suffix) in ["-long", "-reference"].into_iter().enumerate() {
        if let Some(stem) = key.strip_suffix(suffix) {
            let i = FIELD_OPCODES.iter().position(|&op| opcode::MNEMONICS[usize::from(op)] == stem)?;
            return Some(&mut fields[i][kind]);
        }
    }
    costs.get_mut(opcode::MNEMONICS.iter().position(|name| *name == key)?)
}

fn by_size(entries: &[Entry], table: &'static str) -> Result<BySize, TableError> {
    let mut size = BySize::NOTHING;
    let mut line = 0;
    for entry in entries.iter().filter(|e| e.table == table) {
        let within = |range: std::ops::RangeInclusive<i64>| entry.integer(*range.start(), *range.end());
        match &*entry.key {
            "fixed" => size.fixed = within(FIXED)? as i32,
            "per-word" => size.per_word = within(PER_WORD)? as u32,
            "word" => size.word = within(WORD)? as u32,
            _ => return Err(entry.unknown("the keys are 'fixed', 'per-word' and 'word'")),
        }
        line = entry.line;
    }
    if size.is_sound() {
        Ok(size)
    } else {
        let value = size.of(LONGEST_CODE);
        Err(TableError::at(line, Problem::Formula { table, value, most: MOST_BY_SIZE }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> usize {
        CostModel::parse(text).unwrap_err().line
    }

    const HEAD: &str = "name = \"x\"\nunit = \"cycles\"\ndefault = 2\n";

    #[test]
    fn models_that_come_along_are_sound_and_come_back_from_their_lines() {
        for name in CostModel::shipped_names() {
            let model = CostModel::parse(CostModel::shipped(name).unwrap()).unwrap();
            assert_eq!(model.name(), name);
            assert_eq!(CostModel::decode(&model.encoded()), Some(model.clone()));
            assert!(!model.encoded().contains(['=', ' ', '\n']));
            assert!(std::ptr::eq(model.clone().interned(), model.interned()));
        }
    }

    #[test]
    fn the_unit_model_counts_bytecodes() {
        let unit = CostModel::parse(CostModel::shipped("unit").unwrap()).unwrap();
        assert!(unit.costs.iter().enumerate().all(|(op, cost)| *cost == u16::from(op != 196)));
        assert!(unit.fields.iter().flatten().all(|cost| *cost == 1));
        assert_eq!((unit.entry(65_535), unit.caller.of(65_535), unit.bare_return()), (0, 0, 1));
    }

    #[test]
    fn sizes_count_in_whole_words_and_not_below_nothing() {
        let model = CostModel::parse(&format!("{HEAD}[callee]\nfixed = -29\nper-word = 2\n")).unwrap();
        // 14 words: 28 - 29; 15 words: 30 - 29.
        assert_eq!([1, 56, 57, 60, 61].map(|size| model.entry(size)), [0, 0, 1, 1, 3]);
        assert_eq!(model.bare_return(), 2);
    }

    #[test]
    fn faults_are_named_by_their_lines() {
        assert_eq!(line(""), 1, "no name");
        assert_eq!(line("name = \"x\"\nunit = \"cycles\"\n[opcodes]\nnop = 1\n"), 5, "no aconst_null");
        assert_eq!(line(&format!("{HEAD}[opcodes]\nnop = 1\niadd = -1\n")), 6);
        assert_eq!(line(&format!("{HEAD}[opcodes]\nnop = 30_001\n")), 5);
        assert_eq!(line(&format!("{HEAD}[opcodes]\nnopp = 1\n")), 5);
        assert_eq!(line(&format!("{HEAD}[opcodes]\niadd-long = 1\n")), 5, "no field instruction");
        assert_eq!(line(&format!("{HEAD}[callee]\nwords = 1\n")), 5);
        assert_eq!(line(&format!("{HEAD}[callee]\nword = 0\n")), 5);
        assert_eq!(line(&format!("{HEAD}[caller]\nfixed = 0\nper-word = 4\n")), 6, "65,536 for the longest");
        assert_eq!(line("name = \"X y\"\n"), 1);
        assert_eq!(line("name = \"x\"\nunit = \"bytecodes\"\n"), 2);
        assert_eq!(line("nme = \"x\"\n"), 1);
        let text = CostModel::parse(&format!("{HEAD}[opcodes]\niadd = -1\n")).unwrap_err().to_string();
        assert_eq!(text, "line 5: iadd = -1: it must be 0 to 30000");
    }

    #[test]
    fn the_longest_code_at_the_highest_price_fits() {
        let most = i64::from(LONGEST_CODE) * MOST + MOST_BY_SIZE;
        assert!(most + (1 << 17) < i64::from(i32::MAX));
        // An invocation has three bytes.
        const { assert!(MOST + MOST_BY_SIZE <= 3 * MOST) };
        const { assert!(MOST <= u16::MAX as i64) };
    }

    #[test]
    fn no_other_line_is_a_model() {
        let model = CostModel::parse(&format!("{HEAD}[opcodes]\nnop = 7\n")).unwrap();
        let line = model.encoded();
        for other in [
            String::new(),
            line.replacen("x;", "X;", 1),
            line.replacen(";0,0,4;", ";0,0,0;", 1),
            line.replacen(";0,0,4;", ";0,9999,1;", 1),
            line.replacen(",2", ",30001", 1),
            line.replacen(",2", "", 1),
            format!("{line},2"),
            format!("{line};"),
        ] {
            assert_eq!(CostModel::decode(&other), None, "{other}");
        }
        let dearer = CostModel::parse(&format!("{HEAD}[opcodes]\nnop = 8\n")).unwrap();
        assert_ne!(dearer.id(), model.id());
        assert!(model.id().starts_with("x@"));
    }
}
