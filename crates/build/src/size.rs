//! Sizes as users write them.

/// What is expected of a size. Messages put it after "not" or a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a number of bytes, such as 4096, 512K, 64M or 2G")]
pub struct ExpectedSize;

/// A number of bytes, or of KiB, MiB or GiB with K, M or G.
///
/// # Errors
/// Says what is expected instead.
pub fn parse(text: &str) -> Result<u64, ExpectedSize> {
    let (digits, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 10),
        Some(digits) if text.ends_with('M') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (text, 0),
    };
    let size = digits.parse().ok().and_then(|number: u64| number.checked_mul(1 << shift));
    size.ok_or(ExpectedSize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in
            [("0", Some(0)), ("7", Some(7)), ("2K", Some(2048)), ("3M", Some(3 << 20)), ("1G", Some(1 << 30))]
        {
            assert_eq!(parse(text).ok(), expected, "{text}");
        }
        for text in ["", "K", "-1", "1.5G", "1T", "99999999999G", "18446744073709551616"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
