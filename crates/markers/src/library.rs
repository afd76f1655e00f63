//! Additions to a class library with markers: a field in which a thread has its marker stack, and
//! calls that tell the runtime how far the JVM has booted. This file also names the library's
//! classes that are not marked.

use cct_classfile::constant_pool::{Index, tag};
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, Code, MemberName, NameAndType, Result, access, opcode};

/// The runtime's class in the class library.
const RUNTIME: &[u8] = b"java/lang/CctMarkers";

/// The reason why no method of a class of the class library is marked; `None` if they may be.
pub fn unmarked(class: &[u8]) -> Option<&'static str> {
    let is_below = |package: &[u8]| class.starts_with(package);
    match class {
        b"java/lang/Object" => Some("the JVM treats the methods of Object specially"),
        _ if is_below(b"java/lang/invoke/") || is_below(b"sun/invoke/") => {
            Some("a class of method handles, which markers need to register")
        }
        _ if is_below(b"java/lang/VirtualThread")
            || is_below(b"java/lang/BaseVirtualThread")
            || is_below(b"jdk/internal/vm/") =>
        {
            Some("its code runs while the current thread changes")
        }
        b"jdk/internal/misc/ScopedMemoryAccess" => Some("the JVM looks at the frames of its methods"),
        _ => None,
    }
}

/// Methods before which the runtime is called, and the called method.
const CALLS: [(MemberName<'_>, &[u8]); 2] = [
    // Before the launcher loads the main class.
    (MemberName::new(b"sun/launcher/LauncherHelper", b"checkAndLoadMain"), b"launched"),
    // At the end of each exit path, including `Runtime.halt`, which runs no hooks.
    (MemberName::new(b"java/lang/Shutdown", b"halt"), b"halting"),
];

/// The class with its additions; `None` for all but four classes of the class library.
pub fn prepared(class: &ClassFile<'_>) -> Result<Option<Vec<u8>>> {
    match class.name() {
        b"java/lang/Thread" => return with_stack(class).map(Some),
        b"java/lang/Module" => return with_packages(class),
        _ => {}
    }
    match CALLS.iter().find(|(method, _)| method.class == class.name()) {
        Some((method, call)) => with_call(class, method.name, call),
        None => Ok(None),
    }
}

fn with_stack(class: &ClassFile<'_>) -> Result<Vec<u8>> {
    let mut edit = ClassEdit::new(class);
    let name = edit.additions.utf8(b"cct$stack")?;
    let descriptor = edit.additions.utf8(b"Ljava/lang/Object;")?;
    let flags = access::TRANSIENT | access::SYNTHETIC;
    edit.add_field(MemberBuilder::new(flags, name, descriptor).finish());
    edit.finish()
}

/// The class with a call of the runtime before a method, if the class has the method.
fn with_call(class: &ClassFile<'_>, method: &[u8], call: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut edit = ClassEdit::new(class);
    let Some(position) = class.methods.iter().position(|member| member.name == method) else {
        return Ok(None);
    };
    let call = runtime_method(&mut edit, NameAndType::new(call, b"()V"))?;
    with_code(&mut edit, position, |code_edit| {
        let mut asm = Asm::new();
        asm.indexed(opcode::INVOKESTATIC, call);
        code_edit.prologue(&asm);
    })?;
    edit.finish().map(Some)
}

/// The native that announces a module to the JVM, since JDK 9. Its last argument holds the names of
/// packages.
const DEFINE_MODULE: &[u8] = b"defineModule0";

/// Makes the runtime adjust the packages of a module, where the argument is passed to the JVM.
fn with_packages(class: &ClassFile<'_>) -> Result<Option<Vec<u8>>> {
    let mut edit = ClassEdit::new(class);
    let mut is_changed = false;
    for position in 0..class.methods.len() {
        let Some(code) = Code::of(class, &class.methods[position])? else { continue };
        let mut calls = Vec::new();
        for instruction in code.instructions().filter(|i| i.opcode == opcode::INVOKESTATIC) {
            let Some(index) = instruction.pool_index() else { continue };
            let callee = class.pool.member_ref(index)?;
            let last = callee.descriptor.rsplit(|&b| b == b'[').next().unwrap_or_default();
            if callee.name == DEFINE_MODULE
                && let Some(packages) = last.strip_suffix(b")V")
            {
                let descriptor = [b"([", packages, b")[", packages].concat();
                let packages = NameAndType::new(b"packages", &descriptor);
                calls.push((instruction.bci, runtime_method(&mut edit, packages)?));
            }
        }
        if calls.is_empty() {
            continue;
        }
        is_changed = true;
        with_code(&mut edit, position, |code_edit| {
            for (bci, call) in calls {
                let mut asm = Asm::new();
                asm.indexed(opcode::INVOKESTATIC, call);
                code_edit.before(bci, &asm);
            }
        })?;
    }
    if is_changed { edit.finish().map(Some) } else { Ok(None) }
}

fn runtime_method(edit: &mut ClassEdit<'_, '_>, method: NameAndType<'_>) -> Result<Index> {
    let runtime = edit.additions.class_named(RUNTIME)?;
    edit.additions.member_of(tag::METHODREF, runtime, method)
}

/// Edits the code of a method; one without code stays unchanged.
fn with_code<'a>(
    edit: &mut ClassEdit<'_, 'a>,
    position: usize,
    change: impl FnOnce(&mut CodeEdit<'_, 'a>),
) -> Result<()> {
    let class = edit.class();
    let member = &class.methods[position];
    let Some(code) = Code::of(class, member)? else { return Ok(()) };
    let signature = Signature::of(class, member)?;
    let mut code_edit = CodeEdit::new(&code, signature.argument_slots(), &[]);
    change(&mut code_edit);
    let mut head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
    head.copy_attributes(member, |name| name != b"Code");
    let mut names = std::mem::take(&mut edit.names);
    let name = names.code(&mut edit.additions)?;
    let additions = &mut edit.additions;
    head.attribute(name, |out| code_edit.finish(&signature, &signature, &mut names, additions, out))?;
    edit.names = names;
    edit.replace_method(position, head.finish());
    Ok(())
}
