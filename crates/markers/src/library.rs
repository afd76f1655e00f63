//! What classes of a class library gain where any of it is marked: a field in which a thread has its marker stack, and the call by which the runtime hears that the JVM
//! has booted. And which of them are not marked.

use cct_classfile::constant_pool::tag;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, Code, Result, access, opcode};

/// The runtime there.
const RUNTIME: &[u8] = b"java/lang/CctMarkers";

/// Why no method of a class of the class library is marked.
pub fn unmarked(class: &[u8]) -> Option<&'static str> {
    let is_below = |package: &[u8]| class.starts_with(package);
    match class {
        b"java/lang/Object" => Some("the JVM gives the methods of Object a meaning of their own"),
        _ if is_below(b"java/lang/invoke/") || is_below(b"sun/invoke/") => {
            Some("a class of method handles, with which markers register")
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

/// What a class of the class library gains; `None` of all but two.
pub fn prepared(class: &ClassFile<'_>) -> Result<Option<Vec<u8>>> {
    match class.name() {
        b"java/lang/Thread" => with_stack(class).map(Some),
        b"sun/launcher/LauncherHelper" => with_launch(class),
        _ => Ok(None),
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

/// Before the launcher loads the main class.
fn with_launch(class: &ClassFile<'_>) -> Result<Option<Vec<u8>>> {
    let mut edit = ClassEdit::new(class);
    let Some((position, member)) =
        class.methods.iter().enumerate().find(|(_, member)| member.name == b"checkAndLoadMain")
    else {
        return Ok(None);
    };
    let Some(code) = Code::of(class, member)? else { return Ok(None) };
    let runtime = edit.additions.class_named(RUNTIME)?;
    let (name, descriptor) = (edit.additions.utf8(b"launched")?, edit.additions.utf8(b"()V")?);
    let call = edit.additions.member_ref(tag::METHODREF, runtime, name, descriptor)?;
    let signature = Signature::of(class, member)?;
    let mut code_edit = CodeEdit::new(&code, signature.argument_slots(), &[]);
    let mut asm = Asm::new();
    asm.indexed(opcode::INVOKESTATIC, call);
    code_edit.prologue(&asm);
    let mut head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
    head.copy_attributes(member, |name| name != b"Code");
    let mut names = std::mem::take(&mut edit.names);
    let name = names.code(&mut edit.additions)?;
    let additions = &mut edit.additions;
    head.attribute(name, |out| code_edit.finish(&signature, &signature, &mut names, additions, out))?;
    edit.names = names;
    edit.replace_method(position, head.finish());
    edit.finish().map(Some)
}
