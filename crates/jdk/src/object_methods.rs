//! The methods of `java/lang/Object`.

use cct_classfile::NameAndType;

/// The overridable methods of `java/lang/Object`. Its virtual table has exactly these five entries
/// (HotSpot's `compute_Object_vtable`) and arrays share it, so these methods have no extended form
/// anywhere.
pub const OBJECT_METHODS: &[NameAndType<'_>] = &[
    NameAndType::new(b"clone", b"()Ljava/lang/Object;"),
    NameAndType::new(b"equals", b"(Ljava/lang/Object;)Z"),
    NameAndType::new(b"finalize", b"()V"),
    NameAndType::new(b"hashCode", b"()I"),
    NameAndType::new(b"toString", b"()Ljava/lang/String;"),
];

/// Final natives of `java/lang/Object`: a reference to one leads here for any owner. (`wait(J)V` is
/// not a native since JDK 19.)
pub const OBJECT_FINAL_NATIVES: &[NameAndType<'_>] = &[
    NameAndType::new(b"getClass", b"()Ljava/lang/Class;"),
    NameAndType::new(b"notify", b"()V"),
    NameAndType::new(b"notifyAll", b"()V"),
    NameAndType::new(b"wait", b"(J)V"),
];
