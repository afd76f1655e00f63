//! The JVM's flags, as HotSpot describes them to debuggers (`vmStructs.hpp`): tables that `libjvm`
//! exports say where its flags are.
//!
//! The management classes report the same. But for a small program, loading them costs more than
//! everything else it does.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use crate::jni::Env;

/// dlfcn.h, as the C libraries of Linux and macOS have it; the standard library links them.
#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

const RTLD_NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

/// The value of a flag as text: `true` or `false`, a decimal number, or the string. `None` if this
/// JVM does not have it, or describes its flags in an unknown way.
pub fn value(env: Env, name: &str) -> Option<String> {
    // Finding the description of the table takes a search through thousands of names.
    static FLAGS: OnceLock<Option<Flags>> = OnceLock::new();
    let flags = FLAGS.get_or_init(|| Jvm::of(env)?.flags()).as_ref()?;
    // SAFETY: within HotSpot's own table, by its own description.
    unsafe {
        for k in 0..flags.count {
            let flag = flags.first.add(k * flags.size);
            if text(flag.add(flags.name).cast()) == Some(name.as_bytes()) {
                return flags.value(flag);
            }
        }
    }
    None
}

/// The string that a field points to.
///
/// # Safety
/// The field must hold null or the address of a string that stays.
unsafe fn text<'t>(field: *const *const c_char) -> Option<&'t [u8]> {
    // SAFETY: by this function's contract.
    unsafe {
        let string = ptr::read(field);
        (!string.is_null()).then(|| CStr::from_ptr(string).to_bytes())
    }
}

/// HotSpot's library.
pub(crate) struct Jvm {
    library: *mut c_void,
}

/// A row of `gHotSpotVMStructs`.
struct Field {
    type_string: Vec<u8>,
    offset: usize,
    address: *const u8,
}

/// The table of flags: its address, and the offsets of the parts of a row.
struct Flags {
    first: *const u8,
    size: usize,
    count: usize,
    name: usize,
    address: usize,
    kind: usize,
    /// Whether the kind is a string (until JDK 16) and not a number.
    kind_is_text: bool,
}

// SAFETY: the table belongs to the JVM, not to a thread, and stays.
unsafe impl Send for Flags {}
// SAFETY: the table belongs to the JVM, stays, and is only read.
unsafe impl Sync for Flags {}

impl Jvm {
    /// The library that contains JNI's functions.
    pub(crate) fn of(env: Env) -> Option<Jvm> {
        let mut info = DlInfo {
            file: ptr::null(),
            base: ptr::null_mut(),
            symbol: ptr::null(),
            address: ptr::null_mut(),
        };
        // SAFETY: an address within the JVM; opening it again only counts a reference.
        let library = unsafe {
            if dladdr(env.any_function(), &mut info) == 0 || info.file.is_null() {
                return None;
            }
            dlopen(info.file, RTLD_NOW)
        };
        (!library.is_null()).then_some(Jvm { library })
    }

    /// The address of an exported function.
    pub(crate) fn function(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: an open library.
        let function = unsafe { dlsym(self.library, name.as_ptr()) };
        (!function.is_null()).then_some(function)
    }

    /// The `u64` (or the address) that an exported variable holds.
    fn exported(&self, name: &CStr) -> Option<u64> {
        // SAFETY: an open library; all requested variables have this size.
        unsafe {
            let variable = dlsym(self.library, name.as_ptr());
            (!variable.is_null()).then(|| ptr::read(variable.cast::<u64>()))
        }
    }

