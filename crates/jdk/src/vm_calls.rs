//! Methods of the class library that HotSpot itself calls.

use cct_classfile::{Member, MemberName};

/// Methods that HotSpot itself calls within a bytecode, besides class initialisers, `loadClass`,
/// and the constructors of the exceptions that it throws (`vmSymbols`, `JavaCalls`; 8 to 27).
const CALLED_BY_VM: &[MemberName<'_>] = &[
    MemberName::new(b"java/lang/ClassLoader", b"addClass"),
    MemberName::new(b"java/lang/ClassLoader", b"checkPackageAccess"),
    MemberName::new(b"java/lang/ClassLoader", b"findNative"),
    MemberName::new(b"java/lang/ClassLoader", b"getSystemClassLoader"),
    MemberName::new(b"java/lang/ClassLoader", b"loadClassInternal"),
    MemberName::new(b"java/lang/Throwable", b"getCause"),
    // Since JDK 17: for an exception that leaves a class initialiser, to use in later errors.
    MemberName::new(b"java/lang/Throwable", b"getStackTrace"),
    MemberName::new(b"java/lang/Throwable", b"initCause"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"findMethodHandleType"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkCallSite"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkDynamicConstant"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkMethod"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant"),
    MemberName::new(b"java/lang/ref/Finalizer", b"register"),
    MemberName::new(b"java/security/ProtectionDomain", b"impliesCreateAccessControlContext"),
    MemberName::new(b"jdk/internal/misc/Unsafe", b"throwIllegalAccessError"),
    MemberName::new(b"jdk/internal/misc/Unsafe", b"throwNoSuchMethodError"),
    MemberName::new(b"sun/instrument/InstrumentationImpl", b"transform"),
    MemberName::new(b"sun/misc/Unsafe", b"throwIllegalAccessError"),
    MemberName::new(b"sun/misc/Unsafe", b"throwNoSuchMethodError"),
];

/// The exceptions that HotSpot creates by calling their constructors (`vmSymbols`, 8 to 27).
const THROWN_BY_VM: &[&[u8]] = &[
    b"java/lang/AbstractMethodError",
    b"java/lang/ArithmeticException",
    b"java/lang/ArrayIndexOutOfBoundsException",
    b"java/lang/ArrayStoreException",
    b"java/lang/BootstrapMethodError",
    b"java/lang/ClassCastException",
    b"java/lang/ClassCircularityError",
    b"java/lang/ClassFormatError",
    b"java/lang/ClassNotFoundException",
    b"java/lang/CloneNotSupportedException",
    b"java/lang/Error",
    b"java/lang/Exception",
    b"java/lang/ExceptionInInitializerError",
    b"java/lang/IdentityException",
    b"java/lang/IllegalAccessError",
    b"java/lang/IllegalAccessException",
    b"java/lang/IllegalArgumentException",
    b"java/lang/IllegalCallerException",
    b"java/lang/IllegalMonitorStateException",
    b"java/lang/IllegalStateException",
    b"java/lang/IllegalThreadStateException",
    b"java/lang/IncompatibleClassChangeError",
    b"java/lang/IndexOutOfBoundsException",
    b"java/lang/InstantiationError",
    b"java/lang/InstantiationException",
    b"java/lang/InternalError",
    b"java/lang/InterruptedException",
    b"java/lang/LinkageError",
    b"java/lang/NegativeArraySizeException",
    b"java/lang/NoClassDefFoundError",
    b"java/lang/NoSuchFieldError",
    b"java/lang/NoSuchFieldException",
    b"java/lang/NoSuchMethodError",
    b"java/lang/NoSuchMethodException",
    b"java/lang/NullPointerException",
    b"java/lang/OutOfMemoryError",
    b"java/lang/RuntimeException",
    b"java/lang/SecurityException",
    b"java/lang/StackOverflowError",
    b"java/lang/StringIndexOutOfBoundsException",
    b"java/lang/UnsatisfiedLinkError",
    b"java/lang/UnsupportedClassVersionError",
    b"java/lang/UnsupportedOperationException",
    b"java/lang/VerifyError",
    b"java/lang/VirtualMachineError",
    b"java/lang/invoke/WrongMethodTypeException",
    b"java/lang/reflect/InvocationTargetException",
    b"java/security/PrivilegedActionException",
];

/// Whether HotSpot itself creates exceptions of this class.
pub fn is_thrown_by_vm(class: &[u8]) -> bool {
    THROWN_BY_VM.binary_search(&class).is_ok()
}

/// Whether the VM itself may call this method, so that the thread may carry a context other than
/// the one that caused the call (docs/internals/scheme.md).
pub fn is_called_by_vm(class: &[u8], method: &Member<'_>) -> bool {
    match method.name {
        b"<clinit>" => true,
        b"<init>" => is_thrown_by_vm(class),
        b"loadClass" => {
            method.descriptor == b"(Ljava/lang/String;)Ljava/lang/Class;"
                && !method.is(cct_classfile::access::STATIC)
        }
        name => CALLED_BY_VM.binary_search(&MemberName::new(class, name)).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_searched_are_sorted() {
        assert!(CALLED_BY_VM.is_sorted() && THROWN_BY_VM.is_sorted());
    }
}
