//! Removal of the tables of collected loaders.

use crate::jni::Env;
use crate::state::state;

/// Drops the tables of collected loaders, now and then. Queries the JVM without the lock, since it
/// may suspend the thread.
pub fn sweep(env: Env) {
    let Some(mut weaks) = state().loaders.sweep() else { return };
    weaks.retain(|(_, weak)| env.is_collected(weak.0));
    state().loaders.swept(&weaks);
    for (_, weak) in weaks {
        env.delete_weak(weak.0);
    }
}
