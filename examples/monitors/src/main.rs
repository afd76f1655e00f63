//! A user-defined instrumentation module in Rust (`docs/research/udi.md`): before each
//! `monitorenter` it has the class say so, and in the end `Monitors.report()` writes how many
//! monitors the `synchronized` blocks of each class have entered.
//!
//!     cargo build -p example-monitors
//!     cctrewrite instrument $JAVA8_HOME/jre/lib/rt.jar --udi target/debug/example-monitors -o inst_rt.jar

#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::process::ExitCode;

use cct_classfile::constant_pool::tag;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{Bci, ClassFile, Code, Error, ErrorKind, Member, opcode};
use cct_udi::{Failure, Module, Outcome, RuntimeClass};

/// The class that inserted code calls, compiled by the build script.
const RUNTIME: &str = "cctrewrite/udi/runtime/Monitors";
const RUNTIME_BYTES: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/cctrewrite/udi/runtime/Monitors.class"));

/// Where the JVM ends; each is entered once at most, but a JVM may pass both.
const ENDS: [(&[u8], &[u8]); 2] = [(b"java/lang/Shutdown", b"halt"), (b"java/lang/Shutdown", b"shutdown")];

struct Monitors;

impl Module for Monitors {
    fn transform(&self, class: &ClassFile<'_>) -> Result<Outcome, Failure> {
        match instrument(class) {
            Ok(None) => Ok(Outcome::Keep),
            Ok(Some(bytes)) => Ok(Outcome::Replace(bytes)),
            // A class that has no room for more is not counted, and the user is told; anything else
            // is a fault of this module.
            Err(e) if is_full(&e) => Ok(Outcome::Abort(e.to_string())),
            Err(e) => Err(e.into()),
        }
    }

    fn runtime(&self) -> Vec<RuntimeClass> {
        vec![RuntimeClass { name: RUNTIME.to_owned(), bytes: RUNTIME_BYTES.to_vec() }]
    }
}

fn is_full(e: &Error) -> bool {
    matches!(
        e.kind(),
        ErrorKind::MethodTooLarge(_)
            | ErrorKind::PoolTooLarge
            | ErrorKind::TooMany(_)
            | ErrorKind::JumpTooFar(_)
    )
}

/// The class with code inserted; `None` if there is no place for any.
fn instrument(class: &ClassFile<'_>) -> Result<Option<Vec<u8>>, Error> {
    let mut edit = ClassEdit::new(class);
    let mut changed = false;
    for (position, method) in class.methods.iter().enumerate() {
        let Some(code) = Code::of(class, method)? else { continue };
        let enters = code.instructions().filter(|i| i.opcode == opcode::MONITORENTER);
        let monitors: Vec<Bci> = enters.map(|i| i.bci).collect();
        let is_end = ENDS.contains(&(class.name(), method.name));
        if !monitors.is_empty() || is_end {
            let method = edited(class, method, &code, &mut edit, &monitors, is_end)?;
            edit.replace_method(position, method);
            changed = true;
        }
    }
    changed.then(|| edit.finish()).transpose()
}

/// A method with a call before each of these instructions, and perhaps one on entry.
fn edited<'a>(
    class: &ClassFile<'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    edit: &mut ClassEdit<'_, 'a>,
    monitors: &[Bci],
    is_end: bool,
) -> Result<Vec<u8>, Error> {
    // No locals are added, so those of the method stay where they are.
    let mut code_edit = CodeEdit::new(code, code.max_locals, &[]);
    if !monitors.is_empty() {
        let name = edit.additions.utf8(class.name())?;
        let name = edit.additions.string(name)?;
        let mut asm = Asm::new();
        asm.ldc(name).indexed(opcode::INVOKESTATIC, callee(edit, b"entered", b"(Ljava/lang/String;)V")?);
        // The string, above what is there.
        code_edit.need_stack(1);
        monitors.iter().for_each(|bci| code_edit.before(*bci, &asm));
    }
    if is_end {
        let mut asm = Asm::new();
        asm.indexed(opcode::INVOKESTATIC, callee(edit, b"report", b"()V")?);
        code_edit.prologue(&asm);
    }
    let signature = Signature::of(class, method)?;
    let mut names = std::mem::take(&mut edit.names);
    let code_name = names.code(&mut edit.additions)?;
    let mut made = MemberBuilder::new(method.access_flags, method.name_index, method.descriptor_index);
    made.attribute(code_name, |out| {
        code_edit.finish(&signature, &signature, &mut names, &mut edit.additions, out)
    })?;
    edit.names = names;
    made.copy_attributes(method, |name| name != b"Code");
    Ok(made.finish())
}

/// The constant for a method of the runtime class.
fn callee(edit: &mut ClassEdit<'_, '_>, name: &[u8], descriptor: &[u8]) -> Result<u16, Error> {
    let class = edit.additions.class_named(RUNTIME.as_bytes())?;
    let (name, descriptor) = (edit.additions.utf8(name)?, edit.additions.utf8(descriptor)?);
    edit.additions.member_ref(tag::METHODREF, class, name, descriptor)
}

fn main() -> ExitCode {
    match cct_udi::serve(&Monitors) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("example-monitors: {e}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runtime class has two synchronized methods and no block; a class of the class library's
    /// size is tried over the whole of `rt.jar` by the tests of the command.
    #[test]
    fn classes_without_blocks_are_kept() {
        let class = ClassFile::parse(RUNTIME_BYTES).unwrap();
        assert_eq!(Monitors.transform(&class).unwrap(), Outcome::Keep);
    }

    #[test]
    fn what_it_brings_along_is_accepted() {
        for class in Monitors.runtime() {
            assert_eq!(cct_udi::check_runtime(&class.bytes).unwrap(), class.name);
        }
    }
}
