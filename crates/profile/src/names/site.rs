//! Call sites in the texts of frames: `@12` for machines, lines for people.

use crate::Site;

/// `@` and the bytecode index, without an allocation: frames are compared by their bytes.
pub(super) fn site_bytes(site: Site) -> impl Iterator<Item = u8> {
    const LONGEST: usize = "@65534".len();
    let mut bytes = [0; LONGEST];
    let mut at = LONGEST;
    let mut put = |byte| {
        at -= 1;
        bytes[at] = byte;
    };
    let mut rest = site.index().unsigned_abs();
    loop {
        put(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if site.index() < 0 {
        put(b'-');
    }
    put(b'@');
    bytes.into_iter().skip(at)
}

/// Splits a frame's text into the part before its call site, and the call site if it has one. The
/// site is `@` and the caller's bytecode index at the end, -1 for native code.
pub(crate) fn split_call_site(frame: &str) -> (&str, Option<Site>) {
    let site = |index: &str| match index {
        "-1" => Some(Site::NATIVE),
        // Only in its written form: no sign, no leading zeros.
        _ if index.starts_with('+') || index.len() > 1 && index.starts_with('0') => None,
        _ => index.parse().ok().filter(|&bci| bci <= Site::LAST).map(|bci| Site { bci, line: 0 }),
    };
    match frame.rsplit_once('@').and_then(|(head, index)| Some((head, site(index)?))) {
        Some((head, site)) if !head.is_empty() => (head, Some(site)),
        _ => (frame, None),
    }
}

/// The call site as people read it, after the name of a method: the caller's line (`:12`) or, if
/// unknown, its bytecode index (`@7`).
pub(super) fn readable_site(site: Site) -> String {
    site.known_line().map_or_else(|| format!("@{}", site.index()), |line| format!(":{line}"))
}

/// The full call site, where the line is not enough: `:12@7`.
pub(super) fn full_site(site: Site) -> String {
    let line = site.known_line().map_or(String::new(), |line| format!(":{line}"));
    format!("{line}@{}", site.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use crate::names::{Frame, NameStyle};
    use crate::testing::method;

    #[test]
    fn call_sites_stand_at_the_end_of_frames() {
        let text = |site| {
            let m = Method { site, ..method("a/B", "f", "(La/C;)V") };
            String::from_utf8(Frame::method(&m, NameStyle::Raw).bytes().collect()).expect("ASCII")
        };
        for (bci, written) in [(0, "@0"), (7, "@7"), (10, "@10"), (65534, "@65534"), (u16::MAX, "@-1")] {
            let site = Site { bci, line: 3 };
            assert_eq!(text(Some(site)), format!("a.B.f(La/C,)V{written}"));
            let read = split_call_site(&text(Some(site))).1.map(|site| (site.bci, site.line));
            assert_eq!(read, Some((bci, 0)));
        }
        assert_eq!(text(None), "a.B.f(La/C,)V");
        for none in ["a.B.f", "@3", "", "a@", "a@x", "a@+3", "a@03", "a@65535", "a@-2", "a@3b", "a@3@"] {
            assert_eq!(split_call_site(none), (none, None));
        }
        assert_eq!(split_call_site("a@3@4"), ("a@3", Some(Site { bci: 4, line: 0 })));
    }
}
