//! Classes whose methods run while the current thread changes.

/// Whether methods of this class run while the current thread changes from a virtual one to its
/// carrier or back. The thread that such a method has read on entry may not be the current one when
/// it calls or returns, so a store there would set another thread's context. These methods use
/// arguments even where threads carry contexts elsewhere. They are virtual threads and
/// continuations, and what they call during the change: `Thread`, its access through `System`, and
/// `Unsafe`.
pub fn changes_the_current_thread(class: &[u8]) -> bool {
    let outer = class.split(|&b| b == b'$').next().unwrap_or(class);
    match outer {
        b"java/lang/System" => outer != class,
        _ => matches!(
            outer,
            b"java/lang/Thread"
                | b"java/lang/VirtualThread"
                | b"jdk/internal/access/JavaLangAccess"
                | b"jdk/internal/misc/Unsafe"
                | b"jdk/internal/vm/Continuation"
        ),
    }
}
