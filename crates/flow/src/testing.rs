//! Helpers for the tests of this crate: a tiny assembler, sample methods, and a plain model of the
//! order of instructions, written without blocks, graphs or orders.

use arbtest::arbitrary::{Result, Unstructured};
use cct_classfile::opcode::*;
use cct_classfile::{Bci, ClassFile, Code, ConstantPool, Instruction};

use crate::activation::{ActivationPlan, UpdatePoint};
use crate::throws::may_throw;

/// Constants of every assembled class.
pub const CLASS: u8 = 2;
pub const INTEGER: u8 = 6;
pub const STRING: u8 = 7;
pub const METHOD_TYPE: u8 = 8;
pub const METHOD: u8 = 10;
pub const INVOKE_DYNAMIC: u8 = 11;
pub const LONG: u8 = 12;
pub const DYNAMIC: u8 = 14;
pub const METHOD_HANDLE: u8 = 15;
pub const OWN_FIELD: u8 = 16;
pub const OBJECT_INIT: u8 = 21;
const POOL: &[u8] = &[
    0, 22, // constant_pool_count
    1, 0, 1, b'T', // 1: Utf8
    7, 0, 1, // 2: Class
    1, 0, 1, b'm', // 3: Utf8
    1, 0, 3, b'(', b')', b'V', // 4: Utf8
    1, 0, 4, b'C', b'o', b'd', b'e', // 5: Utf8
    3, 0, 0, 0, 7, // 6: Integer
    8, 0, 1, // 7: String
    16, 0, 4, // 8: MethodType
    12, 0, 3, 0, 4, // 9: NameAndType
    10, 0, 2, 0, 9, // 10: Methodref
    18, 0, 0, 0, 9, // 11: InvokeDynamic
    5, 0, 0, 0, 0, 0, 0, 0, 1, // 12, 13: Long
    17, 0, 0, 0, 9, // 14: Dynamic
    15, 6, 0, 10, // 15: MethodHandle
    9, 0, 2, 0, 9, // 16: Fieldref
    1, 0, 16, b'j', b'a', b'v', b'a', b'/', b'l', b'a', b'n', b'g', b'/', b'O', b'b', b'j', b'e', b'c',
    b't', // 17: Utf8
    7, 0, 17, // 18: Class
    1, 0, 6, b'<', b'i', b'n', b'i', b't', b'>', // 19: Utf8
    12, 0, 19, 0, 4, // 20: NameAndType
    10, 0, 18, 0, 20, // 21: Methodref
];

/// An instruction; jump targets are positions in the list of instructions.
#[derive(Debug, Clone)]
pub enum Op {
    Plain(Vec<u8>),
    Jump(u8, usize),
    /// Default target, then the cases'.
    Table(Vec<usize>),
    Lookup(Vec<usize>),
}

pub fn op(bytes: &[u8]) -> Op {
    Op::Plain(bytes.to_vec())
}

/// A class file with one method.
#[derive(Debug)]
pub struct Fixture(Vec<u8>);

