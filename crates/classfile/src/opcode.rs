//! The instruction set (JVMS 6.5) as tables.

#![allow(missing_docs)]

/// An opcode.
pub type Opcode = u8;

pub const NOP: Opcode = 0;
pub const ACONST_NULL: Opcode = 1;
pub const ICONST_M1: Opcode = 2;
pub const ICONST_0: Opcode = 3;
pub const ICONST_1: Opcode = 4;
pub const ICONST_2: Opcode = 5;
pub const ICONST_3: Opcode = 6;
pub const ICONST_4: Opcode = 7;
pub const ICONST_5: Opcode = 8;
pub const LCONST_0: Opcode = 9;
pub const LCONST_1: Opcode = 10;
pub const FCONST_0: Opcode = 11;
pub const FCONST_1: Opcode = 12;
pub const FCONST_2: Opcode = 13;
pub const DCONST_0: Opcode = 14;
pub const DCONST_1: Opcode = 15;
pub const BIPUSH: Opcode = 16;
pub const SIPUSH: Opcode = 17;
pub const LDC: Opcode = 18;
pub const LDC_W: Opcode = 19;
pub const LDC2_W: Opcode = 20;
pub const ILOAD: Opcode = 21;
pub const LLOAD: Opcode = 22;
pub const FLOAD: Opcode = 23;
pub const DLOAD: Opcode = 24;
pub const ALOAD: Opcode = 25;
pub const ILOAD_0: Opcode = 26;
pub const ILOAD_1: Opcode = 27;
pub const ILOAD_2: Opcode = 28;
pub const ILOAD_3: Opcode = 29;
pub const LLOAD_0: Opcode = 30;
pub const LLOAD_1: Opcode = 31;
pub const LLOAD_2: Opcode = 32;
pub const LLOAD_3: Opcode = 33;
pub const FLOAD_0: Opcode = 34;
pub const FLOAD_1: Opcode = 35;
pub const FLOAD_2: Opcode = 36;
pub const FLOAD_3: Opcode = 37;
pub const DLOAD_0: Opcode = 38;
pub const DLOAD_1: Opcode = 39;
pub const DLOAD_2: Opcode = 40;
pub const DLOAD_3: Opcode = 41;
pub const ALOAD_0: Opcode = 42;
pub const ALOAD_1: Opcode = 43;
pub const ALOAD_2: Opcode = 44;
pub const ALOAD_3: Opcode = 45;
pub const IALOAD: Opcode = 46;
pub const LALOAD: Opcode = 47;
pub const FALOAD: Opcode = 48;
pub const DALOAD: Opcode = 49;
pub const AALOAD: Opcode = 50;
pub const BALOAD: Opcode = 51;
pub const CALOAD: Opcode = 52;
pub const SALOAD: Opcode = 53;
pub const ISTORE: Opcode = 54;
pub const LSTORE: Opcode = 55;
pub const FSTORE: Opcode = 56;
pub const DSTORE: Opcode = 57;
pub const ASTORE: Opcode = 58;
pub const ISTORE_0: Opcode = 59;
pub const ISTORE_1: Opcode = 60;
pub const ISTORE_2: Opcode = 61;
pub const ISTORE_3: Opcode = 62;
pub const LSTORE_0: Opcode = 63;
pub const LSTORE_1: Opcode = 64;
pub const LSTORE_2: Opcode = 65;
pub const LSTORE_3: Opcode = 66;
pub const FSTORE_0: Opcode = 67;
pub const FSTORE_1: Opcode = 68;
pub const FSTORE_2: Opcode = 69;
pub const FSTORE_3: Opcode = 70;
pub const DSTORE_0: Opcode = 71;
pub const DSTORE_1: Opcode = 72;
pub const DSTORE_2: Opcode = 73;
pub const DSTORE_3: Opcode = 74;
pub const ASTORE_0: Opcode = 75;
pub const ASTORE_1: Opcode = 76;
pub const ASTORE_2: Opcode = 77;
pub const ASTORE_3: Opcode = 78;
pub const IASTORE: Opcode = 79;
pub const LASTORE: Opcode = 80;
pub const FASTORE: Opcode = 81;
pub const DASTORE: Opcode = 82;
pub const AASTORE: Opcode = 83;
pub const BASTORE: Opcode = 84;
pub const CASTORE: Opcode = 85;
pub const SASTORE: Opcode = 86;
pub const POP: Opcode = 87;
pub const POP2: Opcode = 88;
pub const DUP: Opcode = 89;
pub const DUP_X1: Opcode = 90;
pub const DUP_X2: Opcode = 91;
pub const DUP2: Opcode = 92;
pub const DUP2_X1: Opcode = 93;
pub const DUP2_X2: Opcode = 94;
pub const SWAP: Opcode = 95;
pub const IADD: Opcode = 96;
pub const LADD: Opcode = 97;
pub const FADD: Opcode = 98;
pub const DADD: Opcode = 99;
pub const ISUB: Opcode = 100;
pub const LSUB: Opcode = 101;
pub const FSUB: Opcode = 102;
pub const DSUB: Opcode = 103;
pub const IMUL: Opcode = 104;
pub const LMUL: Opcode = 105;
pub const FMUL: Opcode = 106;
pub const DMUL: Opcode = 107;
pub const IDIV: Opcode = 108;
pub const LDIV: Opcode = 109;
pub const FDIV: Opcode = 110;
pub const DDIV: Opcode = 111;
pub const IREM: Opcode = 112;
pub const LREM: Opcode = 113;
pub const FREM: Opcode = 114;
pub const DREM: Opcode = 115;
pub const INEG: Opcode = 116;
pub const LNEG: Opcode = 117;
pub const FNEG: Opcode = 118;
pub const DNEG: Opcode = 119;
pub const ISHL: Opcode = 120;
pub const LSHL: Opcode = 121;
pub const ISHR: Opcode = 122;
pub const LSHR: Opcode = 123;
pub const IUSHR: Opcode = 124;
pub const LUSHR: Opcode = 125;
pub const IAND: Opcode = 126;
pub const LAND: Opcode = 127;
pub const IOR: Opcode = 128;
pub const LOR: Opcode = 129;
pub const IXOR: Opcode = 130;
pub const LXOR: Opcode = 131;
pub const IINC: Opcode = 132;
pub const I2L: Opcode = 133;
pub const I2F: Opcode = 134;
pub const I2D: Opcode = 135;
pub const L2I: Opcode = 136;
pub const L2F: Opcode = 137;
pub const L2D: Opcode = 138;
pub const F2I: Opcode = 139;
pub const F2L: Opcode = 140;
pub const F2D: Opcode = 141;
pub const D2I: Opcode = 142;
pub const D2L: Opcode = 143;
pub const D2F: Opcode = 144;
pub const I2B: Opcode = 145;
pub const I2C: Opcode = 146;
pub const I2S: Opcode = 147;
pub const LCMP: Opcode = 148;
pub const FCMPL: Opcode = 149;
pub const FCMPG: Opcode = 150;
pub const DCMPL: Opcode = 151;
pub const DCMPG: Opcode = 152;
pub const IFEQ: Opcode = 153;
pub const IFNE: Opcode = 154;
pub const IFLT: Opcode = 155;
pub const IFGE: Opcode = 156;
pub const IFGT: Opcode = 157;
pub const IFLE: Opcode = 158;
pub const IF_ICMPEQ: Opcode = 159;
pub const IF_ICMPNE: Opcode = 160;
pub const IF_ICMPLT: Opcode = 161;
pub const IF_ICMPGE: Opcode = 162;
pub const IF_ICMPGT: Opcode = 163;
pub const IF_ICMPLE: Opcode = 164;
pub const IF_ACMPEQ: Opcode = 165;
pub const IF_ACMPNE: Opcode = 166;
pub const GOTO: Opcode = 167;
pub const JSR: Opcode = 168;
pub const RET: Opcode = 169;
pub const TABLESWITCH: Opcode = 170;
pub const LOOKUPSWITCH: Opcode = 171;
pub const IRETURN: Opcode = 172;
pub const LRETURN: Opcode = 173;
pub const FRETURN: Opcode = 174;
pub const DRETURN: Opcode = 175;
pub const ARETURN: Opcode = 176;
pub const RETURN: Opcode = 177;
pub const GETSTATIC: Opcode = 178;
pub const PUTSTATIC: Opcode = 179;
pub const GETFIELD: Opcode = 180;
pub const PUTFIELD: Opcode = 181;
pub const INVOKEVIRTUAL: Opcode = 182;
pub const INVOKESPECIAL: Opcode = 183;
pub const INVOKESTATIC: Opcode = 184;
pub const INVOKEINTERFACE: Opcode = 185;
pub const INVOKEDYNAMIC: Opcode = 186;
pub const NEW: Opcode = 187;
pub const NEWARRAY: Opcode = 188;
pub const ANEWARRAY: Opcode = 189;
pub const ARRAYLENGTH: Opcode = 190;
pub const ATHROW: Opcode = 191;
pub const CHECKCAST: Opcode = 192;
pub const INSTANCEOF: Opcode = 193;
pub const MONITORENTER: Opcode = 194;
pub const MONITOREXIT: Opcode = 195;
pub const WIDE: Opcode = 196;
pub const MULTIANEWARRAY: Opcode = 197;
pub const IFNULL: Opcode = 198;
pub const IFNONNULL: Opcode = 199;
pub const GOTO_W: Opcode = 200;
pub const JSR_W: Opcode = 201;

