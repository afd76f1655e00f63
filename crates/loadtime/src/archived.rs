//! Classes from an archive of the user's own (`-XX:SharedArchiveFile`, `-XX:AOTCache`). An earlier
//! JVM rewrote them when it made the archive, and they are loaded without passing this library. The
//! JVM itself can say what they are in the tree. The method id is in the code of the method, as the
//! constant that its prologue pushes.

use std::sync::OnceLock;

use cct_classfile::{ClassFile, Code, NameAndTypeBuf, opcode};
use cct_columns::Column;
use cct_index::record::{ForeignRecord, NamedMethod};
use cct_jdk::convention::without_extension;
use cct_jdk::helpers::Helper;
use rustc_hash::FxHashMap;

use crate::identity::{anonymous_name, without_number};
use crate::jni::{Env, jclass, jmethodID};
use crate::jvmti::Jvmti;
use crate::state::state;
use crate::{types, vm_flags, vm_pool};

/// JVM options that name an archive of the user.
const OPTIONS: [&str; 2] = ["SharedArchiveFile", "AOTCache"];

/// Whether this JVM was started with an archive of the user.
pub fn is_given(env: Env) -> bool {
    static GIVEN: OnceLock<bool> = OnceLock::new();
    let names_one = |option: &&str| vm_flags::value(env, option).is_some_and(|path| !path.is_empty());
    *GIVEN.get_or_init(|| OPTIONS.iter().any(names_one))
}

/// The id of the node of a method's frames, read from the method's code. `None` for wrappers and
/// for code that was not rewritten.
pub fn mid(jvmti: Jvmti, class: jclass, method: jmethodID) -> Option<u64> {
    let named = jvmti.method_name(method)?;
    let (count, pool) = jvmti.constant_pool(class)?;
    mid_in(&jvmti.bytecodes(method)?, count, &pool, without_extension(&named.descriptor).is_some())
}

/// The names of the methods with these ids, as far as loaded classes have them.
pub fn names(env: Env, jvmti: Jvmti, wanted: &[u64]) -> FxHashMap<u64, NamedMethod> {
    let mut found = FxHashMap::default();
    for column in Column::all() {
        let record = ForeignRecord::of_column(column.name().as_bytes());
        if wanted.contains(&record.mid.0) {
            found.insert(record.mid.0, record.named());
        }
    }
    for class in jvmti.loaded_classes().unwrap_or_default() {
        if found.len() < wanted.len() {
            let pool = jvmti.constant_pool(class);
            let mid_of = |code: &[u8], extended| match &pool {
                Some((count, pool)) => mid_in(code, *count, pool, extended),
                None => vm_pool::long(env, class, first_pushed(code)?),
            };
            // The type of counted objects is a class that the JVM has, too.
            if let Some(of) =
                jvmti.class_signature(class).and_then(|signature| types::shown(&signature, shown_name))
            {
                let record = ForeignRecord::of_type(&of);
                if wanted.contains(&record.mid.0) {
                    found.insert(record.mid.0, record.named());
                }
            }
            for (mid, named) in methods(jvmti, class, mid_of) {
                if wanted.contains(&mid) {
                    found.insert(mid, named);
                }
            }
        }
        env.delete_local(class);
    }
    found
}

/// The methods of a class that have nodes. `mid_of` finds the id in a method's code, given whether
/// it is an extended form.
fn methods(
    jvmti: Jvmti,
    class: jclass,
    mid_of: impl Fn(&[u8], bool) -> Option<u64>,
) -> Vec<(u64, NamedMethod)> {
    let (Some(name), Some(ids)) = (jvmti.class_name(class), jvmti.class_methods(class)) else {
        return Vec::new();
    };
    let name = shown_name(&name);
    let counts_monitors = state().library.counts(Column::Monitors);
    let natives: Vec<NameAndTypeBuf> =
        ids.iter().filter(|id| jvmti.is_native(**id)).filter_map(|id| jvmti.method_name(*id)).collect();
    let of_method = |&id: &jmethodID| {
        let mut method = jvmti.method_name(id)?;
        let original = without_extension(&method.descriptor);
        let mid = mid_of(&jvmti.bytecodes(id)?, original.is_some())?;
        if let Some(original) = original {
            method.descriptor = original.into();
        }
        let is_native = natives.contains(&method);
        let named = NamedMethod {
            class: name.clone(),
            name: method.name,
            descriptor: method.descriptor,
            is_native,
            is_synchronized: counts_monitors && jvmti.is_synchronized(id),
            // The JVM does not keep the attribute that held them.
            positions: Box::default(),
        };
        Some((mid, named))
    };
    ids.iter().filter_map(of_method).collect()
}

/// The name that profiles show: without the number, for classes that the JDK generates.
fn shown_name(name: &[u8]) -> Box<[u8]> {
    let simple = name.rsplit(|&b| b == b'/').next().unwrap_or_default();
    match anonymous_name(name) {
        Some(common) => without_number(common),
        None if simple.starts_with(b"$Proxy") => without_number(name),
        None => name.into(),
    }
}

/// The method id in a body's prologue, or in the wrapper of a native. It is the last `long` pushed
/// before the first call of a helper that enters a node. Other bodies enter nodes of callees, too,
/// but never before their own.
fn mid_in(code: &[u8], count: u16, pool: &[u8], extended: bool) -> Option<u64> {
    let file = class_file(code, count, pool)?;
    let class = ClassFile::parse(&file).ok()?;
    let code = Code::of(&class, class.methods.first()?).ok()??;
    let (mut pushed, mut in_wrapper) = (None, None);
    for instruction in code.instructions() {
        let Some(index) = instruction.pool_index() else { continue };
        match instruction.opcode {
            opcode::LDC2_W => pushed = class.pool.long(index).ok(),
            opcode::INVOKESTATIC => {
                // Their class is `Object`, or a class that inherits them.
                let callee = class.pool.member_ref(index).ok()?;
                let is = |helper: &Helper| callee.name_and_type() == helper.name_and_type();
                if [Helper::Enter, Helper::EnterAndPoll].iter().any(is) {
                    return pushed.map(|mid| mid as u64);
                }
                if extended && [Helper::Call, Helper::Leaf].iter().any(is) {
                    in_wrapper = in_wrapper.or(pushed);
                }
            }
            _ => {}
        }
    }
    in_wrapper.map(|mid| mid as u64)
}