impl Fixture {
    /// `handlers` are start, end, handler (positions in the list), and catch type.
    pub fn new(ops: &[Op], handlers: &[(usize, usize, usize, u8)]) -> Self {
        let padding = |bci: usize| 3 - bci % 4;
        let mut starts = vec![0];
        for op in ops {
            let bci = starts[starts.len() - 1];
            let length = match op {
                Op::Plain(bytes) => bytes.len(),
                Op::Jump(GOTO_W | JSR_W, _) => 5,
                Op::Jump(..) => 3,
                Op::Table(targets) => 1 + padding(bci) + 12 + 4 * (targets.len() - 1),
                Op::Lookup(targets) => 1 + padding(bci) + 8 + 8 * (targets.len() - 1),
            };
            starts.push(bci + length);
        }
        let mut code = Vec::new();
        for op in ops {
            let bci = code.len();
            let offset = |target: usize| (starts[target] as i32 - bci as i32).to_be_bytes();
            match op {
                Op::Plain(bytes) => code.extend_from_slice(bytes),
                Op::Jump(op @ (GOTO_W | JSR_W), target) => {
                    code.push(*op);
                    code.extend_from_slice(&offset(*target));
                }
                Op::Jump(op, target) => {
                    code.push(*op);
                    code.extend_from_slice(&offset(*target)[2..]);
                }
                Op::Table(targets) => {
                    code.push(TABLESWITCH);
                    code.resize(code.len() + padding(bci), 0);
                    code.extend_from_slice(&offset(targets[0]));
                    code.extend_from_slice(&1i32.to_be_bytes());
                    code.extend_from_slice(&(targets.len() as i32 - 1).to_be_bytes());
                    targets[1..].iter().for_each(|&t| code.extend_from_slice(&offset(t)));
                }
                Op::Lookup(targets) => {
                    code.push(LOOKUPSWITCH);
                    code.resize(code.len() + padding(bci), 0);
                    code.extend_from_slice(&offset(targets[0]));
                    code.extend_from_slice(&(targets.len() as i32 - 1).to_be_bytes());
                    for (i, &t) in targets[1..].iter().enumerate() {
                        code.extend_from_slice(&(i as i32).to_be_bytes());
                        code.extend_from_slice(&offset(t));
                    }
                }
            }
        }
        let mut attribute = vec![0, 9, 0, 9]; // max_stack, max_locals
        attribute.extend_from_slice(&(code.len() as u32).to_be_bytes());
        attribute.extend_from_slice(&code);
        attribute.extend_from_slice(&(handlers.len() as u16).to_be_bytes());
        for &(start, end, handler, catch) in handlers {
            for at in [starts[start], starts[end], starts[handler], usize::from(catch)] {
                attribute.extend_from_slice(&(at as u16).to_be_bytes());
            }
        }
        attribute.extend_from_slice(&[0, 0]);
        let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49];
        file.extend_from_slice(POOL);
        file.extend_from_slice(&[0, 0x21, 0, CLASS, 0, 0, 0, 0]); // this class; no superclass, no interfaces
        file.extend_from_slice(&[0, 1, 0, 0, 0, 3, 0, 4, 0, 0]); // field m
        file.extend_from_slice(&[0, 1, 0, 1, 0, 3, 0, 4, 0, 1, 0, 5]); // method m()V with a Code attribute
        file.extend_from_slice(&(attribute.len() as u32).to_be_bytes());
        file.extend_from_slice(&attribute);
        file.extend_from_slice(&[0, 0]);
        Fixture(file)
    }

    pub fn with<R>(&self, f: impl FnOnce(&Code<'_>, &ConstantPool<'_>) -> R) -> R {
        self.with_class(|class, code| f(code, &class.pool))
    }

    /// Calls `f` with the whole class and the code of its first method.
    pub fn with_class<R>(&self, f: impl FnOnce(&ClassFile<'_>, &Code<'_>) -> R) -> R {
        let class = ClassFile::parse(&self.0).unwrap();
        let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        f(&class, &code)
    }
}

/// The method of JP's figures 5 and 8, as `javac` compiles it:
/// `int i = 1; while (true) { if (i <= 10) { h(); g(i); ++i; } else { return; } }`.
pub fn paper_method() -> Fixture {
    let ops = [
        op(&[ICONST_1]),
        op(&[ISTORE_1]),
        op(&[ILOAD_1]),
        op(&[BIPUSH, 10]),
        Op::Jump(IF_ICMPGT, 12),
        op(&[ALOAD_0]),
        op(&[INVOKEVIRTUAL, 0, METHOD]),
        op(&[ALOAD_0]),
        op(&[ILOAD_1]),
        op(&[INVOKEVIRTUAL, 0, METHOD]),
        op(&[IINC, 1, 1]),
        Op::Jump(GOTO, 2),
        op(&[RETURN]),
    ];
    Fixture::new(&ops, &[])
}

/// A random method with well-formed tables and jumps; otherwise it need not make sense.
pub fn any_method(u: &mut Unstructured<'_>) -> Result<Fixture> {
    any(u, true)
}

/// A random method with well-formed tables and jumps, without `jsr` and `ret`.
pub fn any_method_of_today(u: &mut Unstructured<'_>) -> Result<Fixture> {
    any(u, false)
}

