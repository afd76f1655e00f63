//! Assembly of the file: the page's parts and the compressed data.

use super::Page;
use crate::ExportError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cct_profile::escape::xml;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};
use std::io::{BufWriter, Write};

const PAGE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/page.css");

/// The parts of the script, in the order of the page.
const SCRIPT: [&str; 9] = [
    include_str!("../../page/numbers.js"),
    include_str!("../../page/data.js"),
    include_str!("../../page/boxes.js"),
    include_str!("../../page/state.js"),
    include_str!("../../page/colours.js"),
    include_str!("../../page/graph.js"),
    include_str!("../../page/table.js"),
    include_str!("../../page/panels.js"),
    include_str!("../../page/main.js"),
];

impl Page {
    /// Writes the page.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        let script = SCRIPT.concat();
        let hashes = (policy_hash(&script), policy_hash(STYLE));
        for (at, text) in PAGE.split("@@").enumerate() {
            // Every other part is a placeholder's name.
            match text {
                _ if at % 2 == 0 => out.write_all(text.as_bytes())?,
                "title" => out.write_all(xml(&self.title()).as_bytes())?,
                "script-hash" => out.write_all(hashes.0.as_bytes())?,
                "style-hash" => out.write_all(hashes.1.as_bytes())?,
                "script" => out.write_all(script.as_bytes())?,
                "style" => out.write_all(STYLE.as_bytes())?,
                _ => data(self, &mut out)?,
            }
        }
        Ok(out.flush()?)
    }
}

impl Page {
    fn title(&self) -> String {
        let what = if self.head.sides == 2 { "difference of profiles" } else { "profile" };
        format!("{} - {what} - cctrewrite", self.head.program)
    }
}

/// The hash by which a page's `Content-Security-Policy` names a script or style (CSP 3, 2.3.1).
pub fn policy_hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// The data: an element for each column, which the browser takes for a script in an unknown
/// language.
fn data(page: &Page, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut write = |name: &str, bytes: &[u8]| -> Result<(), ExportError> {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(bytes)?;
        let text = STANDARD.encode(zlib.finish()?);
        Ok(writeln!(out, "<script type=\"application/octet-stream\" id=\"{name}\">{text}</script>")?)
    };
    write("head", &serde_json::to_vec(&page.head)?)?;
    write("methods-label", &page.methods.label)?;
    write("methods-contexts", &page.methods.contexts)?;
    for (at, (own, inclusive)) in page.methods.own.iter().zip(&page.methods.inclusive).enumerate() {
        write(&format!("methods-own-{at}"), own)?;
        write(&format!("methods-inclusive-{at}"), inclusive)?;
    }
    write("contexts-left", &page.contexts.left)?;
    write("contexts-label", &page.contexts.label)?;
    write("contexts-lost", &page.contexts.lost)?;
    write("contexts-lost-library", &page.contexts.lost_library)?;
    for (at, own) in page.contexts.lost_library_own.iter().enumerate() {
        write(&format!("contexts-lost-library-own-{at}"), own)?;
    }
    for (at, own) in page.contexts.own.iter().enumerate() {
        write(&format!("contexts-own-{at}"), own)?;
    }
    Ok(())
}
