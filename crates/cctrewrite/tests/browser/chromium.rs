//! A headless Chromium from `cargo xtask readers`, controlled by the DevTools protocol: JSON
//! messages, one after the other, over a pipe.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit of all waits: a machine may have other work to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// The folder of the browser; if it is missing, prints that the test is skipped.
pub fn found() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("CCTREWRITE_READERS") else {
        println!("skipped: the browser is not known (cargo xtask test, or CCTREWRITE_READERS)");
        return None;
    };
    let root = Path::new(&folder).join("chromium");
    if !program(&root).exists() {
        println!("skipped: chromium is missing (cargo xtask readers says why)");
        return None;
    }
    Some(root)
}

fn program(root: &Path) -> PathBuf {
    root.join("usr/lib/chromium/chromium-headless-shell")
}

/// A running browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// Complaints and requests of the page since the start.
    pub complaints: Vec<String>,
    _folder: TempDir,
}

impl Browser {
    /// Starts a browser, with a window of this size.
    pub fn start(root: &Path, width: u32, height: u32) -> Browser {
        let folder = tempfile::tempdir().unwrap();
        let fonts = folder.path().join("fonts.conf");
        let letters = root.join("usr/share/fonts");
        let (letters, cache) = (letters.display(), folder.path().join("font-cache"));
        let text =
            format!("<fontconfig><dir>{letters}</dir><cachedir>{}</cachedir></fontconfig>", cache.display());
        fs::write(&fonts, text).unwrap();
        // The protocol's pipe is file descriptors 3 and 4 of the browser, which a shell can open.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]).arg(program(root));
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--remote-debugging-pipe", "--disable-dev-shm-usage"]);
        command.arg(format!("--user-data-dir={}", folder.path().join("user").display()));
        command.env("LD_LIBRARY_PATH", std::env::join_paths(libraries(root)).unwrap());
        command.env("FONTCONFIG_FILE", fonts);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = messages(child.stdout.take().unwrap());
        let mut browser =
            Browser { child, to, from, next: 0, session: None, complaints: Vec::new(), _folder: folder };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let target = &target["targetId"];
        let attached = browser.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Runtime", "Log", "Page", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height);
        browser.prefer("light");
        browser
    }

    /// Resizes the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the system's colour scheme, dark or light.
    pub fn prefer(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.ask("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    /// Opens a page from `report --html`, and waits until it is drawn. Returns how long that took.
    pub fn open(&mut self, page: &Path, fragment: &str) -> Duration {
        // A page that differs only in its fragment would not be reloaded.
        self.ask("Page.navigate", json!({ "url": "about:blank" }));
        let begin = Instant::now();
        self.ask("Page.navigate", json!({ "url": format!("file://{}#{fragment}", page.display()) }));
        self.wait("globalThis.cctrewrite || document.querySelector('.failed')");
        assert_eq!(self.text("document.querySelector('.failed')?.textContent ?? ''"), "");
        self.settle();
        begin.elapsed()
    }

    /// Opens a page without scripts, and waits until it is drawn.
    pub fn open_static(&mut self, page: &Path) {
        self.ask("Page.navigate", json!({ "url": "about:blank" }));
        self.ask("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'");
        self.settle();
    }

    /// The value of an expression of the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.ask("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
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

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let text = (key.chars().count() == 1).then_some(key);
        let mut event = json!({ "type": "keyDown", "key": key });
        if let Some(text) = text {
            event["text"] = json!(text);
        }
        self.ask("Input.dispatchKeyEvent", event);
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        self.settle();
    }

    /// Clicks at a place of the window.
    pub fn click(&mut self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        }
        self.settle();
    }

    /// Presses the left button at a place, moves the pointer, and releases it there.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        for (kind, (x, y)) in
            [("mousePressed", from), ("mouseMoved", middle), ("mouseMoved", to), ("mouseReleased", to)]
        {
            let (button, pressed) = ("left", u8::from(kind != "mouseReleased"));
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": pressed, "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        }
        self.settle();
    }

    /// Moves the pointer to a place.
    pub fn point(&mut self, x: f64, y: f64) {
        self.ask("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
        self.settle();
    }

    /// Turns the wheel at a place, with Ctrl if `is_pinch`, as touchpads say it.
    pub fn wheel(&mut self, x: f64, y: f64, delta: (f64, f64), is_pinch: bool) {
        let (delta_x, delta_y) = delta;
        let modifiers = if is_pinch { 2 } else { 0 };
        let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": delta_x, "deltaY": delta_y, "modifiers": modifiers });
        self.ask("Input.dispatchMouseEvent", event);
        self.settle();
    }

    /// A screenshot of the window, as base64 of PNG.
    pub fn picture(&mut self) -> String {
        let answer = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        answer["data"].as_str().unwrap().to_owned()
    }

    /// Sends a command and waits for its answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let answer = self.from.recv_timeout(PATIENCE);
            let answer =
                answer.unwrap_or_else(|error| panic!("{method}: the browser does not answer: {error}"));
            if answer["id"] == json!(self.next) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    /// Records complaints of the page, and requests for anything but itself.
    fn note(&mut self, event: &Value) {
        let is_ours = |url: &str| url.starts_with("file://") || url == "about:blank";
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.complaints.push(event.to_string());
            }
            Some("Page.javascriptDialogOpening") => self.complaints.push(event.to_string()),
            Some("Network.requestWillBeSent") => {
                let url = event["params"]["request"]["url"].as_str().unwrap_or("");
                if !is_ours(url) {
                    self.complaints.push(format!("asked for {url}"));
                }
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folders of the browser's libraries.
fn libraries(root: &Path) -> Vec<PathBuf> {
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

/// Reads the browser's messages in a thread, so that waiting for an answer has a time limit.
fn messages(from: ChildStdout) -> Receiver<Value> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::with_capacity(1 << 16, from);
        loop {
            let mut bytes = Vec::new();
            if !matches!(from.read_until(0, &mut bytes), Ok(1..)) || bytes.pop() != Some(0) {
                return;
            }
            let Ok(message) = serde_json::from_slice(&bytes) else { return };
            if send.send(message).is_err() {
                return;
            }
        }
    });
    receive
}