fn any(u: &mut Unstructured<'_>, subroutines: bool) -> Result<Fixture> {
    let n = u.int_in_range(1..=24)?;
    let mut ops = Vec::with_capacity(n);
    for _ in 0..n {
        ops.push(match u.int_in_range(0..=23)? {
            0..=2 => op(&[NOP]),
            3 => op(&[WIDE, ILOAD, 0, 1]),
            4..=5 => op(&[INVOKESTATIC, 0, METHOD]),
            6 => op(&[IDIV]),
            7 => op(&[MONITOREXIT]),
            8 => op(&[LDC, *u.choose(&[INTEGER, STRING, CLASS])?]),
            9..=12 => Op::Jump(*u.choose(&[IFEQ, IFNULL, IF_ACMPEQ])?, u.choose_index(n)?),
            13..=15 => Op::Jump(*u.choose(&[GOTO, GOTO_W])?, u.choose_index(n)?),
            16..=19 if !subroutines => op(&[MONITORENTER]),
            16..=17 => Op::Jump(*u.choose(&[JSR, JSR_W])?, u.choose_index(n)?),
            18 => op(&[RET, 1]),
            19 => op(&[WIDE, RET, 0, 1]),
            kind @ 20..=21 => {
                let targets =
                    (0..u.int_in_range(2..=5)?).map(|_| u.choose_index(n)).collect::<Result<_>>()?;
                if kind == 20 { Op::Table(targets) } else { Op::Lookup(targets) }
            }
            22 => op(&[RETURN]),
            _ => op(&[ATHROW]),
        });
    }
    let mut handlers = Vec::new();
    for _ in 0..u.int_in_range(0..=4)? {
        let start = u.choose_index(n)?;
        handlers.push((start, u.int_in_range(start + 1..=n)?, u.choose_index(n)?, *u.choose(&[0, CLASS])?));
    }
    Ok(Fixture::new(&ops, &handlers))
}

/// The successors of an instruction without an exception. A `jsr` goes to its subroutine and, when
/// that returns, to the next instruction.
pub fn next_instructions(code: &Code<'_>, i: &Instruction<'_>) -> Vec<Bci> {
    let mut next = Vec::new();
    i.for_each_target(|t| next.push(t));
    let stops = matches!(
        i.opcode,
        GOTO | GOTO_W
            | RET
            | TABLESWITCH
            | LOOKUPSWITCH
            | ATHROW
            | IRETURN
            | LRETURN
            | FRETURN
            | DRETURN
            | ARETURN
            | RETURN
    );
    if !stops && i.end() < code.length() {
        next.push(i.end());
    }
    next
}

/// The handlers that may catch an instruction's exception.
pub fn handlers_of(code: &Code<'_>, pool: &ConstantPool<'_>, i: &Instruction<'_>) -> Vec<Bci> {
    let mut handlers = Vec::new();
    if may_throw(i, pool) {
        for h in code.handlers.iter().filter(|h| (h.start..h.end).contains(&i.bci)) {
            handlers.push(h.handler);
            if h.catch_type == 0 {
                break;
            }
        }
    }
    handlers
}

/// Pseudo-random choices within a test case.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }
}

/// The update at a bci, apart from the entry's own.
pub fn update_at(plan: &ActivationPlan, bci: Bci) -> Option<&UpdatePoint> {
    plan.points[1..].binary_search_by_key(&bci, |p| p.bci).ok().map(|at| &plan.points[1 + at])
}

/// Runs the code with random decisions, as the virtual machine would: a `ret` returns to the last
/// `jsr`.
pub fn run(code: &Code<'_>, pool: &ConstantPool<'_>, plan: &ActivationPlan, dice: &mut Dice) {
    let (mut ran, mut paid) = (0, plan.points[0].decrement);
    let mut tested = plan.points[0].test;
    let mut returns = Vec::new();
    let mut bci = 0;
    while ran < 200 && bci < code.length() {
        if let Some(point) = update_at(plan, bci) {
            paid += point.decrement;
            tested |= point.test;
        }
        let i = code.instruction_at(bci).unwrap();
        ran += 1;
        assert!(ran <= paid, "{ran} bytecodes ran, {paid} were counted, at {bci}");
        assert!(tested || !is_invoke(i.opcode), "an invocation before any test, at {bci}");
        let handlers = handlers_of(code, pool, &i);
        if !handlers.is_empty() && dice.below(3) == 0 {
            bci = handlers[dice.below(handlers.len())];
            continue;
        }
        let next = match i.opcode {
            JSR | JSR_W => {
                returns.push(i.end());
                i.target()
            }
            RET => returns.pop(),
            _ => {
                let next = next_instructions(code, &i);
                (!next.is_empty()).then(|| next[dice.below(next.len())])
            }
        };
        match next {
            Some(next) => bci = next,
            None => return,
        }
    }
}
