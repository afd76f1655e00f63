//! The JVM of a profiled JDK 8, from its launchers' view. It loads HotSpot, the JDK's own
//! `libjvm.so`, and starts it with the image's options before the given ones
//! (docs/reference/images.md, *How the options get in*).
//!
//! Launchers find JVMs by name in `jvm.cfg`; there this one is `-cctrewrite` and comes first. Its
//! folder of that name is next to HotSpot's folder `server`. So the library finds HotSpot from its
//! own path, and the image can be moved.
//!
//! On JDK 9 and later HotSpot reads options from `lib/modules`, and this library is not needed.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod options;

#[cfg(unix)]
mod forward;
