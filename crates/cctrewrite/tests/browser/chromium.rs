//! A headless Chromium, controlled by the DevTools protocol: JSON messages, one after the other,
//! over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::browser::{PATIENCE, Protocol, libraries, write_fonts};

pub fn program(root: &Path) -> PathBuf {
    root.join("usr/lib/chromium/chromium-headless-shell")
}

/// A running Chromium with one page.
pub struct DevTools {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// Complaints and requests of the page since the start.
    complaints: Vec<String>,
    _folder: TempDir,
}

impl DevTools {
    /// Starts Chromium.
    pub fn start(root: &Path) -> DevTools {
        let folder = tempfile::tempdir().unwrap();
        // The protocol's pipe is file descriptors 3 and 4 of the browser, which a shell can open.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]).arg(program(root));
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--remote-debugging-pipe", "--disable-dev-shm-usage"]);
        command.arg(format!("--user-data-dir={}", folder.path().join("user").display()));
        command.env("LD_LIBRARY_PATH", std::env::join_paths(libraries(root)).unwrap());
        command.env("FONTCONFIG_FILE", write_fonts(root, folder.path()));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = messages(child.stdout.take().unwrap());
        let mut browser =
            DevTools { child, to, from, next: 0, session: None, complaints: Vec::new(), _folder: folder };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let target = &target["targetId"];
        let attached = browser.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Runtime", "Log", "Page", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
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

impl Protocol for DevTools {
    fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    fn prefer(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.ask("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    fn navigate(&mut self, url: &str) {
        self.ask("Page.navigate", json!({ "url": url }));
    }

    fn run(&mut self, script: &str) {
        self.value(&format!("{script}; 0"));
    }

    fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.ask("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    fn press(&mut self, key: &str) {
        let text = (key.chars().count() == 1).then_some(key);
        let mut event = json!({ "type": "keyDown", "key": key });
        if let Some(text) = text {
            event["text"] = json!(text);
        }
        self.ask("Input.dispatchKeyEvent", event);
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    fn click(&mut self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        for (kind, (x, y)) in
            [("mousePressed", from), ("mouseMoved", middle), ("mouseMoved", to), ("mouseReleased", to)]
        {
            let (button, pressed) = ("left", u8::from(kind != "mouseReleased"));
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": pressed, "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event);
        }
    }

    fn point(&mut self, x: f64, y: f64) {
        self.ask("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    fn wheel(&mut self, x: f64, y: f64, delta: (f64, f64), is_pinch: bool) {
        let (delta_x, delta_y) = delta;
        let modifiers = if is_pinch { 2 } else { 0 };
        let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": delta_x, "deltaY": delta_y, "modifiers": modifiers });
        self.ask("Input.dispatchMouseEvent", event);
    }

    fn picture(&mut self) -> String {
        let answer = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        answer["data"].as_str().unwrap().to_owned()
    }

    fn complaints(&mut self) -> Vec<String> {
        self.complaints.clone()
    }
}

impl Drop for DevTools {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
