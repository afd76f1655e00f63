//! Forgets the loaders that are gone.

use crate::jni::Env;
use crate::state::state;

/// Drops the tables of loaders that have been collected, now and then. The JVM, which may have the
/// thread wait, is asked without the lock.
pub fn sweep(env: Env) {
    let Some(mut weaks) = state().loaders.sweep() else { return };
    weaks.retain(|(_, weak)| env.is_collected(weak.0));
    state().loaders.swept(&weaks);
    for (_, weak) in weaks {
        env.delete_weak(weak.0);
    }
}
