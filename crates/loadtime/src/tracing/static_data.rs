//! Static data of the class library: a trace contains that of the classes whose methods occur in
//! it.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use cct_events::file::{Place, Places};
use cct_events::{Class, Frame, FrameKind};
use cct_rewrite::tracing::Numbers;

/// The file of static data, and which parts of it the trace already has.
#[derive(Debug)]
pub struct StaticData {
    file: BufReader<File>,
    places: Vec<Place>,
    /// One bit for each method whose class is in the trace.
    seen: Vec<u64>,
    methods: u32,
}

impl StaticData {
    /// Opens the file. Returns also the origin of its classes and their number.
    pub fn open(path: &Path) -> Result<(StaticData, String, Numbers), String> {
        let because = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let mut file = BufReader::with_capacity(1 << 12, File::open(path).map_err(|e| because(&e))?);
        let Places { provenance, list, cut } = Places::of(&mut file).map_err(|e| because(&e))?;
        if cut.is_some() {
            return Err(because(&"is damaged; make the image again"));
        }
        let number = |key: &str| {
            let value = provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            value
                .and_then(|value| value.parse().ok())
                .ok_or_else(|| because(&format!("does not say how many {key} there are")))
        };
        let numbers = Numbers { class: number("classes")?, first_method: number("methods")? };
        let methods = numbers.first_method;
        let seen = vec![0; methods as usize / 64 + 1];
        Ok((StaticData { file, places: list, seen, methods }, provenance, numbers))
    }

    /// The frame of those classes of these methods that the trace does not have yet; `None` if it
    /// has all, or none could be read.
    pub fn classes(&mut self, methods: &[u32]) -> Option<Frame> {
        let mut content = Vec::new();
        for &method in methods {
            if method < self.methods && self.seen[method as usize / 64] >> (method % 64) & 1 == 0 {
                self.add(method, &mut content);
            }
        }
        (!content.is_empty()).then(|| Frame::new(FrameKind::Structure, 0, 0, &content))
    }

    /// Adds the class of a method.
    fn add(&mut self, method: u32, to: &mut Vec<u8>) {
        self.mark(method);
        let place = self.places.partition_point(|place| place.head.sequence <= method);
        let Some(place) = place.checked_sub(1).map(|place| self.places[place]) else { return };
        let Ok(Some(content)) = place.content(&mut self.file) else { return };
        let mut rest = &content[..];
        while !rest.is_empty() {
            let before = rest;
            let Some(head) = Class::split(&mut rest).and_then(Class::head) else { return };
            let methods = head.first_method..head.first_method.saturating_add(head.methods).min(self.methods);
            if methods.contains(&method) {
                methods.for_each(|method| self.mark(method));
                to.extend_from_slice(&before[..before.len() - rest.len()]);
                return;
            }
        }
    }

    fn mark(&mut self, method: u32) {
        self.seen[method as usize / 64] |= 1 << (method % 64);
    }
}
