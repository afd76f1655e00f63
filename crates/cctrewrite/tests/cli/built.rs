//! Builds from the same sources are equal (docs/ci/reproducible.md).

use std::fs;

/// The C code of the allocator contains its compilation time, which the workspace's
/// `.cargo/config.toml` sets.
#[test]
fn the_command_does_not_know_when_it_was_built() {
    let said = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let seconds: u64 = said.unwrap_or(315_532_800) % 86_400;
    let expected = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);

    let program = fs::read(env!("CARGO_BIN_EXE_cctrewrite")).unwrap();
    let times: Vec<&str> = program.split(|&byte| byte == 0).filter_map(time).collect();
    assert_eq!(
        times,
        [expected.as_str()],
        "built before there was that file? `cargo clean -p libmimalloc-sys`"
    );
}

/// A text in the form of `__TIME__`.
fn time(text: &[u8]) -> Option<&str> {
    let digit_or_colon =
        |(at, byte): (usize, &u8)| if at % 3 == 2 { *byte == b':' } else { byte.is_ascii_digit() };
    let is_time = text.len() == 8 && text.iter().enumerate().all(digit_or_colon);
    std::str::from_utf8(text).ok().filter(|_| is_time)
}
