//! The strings of an image.

/// The strings of an image, by the offsets of their starts. A zero byte ends each string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strings<'i>(pub(crate) &'i [u8]);

impl<'i> Strings<'i> {
    pub(crate) fn get(self, offset: u32) -> Option<&'i [u8]> {
        let rest = self.0.get(usize::try_from(offset).ok()?..)?;
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }
}