/// The constant that a body's prologue pushes: the last `long` before the first static call after
/// it. This does not check whether that call goes to a helper, which takes a constant pool. JVMTI
/// gives none for a class whose initialiser has failed. The result must be an id that is wanted.
fn first_pushed(code: &[u8]) -> Option<u16> {
    let file = class_file(code, 1, &[])?;
    let class = ClassFile::parse(&file).ok()?;
    let code = Code::of(&class, class.methods.first()?).ok()??;
    let mut pushed = None;
    for instruction in code.instructions() {
        match instruction.opcode {
            opcode::LDC2_W => pushed = instruction.pool_index(),
            opcode::INVOKESTATIC if pushed.is_some() => return pushed,
            _ => {}
        }
    }
    None
}

/// A class file with this constant pool, and a method with this code.
fn class_file(code: &[u8], count: u16, pool: &[u8]) -> Option<Vec<u8>> {
    let (code_name, name, descriptor, class_name, class) =
        (count, count.checked_add(1)?, count.checked_add(2)?, count.checked_add(3)?, count.checked_add(4)?);
    let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
    let u2 = |file: &mut Vec<u8>, value: u16| file.extend_from_slice(&value.to_be_bytes());
    u2(&mut file, class.checked_add(1)?);
    file.extend_from_slice(pool);
    for text in [&b"Code"[..], b"m", b"()V", b"C"] {
        file.push(1);
        u2(&mut file, text.len() as u16);
        file.extend_from_slice(text);
    }
    file.push(7);
    u2(&mut file, class_name);
    // access, this, super, interfaces, fields, one method: static m()V with one attribute.
    for value in [0x20, class, 0, 0, 0, 1, 8, name, descriptor, 1, code_name] {
        u2(&mut file, value);
    }
    let length = u32::try_from(code.len()).ok()?;
    file.extend_from_slice(&length.checked_add(12)?.to_be_bytes());
    for value in [u16::MAX, u16::MAX] {
        u2(&mut file, value);
    }
    file.extend_from_slice(&length.to_be_bytes());
    file.extend_from_slice(code);
    // No handlers, no attributes of the code, none of the class.
    for value in [0, 0, 0] {
        u2(&mut file, value);
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use cct_classfile::NameAndType;

    use super::*;

    /// A pool with a `long` (1), and with a helper (3) in the name of a class that inherits it.
    fn pool(mid: u64, helper: Helper) -> (u16, Vec<u8>) {
        let mut pool = vec![5];
        pool.extend_from_slice(&mid.to_be_bytes());
        pool.extend_from_slice(&[10, 0, 4, 0, 5, 7, 0, 6, 12, 0, 7, 0, 8]);
        let NameAndType { name, descriptor } = helper.name_and_type();
        for text in [b"a/Parent", name, descriptor] {
            pool.push(1);
            pool.extend_from_slice(&(text.len() as u16).to_be_bytes());
            pool.extend_from_slice(text);
        }
        (9, pool)
    }

    #[test]
    fn the_id_stands_in_the_prologue() {
        let code = [opcode::LDC2_W, 0, 1, opcode::INVOKESTATIC, 0, 3, opcode::RETURN];
        let (count, bytes) = pool(0xFFFF_0000_1234_5678, Helper::Enter);
        assert_eq!(mid_in(&code, count, &bytes, false), Some(0xFFFF_0000_1234_5678));
        // The wrapper of a native has it before the call; other bodies call, too.
        let (count, bytes) = pool(7, Helper::Call);
        assert_eq!(
            [mid_in(&code, count, &bytes, true), mid_in(&code, count, &bytes, false)],
            [Some(7), None]
        );
        let (count, bytes) = pool(7, Helper::Restore);
        assert_eq!(mid_in(&code, count, &bytes, true), None);
        assert_eq!(mid_in(&code[..4], count, &bytes, true), None);
        assert_eq!(mid_in(&code, 60_000, &bytes, true), None);
    }

    #[test]
    fn the_constant_of_the_prologue_is_found_without_the_pool() {
        let prologue = [opcode::LDC2_W, 0, 9, opcode::INVOKESTATIC, 0, 3];
        let other = [opcode::LDC2_W, 0, 4, opcode::INVOKESTATIC, 0, 3, opcode::RETURN];
        assert_eq!(first_pushed(&[&prologue[..], &other].concat()), Some(9));
        // A wrapper gets the thread first.
        assert_eq!(first_pushed(&[&prologue[3..], &other].concat()), Some(4));
        assert_eq!(first_pushed(&[opcode::INVOKESTATIC, 0, 3, opcode::RETURN]), None);
        assert_eq!(first_pushed(&prologue[..2]), None);
    }

    #[test]
    fn generated_classes_lose_their_numbers() {
        assert_eq!(&*shown_name(b"a/B$$Lambda/0x00007f1c4c000a08"), b"a/B$$Lambda");
        assert_eq!(&*shown_name(b"jdk/proxy1/$Proxy12"), b"jdk/proxy1/$Proxy");
        assert_eq!(&*shown_name(b"a/B2"), b"a/B2");
    }
}