    /// A field of one of HotSpot's classes.
    fn field(&self, class: &[u8], field: &[u8]) -> Option<Field> {
        let at = |name| self.exported(name).map(|offset| offset as usize);
        let mut row = at(c"gHotSpotVMStructs")? as *const u8;
        let stride = at(c"gHotSpotVMStructEntryArrayStride")?;
        let (class_at, field_at) =
            (at(c"gHotSpotVMStructEntryTypeNameOffset")?, at(c"gHotSpotVMStructEntryFieldNameOffset")?);
        let (type_at, offset_at) =
            (at(c"gHotSpotVMStructEntryTypeStringOffset")?, at(c"gHotSpotVMStructEntryOffsetOffset")?);
        let address_at = at(c"gHotSpotVMStructEntryAddressOffset")?;
        // SAFETY: HotSpot's table, by its own description; a row without a class name ends it.
        unsafe {
            while let Some(of) = text(row.add(class_at).cast()) {
                if of == class && text(row.add(field_at).cast()) == Some(field) {
                    return Some(Field {
                        type_string: text(row.add(type_at).cast()).unwrap_or_default().to_vec(),
                        offset: ptr::read(row.add(offset_at).cast::<u64>()) as usize,
                        address: ptr::read(row.add(address_at).cast()),
                    });
                }
                row = row.add(stride);
            }
        }
        None
    }

    /// The size of one of HotSpot's classes.
    fn size(&self, class: &[u8]) -> Option<usize> {
        let at = |name| self.exported(name).map(|offset| offset as usize);
        let mut row = at(c"gHotSpotVMTypes")? as *const u8;
        let stride = at(c"gHotSpotVMTypeEntryArrayStride")?;
        let (name_at, size_at) =
            (at(c"gHotSpotVMTypeEntryTypeNameOffset")?, at(c"gHotSpotVMTypeEntrySizeOffset")?);
        // SAFETY: as above.
        unsafe {
            while let Some(name) = text(row.add(name_at).cast()) {
                if name == class {
                    return Some(ptr::read(row.add(size_at).cast::<u64>()) as usize);
                }
                row = row.add(stride);
            }
        }
        None
    }

    fn flags(&self) -> Option<Flags> {
        // `Flag` until JDK 9.
        let class = [&b"Flag"[..], b"JVMFlag"].into_iter().find(|class| self.size(class).is_some())?;
        let kind = self.field(class, b"_type").or_else(|| self.field(class, b"type"))?;
        let part = |long: &[u8], short: &[u8]| self.field(class, long).or_else(|| self.field(class, short));
        let (flags, count) = (self.field(class, b"flags")?, self.field(class, b"numFlags")?);
        // SAFETY: static fields, whose addresses are in the table.
        let (first, count) = unsafe {
            (ptr::read(flags.address.cast::<*const u8>()), ptr::read(count.address.cast::<usize>()))
        };
        Some(Flags {
            first,
            size: self.size(class)?,
            count,
            name: part(b"_name", b"name")?.offset,
            address: part(b"_addr", b"addr")?.offset,
            kind: kind.offset,
            kind_is_text: kind.type_string.contains(&b'*'),
        })
    }
}

/// `JVMFlag::FlagType`, since JDK 17.
const KINDS: [&str; 10] =
    ["bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr", "ccstrlist"];

impl Flags {
    /// The value of a flag as text.
    ///
    /// # Safety
    /// `flag` must be a row of the table.
    unsafe fn value(&self, flag: *const u8) -> Option<String> {
        // SAFETY: by this function's contract; the kind gives the variable's type.
        unsafe {
            let kind = if self.kind_is_text {
                std::str::from_utf8(text(flag.add(self.kind).cast())?).ok()?
            } else {
                KINDS.get(ptr::read(flag.add(self.kind).cast::<c_int>()) as usize)?
            };
            let variable = ptr::read(flag.add(self.address).cast::<*const u8>());
            if variable.is_null() {
                return None;
            }
            Some(match kind {
                "bool" => (ptr::read(variable) != 0).to_string(),
                "int" => ptr::read(variable.cast::<i32>()).to_string(),
                "uint" => ptr::read(variable.cast::<u32>()).to_string(),
                "intx" => ptr::read(variable.cast::<isize>()).to_string(),
                "uintx" | "size_t" => ptr::read(variable.cast::<usize>()).to_string(),
                "uint64_t" => ptr::read(variable.cast::<u64>()).to_string(),
                "ccstr" | "ccstrlist" => {
                    String::from_utf8_lossy(text(variable.cast()).unwrap_or_default()).into_owned()
                }
                _ => return None,
            })
        }
    }
}
