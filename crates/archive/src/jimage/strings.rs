//! The strings of an image.

/// The strings of an image: each ends with a zero byte, and is identified by the offset of its
/// start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strings<'i>(pub(crate) &'i [u8]);

impl<'i> Strings<'i> {
    pub(crate) fn get(self, offset: u32) -> Option<&'i [u8]> {
        let rest = self.0.get(usize::try_from(offset).ok()?..)?;
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }
}
