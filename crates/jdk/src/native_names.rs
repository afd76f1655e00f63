//! Classes whose natives keep their names where others are renamed.

/// The reason why the natives of a class keep their names where others are renamed
/// (`--natives prefix`).
pub fn keeps_names_of_natives(class: &[u8]) -> Option<&'static str> {
    // HotSpot's intrinsics of JDK 8 (`vmIntrinsics`), which have no annotation there.
    const REPLACED: &[&[u8]] = &[
        b"java/lang/Double",
        b"java/lang/Float",
        b"java/lang/reflect/Array",
        b"java/util/zip/CRC32",
        b"jdk/jfr/internal/JVM",
        b"sun/reflect/Reflection",
    ];
    // Natives that the runtime calls on both paths, recording or not; they include intrinsics of
    // JDK 8.
    const CALLED: &[&[u8]] = &[
        b"java/lang/Class",
        b"java/lang/Runtime",
        b"java/lang/String",
        b"java/lang/System",
        b"java/lang/Throwable",
        b"java/lang/ref/PhantomReference",
        b"java/lang/ref/Reference",
        b"sun/misc/Unsafe",
    ];
    // Natives of `libjava` that are linked before the class library's `findNative` can be called
    // (`-Xlog:jni+resolve`, 8 to 27, up to the launcher), and through which `findNative` finds
    // others. HotSpot looks up a renamed native's code by the new name first, in that case too.
    const LINKED_EARLY: &[&[u8]] = &[
        b"java/io/Console",
        b"java/io/FileCleanable",
        b"java/io/FileDescriptor",
        b"java/io/FileInputStream",
        b"java/io/FileOutputStream",
        b"java/io/RandomAccessFile",
        b"java/io/UnixFileSystem",
        b"java/io/WinNTFileSystem",
        b"java/lang/ClassLoader",
        b"java/lang/ClassLoader$NativeLibrary",
        b"java/lang/Compiler",
        b"java/lang/Module",
        b"java/lang/NullPointerException",
        b"java/lang/ProcessEnvironment",
        b"java/lang/Shutdown",
        b"java/lang/StringCoding",
        b"java/lang/StringUTF16",
        b"java/lang/ref/Finalizer",
        b"java/security/AccessController",
        b"java/util/concurrent/atomic/AtomicLong",
        b"jdk/internal/loader/BootLoader",
        b"jdk/internal/loader/NativeLibraries",
        b"jdk/internal/loader/NativeLibrary",
        b"jdk/internal/loader/RawNativeLibraries",
        b"jdk/internal/misc/CDS",
        b"jdk/internal/misc/ScopedMemoryAccess",
        b"jdk/internal/misc/Signal",
        b"jdk/internal/misc/VM",
        b"jdk/internal/perf/Perf",
        b"jdk/internal/reflect/Reflection",
        b"jdk/internal/util/SystemProps$Raw",
        b"jdk/internal/vm/ContinuationSupport",
        b"sun/misc/Perf",
        b"sun/misc/Signal",
        b"sun/misc/VM",
    ];
    if LINKED_EARLY.contains(&class) {
        return Some("not renamed: the JVM links natives of this class before it can look for renamed ones");
    }
    if REPLACED.contains(&class) {
        return Some(
            "not renamed: HotSpot has code of its own for natives of this class, which it finds by their names",
        );
    }
    CALLED.contains(&class).then_some("not renamed: the runtime calls natives of this class while it records")
}
