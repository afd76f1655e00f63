//! Method handles and generated accessors: calls whose targets no class file names.

use cct_classfile::MemberRef;

/// Whether the class has signature-polymorphic methods (JVMS 2.9.3).
pub fn has_signature_polymorphic_methods(class: &[u8]) -> bool {
    matches!(class, b"java/lang/invoke/MethodHandle" | b"java/lang/invoke/VarHandle")
}

/// Whether reflection has generated this class: another loader than the class's own resolves its
/// names.
pub fn is_generated_accessor(class: &[u8]) -> bool {
    class.starts_with(b"jdk/internal/reflect/Generated") || class.starts_with(b"sun/reflect/Generated")
}

/// The class with HotSpot's linkers (`linkTo*`), by which method handles call the method that the
/// last argument, a `MemberName`, names. `linkToStatic` and `linkToSpecial` call that very method;
/// the others look at the receiver's class.
pub const METHOD_HANDLE: &[u8] = b"java/lang/invoke/MethodHandle";

/// The descriptor of `linkToVirtual` in a call of `hashCode`.
pub const LINKED_HASH_CODE: &[u8] = b"(Ljava/lang/Object;Ljava/lang/invoke/MemberName;)I";

/// Whether a method is signature-polymorphic or a linker (JVMS 2.9.3, and HotSpot's `linkTo*`): no
/// argument may be added anywhere.
pub fn is_signature_polymorphic(method: MemberRef<'_>, access_flags: u16) -> bool {
    use cct_classfile::access::{NATIVE, VARARGS};
    has_signature_polymorphic_methods(method.class)
        && access_flags & (NATIVE | VARARGS) == NATIVE | VARARGS
        && method.descriptor.starts_with(b"([Ljava/lang/Object;)")
}
