//! Annotations of the class library that the JVM reads.

/// Annotations that make a method caller-sensitive (8; 9 and later).
pub const CALLER_SENSITIVE: &[&[u8]] =
    &[b"Lsun/reflect/CallerSensitive;", b"Ljdk/internal/reflect/CallerSensitive;"];

/// Annotations that HotSpot reads from methods of the class library. A body keeps them under either
/// signature.
pub const VM_ANNOTATIONS: &[&[u8]] = &[
    b"Lsun/reflect/CallerSensitive;",
    b"Ljdk/internal/reflect/CallerSensitive;",
    b"Ljava/lang/invoke/ForceInline;",
    b"Ljava/lang/invoke/DontInline;",
    b"Ljava/lang/invoke/LambdaForm$Hidden;",
    b"Ljdk/internal/vm/annotation/ForceInline;",
    b"Ljdk/internal/vm/annotation/DontInline;",
    b"Ljdk/internal/vm/annotation/Hidden;",
    b"Ljdk/internal/vm/annotation/ReservedStackAccess;",
    b"Ljdk/internal/vm/annotation/ChangesCurrentThread;",
    b"Ljdk/internal/vm/annotation/JvmtiMountTransition;",
    b"Ljdk/internal/vm/annotation/JvmtiHideEvents;",
    b"Ljdk/internal/misc/ScopedMemoryAccess$Scoped;",
];
