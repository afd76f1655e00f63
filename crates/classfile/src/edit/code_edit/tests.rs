//! Tests of written code, and of refused edits.

use super::*;
use crate::class::ClassFile;
use crate::edit::asm::Kind;
use crate::opcode::{self, *};

/// A class with one static method of this code.
fn class(code: &[u8]) -> Vec<u8> {
    class_with(code, &[])
}

/// A class with one static method of this code and these catch-alls: start, end, handler.
fn class_with(code: &[u8], handlers: &[[u16; 3]]) -> Vec<u8> {
    let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49];
    out.put2(8);
    for text in ["A", "java/lang/Object", "m", "()V", "Code"] {
        out.put1(1);
        out.put2(text.len() as u16);
        out.extend(text.bytes());
    }
    for name in [1, 2] {
        out.put1(7);
        out.put2(name);
    }
    [1, 6, 7, 0, 0, 1, 8, 3, 4, 1, 5].iter().for_each(|&number| out.put2(number));
    out.put4(12 + code.len() as u32 + 8 * handlers.len() as u32);
    out.put2(9);
    out.put2(400);
    out.put4(code.len() as u32);
    out.extend(code);
    out.put2(handlers.len() as u16);
    for [start, end, handler] in handlers {
        [*start, *end, *handler, 0].iter().for_each(|&number| out.put2(number));
    }
    [0, 0].iter().for_each(|&number| out.put2(number));
    out
}

/// Code that is written in one pass equals code written by a layout, with insertions anywhere.
#[test]
fn near_code_is_written_as_far_code_is() {
    let mut code = vec![GOTO, 0, 4, NOP, ILOAD_0, IFEQ, 0xFF, 0xFE, LSTORE_2, WIDE, IINC, 1, 0, 0, 9];
    // A padded tableswitch of two cases at 16, then a lookupswitch of one case at 40; both lead to
    // the beginning and the end.
    code.extend([NOP, TABLESWITCH, 0, 0, 0]);
    [60 - 16, 3, 4, 16_u32.wrapping_neg(), 60 - 16].iter().for_each(|&word| code.put4(word));
    code.extend([LOOKUPSWITCH, 0, 0, 0]);
    [40_u32.wrapping_neg(), 1, 7, 60 - 40].iter().for_each(|&word| code.put4(word));
    code.extend([ALOAD, 200, GOTO_W, 0, 0, 0, 5, RETURN]);
    let bytes = class(&code);
    let class = ClassFile::parse(&bytes).unwrap();
    let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
    let starts: Vec<Bci> = code.instructions().map(|i| i.bci).collect();
    for at in 0..=4 {
        for &bci in &starts {
            let mut edit = CodeEdit::new(&code, at, &[VerificationType::Long]);
            let mut asm = Asm::new();
            asm.load(Kind::Long, at).op(POP2);
            edit.prologue(&asm);
            edit.before(bci, &asm);
            edit.after(&code.instruction_at(bci).unwrap(), &asm);
            if !opcode::has_targets(code.instruction_at(bci).unwrap().opcode) {
                edit.replace(bci, asm.op(NOP));
            }
            edit.edits.sort();
            let (mut near, mut far) = (vec![1, 2, 3], Vec::new());
            let laid_out = Layout::compute(&code, &edit.edits)
                .and_then(|layout| far::write(&code, &edit.edits, &layout, &mut far).map(|()| layout));
            let written = near::write(&code, &edit.edits, &mut near);
            match (written, laid_out) {
                (Ok(Some(written)), Ok(laid_out)) => {
                    assert_eq!(near[3..], far, "{at} {bci}");
                    assert_eq!(format!("{written:?}"), format!("{laid_out:?}"), "{at} {bci}");
                }
                (Err(near), Err(far)) => assert_eq!(near, far),
                other => panic!("{at} {bci}: {other:?}"),
            }
        }
    }
}

#[test]
fn distances_too_long_for_short_jumps_are_left_to_the_layout() {
    let bytes = class(&[NOP, RETURN]);
    let class = ClassFile::parse(&bytes).unwrap();
    let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
    let length = |inserted: usize| {
        let mut edit = CodeEdit::new(&code, 0, &[]);
        edit.before(0, &Asm { bytes: vec![NOP; inserted] });
        let mut out = vec![7];
        let layout = near::write(&code, &edit.edits, &mut out).unwrap();
        assert_eq!(out.len(), 1 + layout.as_ref().map_or(0, |layout| layout.length as usize));
        layout.map(|layout| layout.length as usize)
    };
    assert_eq!(length(near::REACH - 2), Some(near::REACH));
    assert_eq!(length(near::REACH - 1), None);
}

/// A helper that found no room on the stack was called forever: its call, before the handler of a
/// `finally`, was covered by that handler.
#[test]
fn no_jump_leads_to_code_inserted_before_a_handler() {
    // 0: nop; 1: return; 2: astore_0, the handler of 0 and of itself; 3: aload_0; 4: athrow
    let bytes = class_with(&[NOP, RETURN, ASTORE_0, ALOAD_0, ATHROW], &[[0, 1, 2], [2, 3, 2]]);
    let class = ClassFile::parse(&bytes).unwrap();
    let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
    let table = |before: Bci| {
        let mut edit = CodeEdit::new(&code, 0, &[]);
        edit.before(before, &Asm { bytes: vec![NOP, NOP] });
        let layout = near::write(&code, &edit.edits, &mut Vec::new()).unwrap().unwrap();
        let mut out = Vec::new();
        edit.write_exception_table(&layout, &[], &mut out).unwrap();
        let number = |at: usize| u16::from_be_bytes([out[at], out[at + 1]]);
        let entries = (0..usize::from(number(0))).map(|i| [0, 2, 4].map(|field| number(2 + 8 * i + field)));
        (entries.collect::<Vec<_>>(), edit.resumed(&layout).unwrap())
    };
    // Code inserted at 2 resumes at 4, where the handler's first instruction is.
    assert_eq!(table(2), (vec![[0, 1, 2], [2, 4, 4], [4, 5, 2]], vec![2]));
    assert_eq!(table(0), (vec![[0, 3, 4], [4, 5, 4]], vec![]), "nothing is in front of the handler");
    assert_eq!(table(3), (vec![[0, 1, 2], [2, 3, 2]], vec![]), "what is inserted is not covered");
}
