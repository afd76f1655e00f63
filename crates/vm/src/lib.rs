//! A JVM of its own, to the launchers of a profiled JDK 8: it loads HotSpot, the JDK's own
//! `libjvm.so`, and starts it with the image's options in front of those that it was given
//! (docs/reference/images.md, *How the options get in*).
//!
//! Launchers find JVMs by name in `jvm.cfg`; there this one is `-cctrewrite` and stands first. It
//! lies in a folder of that name beside the folder `server` of HotSpot, so both are found from
//! where this library itself lies, and the image can be moved.
//!
//! On JDK 9 and later HotSpot reads options from `lib/modules`, and nothing of this is needed.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod options;

#[cfg(unix)]
mod forward;
