//! A browser with one page: what tests do with it, whatever its engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time limit of all waits: a machine may have other work to do.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The remote control of a running browser with one page.
pub trait Protocol {
    /// Resizes the page's part of the window.
    fn resize(&mut self, width: u32, height: u32);

    /// Sets the system's colour scheme, dark or light.
    fn prefer(&mut self, scheme: &str);

    /// Goes to an address.
    fn navigate(&mut self, url: &str);

    /// Runs statements in the page.
    fn run(&mut self, script: &str);

    /// The value of an expression of the page. If it is a promise, waits for its value.
    fn value(&mut self, expression: &str) -> Value;

    /// Presses a key, by its name in the DOM.
    fn press(&mut self, key: &str);

    /// Clicks at a place of the page's part of the window.
    fn click(&mut self, x: f64, y: f64);

    /// Presses the left button at a place, moves the pointer, and releases it there.
    fn drag(&mut self, from: (f64, f64), to: (f64, f64));

    /// Moves the pointer to a place.
    fn point(&mut self, x: f64, y: f64);

    /// Turns the wheel at a place, with Ctrl if `is_pinch`, as touchpads report it.
    fn wheel(&mut self, x: f64, y: f64, delta: (f64, f64), is_pinch: bool);

    /// A screenshot of the page's part of the window, as base64 of PNG.
    fn picture(&mut self) -> String;

    /// Errors, messages and requests for anything but files of the page since the start.
    fn complaints(&mut self) -> Vec<String>;
}

/// A running browser with one page.
pub struct Browser(Box<dyn Protocol>);

impl Browser {
    /// Shows a page of this size, with the light colour scheme.
    pub fn new(protocol: impl Protocol + 'static, width: u32, height: u32) -> Browser {
        let mut browser = Browser(Box::new(protocol));
        browser.resize(width, height);
        browser.prefer("light");
        browser
    }

    /// Resizes the page's part of the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.0.resize(width, height);
    }

    /// Sets the system's colour scheme, dark or light.
    pub fn prefer(&mut self, scheme: &str) {
        self.0.prefer(scheme);
    }

    /// Opens a page from `report --html`, and waits until it is drawn. Returns how long that took.
    pub fn open(&mut self, page: &Path, fragment: &str) -> Duration {
        // A page that differs only in its fragment would not be reloaded.
        self.0.navigate("about:blank");
        let begin = Instant::now();
        self.0.navigate(&format!("file://{}#{fragment}", page.display()));
        self.wait("globalThis.cctrewrite || document.querySelector('.failed')");
        assert_eq!(self.text("document.querySelector('.failed')?.textContent ?? ''"), "");
        self.settle();
        begin.elapsed()
    }

    /// Opens a page without scripts, and waits until it is drawn.
    pub fn open_static(&mut self, page: &Path) {
        self.0.navigate("about:blank");
        self.0.navigate(&format!("file://{}", page.display()));
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'");
        self.settle();
    }

    /// Runs statements in the page.
    pub fn run(&mut self, script: &str) {
        self.0.run(script);
    }

    /// The value of an expression of the page. If it is a promise, waits for its value.
    pub fn value(&mut self, expression: &str) -> Value {
        self.0.value(expression)
    }

    pub fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    pub fn number(&mut self, expression: &str) -> f64 {
        let value = self.value(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let begin = Instant::now();
        while !self.value(&format!("!!({expression})")).as_bool().unwrap_or(false) {
            assert!(begin.elapsed() < PATIENCE, "{expression} did not become true");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until changes are drawn.
    pub fn settle(&mut self) {
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))",
        );
    }

    /// Presses a key, by its name in the DOM.
    pub fn press(&mut self, key: &str) {
        self.0.press(key);
        self.settle();
    }

    /// Clicks at a place of the window.
    pub fn click(&mut self, x: f64, y: f64) {
        self.0.click(x, y);
        self.settle();
    }

    /// Presses the left button at a place, moves the pointer, and releases it there.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.0.drag(from, to);
        self.settle();
    }

    /// Moves the pointer to a place.
    pub fn point(&mut self, x: f64, y: f64) {
        self.0.point(x, y);
        self.settle();
    }

    /// Turns the wheel at a place, with Ctrl if `is_pinch`, as touchpads report it.
    pub fn wheel(&mut self, x: f64, y: f64, delta: (f64, f64), is_pinch: bool) {
        self.0.wheel(x, y, delta, is_pinch);
        self.settle();
    }

    /// A screenshot of the window, as base64 of PNG.
    pub fn picture(&mut self) -> String {
        self.0.picture()
    }

    /// Errors, messages and requests for anything but files of the page since the start.
    pub fn complaints(&mut self) -> Vec<String> {
        self.0.complaints()
    }
}

/// Writes a configuration of fontconfig with the fonts below the browser's folder only.
pub fn write_fonts(root: &Path, folder: &Path) -> PathBuf {
    let path = folder.join("fonts.conf");
    let (fonts, cache) = (root.join("usr/share/fonts"), folder.join("font-cache"));
    let text = format!(
        "<fontconfig><dir>{}</dir><cachedir>{}</cachedir></fontconfig>",
        fonts.display(),
        cache.display()
    );
    fs::write(&path, text).unwrap();
    path
}

/// The folders of the browser's libraries.
pub fn libraries(root: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for place in ["usr/lib", "lib"] {
        for entry in fs::read_dir(root.join(place)).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with("-linux-gnu") {
                folders.extend([entry.path(), entry.path().join("pulseaudio")]);
            }
        }
    }
    folders.sort();
    folders
}
