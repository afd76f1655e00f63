//! Compression of the events of a trace by several codecs: size and speed.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use cct_events::FrameKind;
use cct_events::file::FrameReader;

use super::figures::spelled;

/// The compiled source.
pub const TEN_LINES: &str = "import java.util.*;\n\npublic class Ten {\n    public static void main(String[] arguments) {\n        List<String> list = new ArrayList<>();\n        \
    for (String a : arguments) {\n            list.add(a.trim());\n        }\n        Collections.sort(list);\n        System.out.println(list);\n    }\n}\n";

/// Maximum size of the measured events, in bytes. They are compressed chunk by chunk, as in the
/// tracer.
const MOST: usize = 400 << 20;

/// A codec's results for a trace.
#[derive(Clone, Copy)]
pub struct CodecResult {
    /// Size in bytes before and after.
    raw: u64,
    packed: u64,
    /// Seconds to pack and to unpack.
    pack: f64,
    unpack: f64,
}

type Pack = Box<dyn Fn(&[u8]) -> Result<Vec<u8>>>;
type Unpack = Box<dyn Fn(&[u8], usize) -> Result<Vec<u8>>>;

fn codecs() -> Vec<(&'static str, Pack, Unpack)> {
    let zstd = |name, level| -> (&'static str, Pack, Unpack) {
        (
            name,
            Box::new(move |bytes| Ok(zstd::bulk::compress(bytes, level)?)),
            Box::new(|bytes, length| Ok(zstd::bulk::decompress(bytes, length)?)),
        )
    };
    vec![
        (
            "LZ4 (lz4_flex)",
            Box::new(|bytes| Ok(lz4_flex::compress(bytes))),
            Box::new(|bytes, length| Ok(lz4_flex::decompress(bytes, length)?)),
        ),
        zstd("zstd -3", -3),
        zstd("zstd 1", 1),
        zstd("zstd 3", 3),
    ]
}

/// Packs the events of a trace with each codec.
///
/// # Errors
/// Fails if the trace cannot be read, or if unpacking does not restore it.
pub fn measure(trace: &Path) -> Result<Vec<CodecResult>> {
    let mut reader = FrameReader::new(BufReader::new(File::open(trace)?))?;
    let mut chunks = Vec::new();
    let mut size = 0;
    while let Some(frame) = reader.next_frame()? {
        if frame.head.kind == FrameKind::Events && size < MOST {
            let content = frame.content().context("a frame of the trace is damaged")?;
            size += content.len();
            chunks.push(content);
        }
    }
    let mut all = Vec::new();
    for (name, pack, unpack) in codecs() {
        let mut made = CodecResult { raw: size as u64, packed: 0, pack: 0.0, unpack: 0.0 };
        for chunk in &chunks {
            let started = Instant::now();
            let packed = pack(chunk)?;
            made.pack += started.elapsed().as_secs_f64();
            let started = Instant::now();
            let unpacked = unpack(&packed, chunk.len())?;
            made.unpack += started.elapsed().as_secs_f64();
            ensure!(unpacked == *chunk, "{name} has made something else of a chunk");
            made.packed += packed.len() as u64;
        }
        all.push(made);
    }
    Ok(all)
}

/// Markdown.
pub fn table(programs: &[(String, Vec<CodecResult>)]) -> String {
    let names: Vec<&str> = codecs().iter().map(|(name, ..)| *name).collect();
    let mut text = "What codecs make of the events: bytes for each word of 4, and GB/s of words packed and unpacked by one core.\n\n|".to_owned();
    for name in &names {
        text += &format!(" | {name}");
    }
    text += " |\n|---|";
    text += &"---|".repeat(names.len());
    text += "\n";
    for (program, all) in programs {
        text += &format!("| {program} |");
        for made in all {
            let speed = |seconds: f64| spelled(made.raw as f64 / 1e9 / seconds.max(1e-9));
            let each = 4.0 * made.packed as f64 / (made.raw.max(1)) as f64;
            text += &format!(" {} ({}, {}) |", spelled(each), speed(made.pack), speed(made.unpack));
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_codec_gives_back_what_it_got() {
        let words: Vec<u8> = (0..4096_u32).flat_map(|word| (word % 7).to_le_bytes()).collect();
        for (name, pack, unpack) in codecs() {
            let packed = pack(&words).unwrap();
            assert!(packed.len() < words.len() / 4, "{name}");
            assert_eq!(unpack(&packed, words.len()).unwrap(), words, "{name}");
        }
    }
}
