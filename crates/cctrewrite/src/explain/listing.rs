//! A method's code as a listing: instructions with resolved operands, frames in their places, and
//! the exception table.

use std::io::Write;

use anyhow::Result;
use cct_build::text::readable;
use cct_classfile::{ClassFile, Code, Instruction, Member, access, opcode};

use super::constants::Constants;
use super::frames;

/// Names of the flags of methods (JVMS table 4.6-A), in the order of source code.
const FLAGS: [(u16, &str); 12] = [
    (access::PUBLIC, "public"),
    (access::PROTECTED, "protected"),
    (access::PRIVATE, "private"),
    (access::ABSTRACT, "abstract"),
    (access::STATIC, "static"),
    (access::FINAL, "final"),
    (access::SYNCHRONIZED, "synchronized"),
    (access::NATIVE, "native"),
    (access::STRICT, "strictfp"),
    (access::VARARGS, "varargs"),
    (access::BRIDGE, "bridge"),
    (access::SYNTHETIC, "synthetic"),
];

/// Element types of `newarray` (JVMS table 6.5.newarray-A). The first has number 4.
const ARRAY_TYPES: [&str; 8] = ["boolean", "char", "float", "double", "byte", "short", "int", "long"];

/// Flags, name and descriptor of a method.
pub fn signature(method: &Member<'_>) -> String {
    let flags = FLAGS.iter().filter(|(flag, _)| method.is(*flag)).map(|(_, name)| format!("{name} "));
    let flags: String = flags.collect();
    format!("{flags}{}{}", readable(method.name), readable(method.descriptor))
}

/// Writes a method; each line starts with `indent`.
pub fn write(
    class: &ClassFile<'_>,
    constants: &Constants<'_>,
    method: &Member<'_>,
    indent: &str,
    out: &mut dyn Write,
) -> Result<()> {
    writeln!(out, "{indent}{}", signature(method))?;
    let Some(code) = Code::of(class, method)? else { return Ok(()) };
    writeln!(
        out,
        "{indent}  stack {}, locals {}, {} bytes",
        code.max_stack,
        code.max_locals,
        code.bytes.len()
    )?;
    let digits = code.bytes.len().to_string().len().max(4);
    let mut frames = frames::of(class, &code)?.into_iter().peekable();
    for instruction in code.instructions() {
        while let Some((_, frame)) = frames.next_if(|(bci, _)| *bci <= instruction.bci) {
            writeln!(out, "{indent}  {:digits$}  frame {frame}", "")?;
        }
        let wide = if instruction.is_wide() { "wide " } else { "" };
        let mnemonic = opcode::MNEMONICS[usize::from(instruction.opcode)];
        let operands = operands(constants, &instruction)?;
        let line = format!("{indent}  {:>digits$}: {wide}{mnemonic:<15} {operands}", instruction.bci);
        writeln!(out, "{}", line.trim_end())?;
        let Some(switch) = instruction.switch() else { continue };
        for (case, target) in switch.cases() {
            writeln!(out, "{indent}  {:digits$}    {case:>11}: {target}", "")?;
        }
        writeln!(out, "{indent}  {:digits$}    {:>11}: {}", "", "default", switch.default_target())?;
    }
    if !code.handlers.is_empty() {
        let digits = digits.max("target".len());
        writeln!(out, "{indent}  {:>digits$}  {:>digits$}  {:>digits$}  catch", "from", "to", "target")?;
    }
    for handler in &code.handlers {
        let digits = digits.max("target".len());
        let caught =
            if handler.catch_type == 0 { "any".to_owned() } else { constants.text(handler.catch_type)? };
        let (from, to, target) = (handler.start, handler.end, handler.handler);
        writeln!(out, "{indent}  {from:>digits$}  {to:>digits$}  {target:>digits$}  {caught}")?;
    }
    Ok(())
}

/// The operands that are not part of the mnemonic; those of a switch have lines of their own.
fn operands(constants: &Constants<'_>, instruction: &Instruction<'_>) -> cct_classfile::Result<String> {
    use opcode::*;
    let bytes = instruction.bytes;
    if let Some(index) = instruction.pool_index() {
        let constant = constants.text(index)?;
        return Ok(match instruction.opcode {
            MULTIANEWARRAY => format!("{constant}, {} dimensions", bytes[3]),
            _ => constant,
        });
    }
    if let Some(target) = instruction.target() {
        return Ok(target.to_string());
    }
    Ok(match instruction.opcode {
        ILOAD..=ALOAD | ISTORE..=ASTORE | RET => {
            instruction.local().map_or(String::new(), |(slot, _)| slot.to_string())
        }
        IINC => {
            let slot = instruction.local().map_or(0, |(slot, _)| slot);
            let by = if instruction.is_wide() {
                i16::from_be_bytes([bytes[4], bytes[5]])
            } else {
                i16::from(bytes[2] as i8)
            };
            format!("{slot}, {by}")
        }
        BIPUSH => (bytes[1] as i8).to_string(),
        SIPUSH => i16::from_be_bytes([bytes[1], bytes[2]]).to_string(),
        NEWARRAY => {
            let known = usize::from(bytes[1]).checked_sub(4).and_then(|kind| ARRAY_TYPES.get(kind));
            known.map_or_else(|| bytes[1].to_string(), |name| (*name).to_owned())
        }
        _ => String::new(),
    })
}
