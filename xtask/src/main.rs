//! developer tasks
fn main() {}