/// Opcodes above this one are reserved or unknown.
pub const LAST: Opcode = JSR_W;

/// Mnemonics by opcode.
pub static MNEMONICS: [&str; 202] = [
    "nop",
    "aconst_null",
    "iconst_m1",
    "iconst_0",
    "iconst_1",
    "iconst_2",
    "iconst_3",
    "iconst_4",
    "iconst_5",
    "lconst_0",
    "lconst_1",
    "fconst_0",
    "fconst_1",
    "fconst_2",
    "dconst_0",
    "dconst_1",
    "bipush",
    "sipush",
    "ldc",
    "ldc_w",
    "ldc2_w",
    "iload",
    "lload",
    "fload",
    "dload",
    "aload",
    "iload_0",
    "iload_1",
    "iload_2",
    "iload_3",
    "lload_0",
    "lload_1",
    "lload_2",
    "lload_3",
    "fload_0",
    "fload_1",
    "fload_2",
    "fload_3",
    "dload_0",
    "dload_1",
    "dload_2",
    "dload_3",
    "aload_0",
    "aload_1",
    "aload_2",
    "aload_3",
    "iaload",
    "laload",
    "faload",
    "daload",
    "aaload",
    "baload",
    "caload",
    "saload",
    "istore",
    "lstore",
    "fstore",
    "dstore",
    "astore",
    "istore_0",
    "istore_1",
    "istore_2",
    "istore_3",
    "lstore_0",
    "lstore_1",
    "lstore_2",
    "lstore_3",
    "fstore_0",
    "fstore_1",
    "fstore_2",
    "fstore_3",
    "dstore_0",
    "dstore_1",
    "dstore_2",
    "dstore_3",
    "astore_0",
    "astore_1",
    "astore_2",
    "astore_3",
    "iastore",
    "lastore",
    "fastore",
    "dastore",
    "aastore",
    "bastore",
    "castore",
    "sastore",
    "pop",
    "pop2",
    "dup",
    "dup_x1",
    "dup_x2",
    "dup2",
    "dup2_x1",
    "dup2_x2",
    "swap",
    "iadd",
    "ladd",
    "fadd",
    "dadd",
    "isub",
    "lsub",
    "fsub",
    "dsub",
    "imul",
    "lmul",
    "fmul",
    "dmul",
    "idiv",
    "ldiv",
    "fdiv",
    "ddiv",
    "irem",
    "lrem",
    "frem",
    "drem",
    "ineg",
    "lneg",
    "fneg",
    "dneg",
    "ishl",
    "lshl",
    "ishr",
    "lshr",
    "iushr",
    "lushr",
    "iand",
    "land",
    "ior",
    "lor",
    "ixor",
    "lxor",
    "iinc",
    "i2l",
    "i2f",
    "i2d",
    "l2i",
    "l2f",
    "l2d",
    "f2i",
    "f2l",
    "f2d",
    "d2i",
    "d2l",
    "d2f",
    "i2b",
    "i2c",
    "i2s",
    "lcmp",
    "fcmpl",
    "fcmpg",
    "dcmpl",
    "dcmpg",
    "ifeq",
    "ifne",
    "iflt",
    "ifge",
    "ifgt",
    "ifle",
    "if_icmpeq",
    "if_icmpne",
    "if_icmplt",
    "if_icmpge",
    "if_icmpgt",
    "if_icmple",
    "if_acmpeq",
    "if_acmpne",
    "goto",
    "jsr",
    "ret",
    "tableswitch",
    "lookupswitch",
    "ireturn",
    "lreturn",
    "freturn",
    "dreturn",
    "areturn",
    "return",
    "getstatic",
    "putstatic",
    "getfield",
    "putfield",
    "invokevirtual",
    "invokespecial",
    "invokestatic",
    "invokeinterface",
    "invokedynamic",
    "new",
    "newarray",
    "anewarray",
    "arraylength",
    "athrow",
    "checkcast",
    "instanceof",
    "monitorenter",
    "monitorexit",
    "wide",
    "multianewarray",
    "ifnull",
    "ifnonnull",
    "goto_w",
    "jsr_w",
];

