//! The command from its users' view: arguments, output, messages, exit codes, files.

#![allow(missing_docs, clippy::unwrap_used)]

mod allocations;
mod bench_history;
mod built;
mod class_files;
mod compare;
mod configuration;
mod context_ids;
mod costs;
mod csv;
mod diff;
mod doctor;
mod errors;
mod exit_codes;
mod explain;
mod export;
mod exports_page;
mod faults;
mod flags;
mod foreign;
mod help;
mod html;
mod instructions;
mod instrument;
mod integrations;
mod jdk;
mod library;
mod markers;
mod merge;
mod monitors;
mod natives;
mod profiles;
#[cfg(unix)]
mod recover;
mod report;
mod report_text;
mod security_page;
mod sites;
mod support;
mod tables;
mod traces;
mod typestate;
#[cfg(unix)]
mod udi;
mod verify;
#[cfg(target_os = "linux")]
mod view;
