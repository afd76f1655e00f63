//! the command
fn main() {}