/// Instruction lengths in bytes by opcode; 0 if the length depends on operands (switches, `wide`),
/// and for undefined opcodes.
pub static LENGTHS: [u8; 256] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 0, 1, 1, 1,
    1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 5, 5, 3, 2, 3, 1, 1, 3, 3, 1, 1, 0, 4, 3, 3, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// Number of bytes of the constant-pool index after the opcode; 0 if it has none.
pub static INDEX_BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut op = 0;
    while op < table.len() {
        table[op] = match op as Opcode {
            LDC => 1,
            LDC_W | LDC2_W | GETSTATIC..=NEW => 2,
            ANEWARRAY | CHECKCAST | INSTANCEOF | MULTIANEWARRAY => 2,
            _ => 0,
        };
        op += 1;
    }
    table
};

/// `if<cond>`, `if_icmp<cond>`, `if_acmp<cond>`, `ifnull`, `ifnonnull`.
#[inline]
pub fn is_conditional(op: Opcode) -> bool {
    matches!(op, IFEQ..=IF_ACMPNE | IFNULL | IFNONNULL)
}

/// `goto`, `jsr` and their wide forms.
#[inline]
pub fn is_unconditional_jump(op: Opcode) -> bool {
    matches!(op, GOTO | GOTO_W | JSR | JSR_W)
}

