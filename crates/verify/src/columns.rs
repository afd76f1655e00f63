//! Columns beside calls and bytecodes (the table is [`cct_columns`]): the instructions that they
//! count, and their probe.

use cct_classfile::{Bci, ClassFile, Instruction, MemberRef, opcode};
use cct_columns::{Column, Columns};
use cct_jdk::helpers::Helper;

use crate::convention;
use crate::op::{Kind, Op};

/// Whether an instruction counts for a column.
pub fn counts(column: Column, instruction: &Instruction<'_>) -> bool {
    match column {
        Column::Monitors => instruction.opcode == opcode::MONITORENTER,
        Column::Throws => instruction.opcode == opcode::ATHROW,
    }
}

/// The columns that a rewritten class counts, as far as its constants show it: each probe has the
/// id of its column. `enters_monitors` is whether calls of one of its methods count as entries.
pub fn of_class(class: &ClassFile<'_>, enters_monitors: bool) -> Columns {
    let has_id = |column: Column| class.pool.indices().any(|index| class.pool.long(index) == Ok(id(column)));
    let is_counted = |column: Column| has_id(column) || enters_monitors && column == Column::Monitors;
    Column::all().filter(|column| is_counted(*column)).collect()
}

/// The columns that the instructions of code count, in the order of their slots.
pub fn of_code<'a>(columns: Columns, code: impl Iterator<Item = Instruction<'a>>) -> Vec<Column> {
    if columns.is_empty() {
        return Vec::new();
    }
    let code: Vec<Instruction<'a>> = code.collect();
    columns.iter().filter(|column| code.iter().any(|i| counts(*column, i))).collect()
}

/// The probe that adds one to a column of the node, by the slot at this offset.
pub fn probe(column: Column, node: u16, offset: i64) -> [Op<'static>; 6] {
    [
        Op::Load(Kind::Long, node),
        Op::Int(offset as i32),
        Op::IntToLong,
        Op::LongAdd,
        Op::Long(id(column)),
        Op::Helper(Helper::Column),
    ]
}

/// The method id of a column's cells.
fn id(column: Column) -> i64 {
    convention::foreign_id(MemberRef::new(b"", column.name().as_bytes(), b""), 0)
}

/// The column probes found in a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColumnCount {
    /// Number of instructions that are counted.
    pub counted: u32,
    /// The first instruction that should be counted and is not.
    pub missed: Option<Bci>,
}