/// `jsr` and `jsr_w`.
#[inline]
pub fn is_subroutine_call(op: Opcode) -> bool {
    matches!(op, JSR | JSR_W)
}

/// `tableswitch` and `lookupswitch`.
#[inline]
pub fn is_switch(op: Opcode) -> bool {
    matches!(op, TABLESWITCH | LOOKUPSWITCH)
}

/// Whether it names other instructions: jumps and switches.
#[inline]
pub fn has_targets(op: Opcode) -> bool {
    matches!(op, IFEQ..=JSR | TABLESWITCH | LOOKUPSWITCH | IFNULL..=JSR_W)
}

/// Whether it names a local variable in any of its forms, `iinc` and `ret` included.
#[inline]
pub fn has_local(op: Opcode) -> bool {
    matches!(op, ILOAD..=ALOAD_3 | ISTORE..=ASTORE_3 | IINC | RET)
}

/// The six return instructions.
#[inline]
pub fn is_return(op: Opcode) -> bool {
    matches!(op, IRETURN..=RETURN)
}

/// The five invocations.
#[inline]
pub fn is_invoke(op: Opcode) -> bool {
    matches!(op, INVOKEVIRTUAL..=INVOKEDYNAMIC)
}

/// Whether control never passes to the next instruction. (After a `jsr` it does so by way of
/// `ret`.)
#[inline]
pub fn ends_flow(op: Opcode) -> bool {
    matches!(op, GOTO | GOTO_W | RET | TABLESWITCH | LOOKUPSWITCH | IRETURN..=RETURN | ATHROW)
}

/// Whether the instruction can throw itself or through its callee (JVMS 2.10 and 6.5, per
/// instruction), apart from asynchronous exceptions. The returns and `monitorexit` can throw
/// `IllegalMonitorStateException`, which structured locking excludes for returns (JVMS 2.11.10).
/// Division counts only for `int` and `long`; `ldc` only if it must resolve its constant (see
/// `flow`).
#[inline]
pub const fn may_throw(op: Opcode) -> bool {
    matches!(op,
        IALOAD..=SALOAD | IASTORE..=SASTORE | IDIV | LDIV | IREM | LREM | GETSTATIC..=INVOKEDYNAMIC
        | NEW..=MONITOREXIT | MULTIANEWARRAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_agree_with_the_specification() {
        assert_eq!((LDC, ILOAD, INVOKEVIRTUAL, WIDE, JSR_W), (0x12, 0x15, 0xb6, 0xc4, 0xc9));
        assert_eq!(MNEMONICS[INVOKEDYNAMIC as usize], "invokedynamic");
        assert_eq!(LENGTHS[MULTIANEWARRAY as usize], 4);
        assert!(
            may_throw(ATHROW) && may_throw(CHECKCAST) && may_throw(ARRAYLENGTH) && may_throw(MONITORENTER)
        );
        for op in 0..=u8::MAX {
            assert_eq!(
                has_targets(op),
                is_conditional(op) || is_unconditional_jump(op) || is_switch(op),
                "{op}"
            );
        }
        assert!(!may_throw(WIDE) && !may_throw(FDIV) && !may_throw(RETURN) && !may_throw(IFNULL));
    }
}
