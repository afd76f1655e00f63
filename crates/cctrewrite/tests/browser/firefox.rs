//! A headless Firefox, controlled by Marionette: JSON messages with their lengths, one after the
//! other, over a connection of this machine.
//!
//! <https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html>

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::browser::{PATIENCE, Protocol, libraries, write_fonts};

/// Settings of the profile: Firefox chooses the port, and asks for nothing by itself.
const SETTINGS: &str = r#"user_pref("marionette.port", 0);
user_pref("app.normandy.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.systemAddon.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.enabled", false);
"#;

/// Keeps the addresses that the page asks for, in the browser's window.
const WATCH_REQUESTS: &str = "window.requestsOfPages = [];
    Services.obs.addObserver((subject) => {
        const channel = subject.QueryInterface(Ci.nsIHttpChannel);
        if (channel.loadInfo.browsingContext) window.requestsOfPages.push('asked for ' + channel.URI.spec);
    }, 'http-on-modify-request');";

/// The errors and warnings about files, and what the page asked for. Firefox reports positions that
/// follow scrolling as a hint about speed: tables draw only the rows in view.
const COMPLAINTS: &str = "return Services.console.getMessageArray().flatMap((message) => {
        const isOfPage = message instanceof Ci.nsIScriptError && message.sourceName.startsWith('file:');
        const isHint = isOfPage && message.errorMessage.includes('scroll-linked positioning effect');
        return isOfPage && !isHint ? [message.errorMessage] : [];
    }).concat(window.requestsOfPages);";

/// Sets the size of the page's part of the window, which can be smaller than windows can.
const RESIZE: &str = "const { style } = gBrowser.selectedBrowser;
    for (const limit of ['min', 'max']) {
        style.setProperty(limit + '-width', arguments[0] + 'px');
        style.setProperty(limit + '-height', arguments[1] + 'px');
    }";

/// The code of a key in WebDriver, by its name in the DOM (<https://www.w3.org/TR/webdriver2/>,
/// *Keyboard actions*). Other keys are characters.
const KEYS: [(&str, &str); 8] = [
    ("Backspace", "\u{e003}"),
    ("Enter", "\u{e007}"),
    ("Control", "\u{e009}"),
    ("Escape", "\u{e00c}"),
    ("ArrowLeft", "\u{e012}"),
    ("ArrowUp", "\u{e013}"),
    ("ArrowRight", "\u{e014}"),
    ("ArrowDown", "\u{e015}"),
];

pub fn program(root: &Path) -> PathBuf {
    root.join("usr/lib/firefox-esr/firefox-esr")
}

/// A running Firefox with one page.
pub struct Marionette {
    child: Child,
    connection: BufReader<TcpStream>,
    next: u64,
    _folder: TempDir,
}

impl Marionette {
    /// Starts Firefox.
    pub fn start(root: &Path) -> Marionette {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        fs::create_dir(&profile).unwrap();
        fs::write(profile.join("user.js"), SETTINGS).unwrap();
        let mut command = Command::new(program(root));
        command.args(["--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]);
        command.arg("--profile").arg(&profile).env("HOME", folder.path());
        command.args(["--width", "1600", "--height", "1200"]);
        command.env("LD_LIBRARY_PATH", std::env::join_paths(libraries(root)).unwrap());
        command.env("FONTCONFIG_FILE", write_fonts(root, folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let port = port(&mut child, &profile.join("MarionetteActivePort"));
        let connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut browser =
            Marionette { child, connection: BufReader::new(connection), next: 0, _folder: folder };
        browser.receive();
        browser.ask("WebDriver:NewSession", json!({}));
        browser.in_window(WATCH_REQUESTS, json!([]));
        browser
    }

    /// Runs a script in the browser's own window.
    fn in_window(&mut self, script: &str, arguments: Value) -> Value {
        self.ask("Marionette:SetContext", json!({ "value": "chrome" }));
        let asked = json!({ "script": script, "args": arguments, "sandbox": null });
        let answer = self.ask("WebDriver:ExecuteScript", asked);
        self.ask("Marionette:SetContext", json!({ "value": "content" }));
        answer["value"].clone()
    }

    /// Performs actions of input devices. Afterwards none is pressed, and a click is no second one.
    fn act(&mut self, actions: Value) {
        self.ask("WebDriver:PerformActions", json!({ "actions": actions }));
        self.ask("WebDriver:ReleaseActions", json!({}));
    }

    fn point_and(&mut self, actions: Vec<Value>) {
        let mouse = json!({ "pointerType": "mouse" });
        self.act(json!([{ "type": "pointer", "id": "mouse", "parameters": mouse, "actions": actions }]));
    }

    /// Sends a command and waits for its answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let message = json!([0, self.next, method, params]).to_string();
        write!(self.connection.get_mut(), "{}:{message}", message.len()).unwrap();
        let answer = self.receive();
        assert_eq!(answer[1], json!(self.next), "{method}: {answer}");
        assert!(answer[2].is_null(), "{method} {params}: {answer}");
        answer[3].clone()
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut byte = [0];
            self.connection.read_exact(&mut byte).expect("Firefox does not answer");
            match byte[0] {
                b':' => break,
                digit => length = 10 * length + usize::from(digit - b'0'),
            }
        }
        let mut bytes = vec![0; length];
        self.connection.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

/// Waits for the file with the port of Marionette.
fn port(child: &mut Child, file: &Path) -> u16 {
    let begin = Instant::now();
    loop {
        if let Some(port) = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
            return port;
        }
        assert!(child.try_wait().unwrap().is_none(), "Firefox ended at its start");
        assert!(begin.elapsed() < PATIENCE, "Firefox does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn move_to((x, y): (f64, f64)) -> Value {
    json!({ "type": "pointerMove", "x": x, "y": y, "origin": "viewport", "duration": 0 })
}

fn button(kind: &str) -> Value {
    json!({ "type": kind, "button": 0 })
}

/// The code of a key in WebDriver.
fn code(key: &str) -> &str {
    KEYS.iter().find(|(name, _)| *name == key).map_or(key, |(_, code)| code)
}

impl Protocol for Marionette {
    fn resize(&mut self, width: u32, height: u32) {
        self.in_window(RESIZE, json!([width, height]));
    }

    fn prefer(&mut self, scheme: &str) {
        let script = "gBrowser.selectedBrowser.browsingContext.prefersColorSchemeOverride = arguments[0];";
        self.in_window(script, json!([scheme]));
    }

    fn navigate(&mut self, url: &str) {
        self.ask("WebDriver:Navigate", json!({ "url": url }));
    }

    fn run(&mut self, script: &str) {
        self.ask("WebDriver:ExecuteScript", json!({ "script": script, "args": [], "sandbox": null }));
    }

    fn value(&mut self, expression: &str) -> Value {
        let script = format!(
            "const finish = arguments[arguments.length - 1];
            (async () => ({expression}))().then((value) => finish({{ value }}), (error) => finish({{ error: String(error) }}));"
        );
        let asked = json!({ "script": script, "args": [], "sandbox": null });
        let answer = self.ask("WebDriver:ExecuteAsyncScript", asked);
        assert!(answer["value"].get("error").is_none(), "{expression}: {answer}");
        answer["value"]["value"].clone()
    }

    fn press(&mut self, key: &str) {
        let code = code(key);
        let actions = json!([{ "type": "keyDown", "value": code }, { "type": "keyUp", "value": code }]);
        self.act(json!([{ "type": "key", "id": "keys", "actions": actions }]));
    }

    fn click(&mut self, x: f64, y: f64) {
        self.point_and(vec![move_to((x, y)), button("pointerDown"), button("pointerUp")]);
    }

    fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let down = [move_to(from), button("pointerDown"), move_to(middle)];
        self.point_and(down.into_iter().chain([move_to(to), button("pointerUp")]).collect());
    }

    fn point(&mut self, x: f64, y: f64) {
        // Releasing would move nothing, but ends what the pointer is over.
        let mouse = json!({ "pointerType": "mouse" });
        let actions =
            json!([{ "type": "pointer", "id": "mouse", "parameters": mouse, "actions": [move_to((x, y))] }]);
        self.ask("WebDriver:PerformActions", json!({ "actions": actions }));
    }

    fn wheel(&mut self, x: f64, y: f64, delta: (f64, f64), is_pinch: bool) {
        let (x, y) = (x.round() as i64, y.round() as i64);
        let scroll = json!({ "type": "scroll", "x": x, "y": y, "deltaX": delta.0 as i64, "deltaY": delta.1 as i64, "origin": "viewport", "duration": 0 });
        let pause = json!({ "type": "pause" });
        let control = code("Control");
        let keys = if is_pinch {
            json!([{ "type": "keyDown", "value": control }, pause, { "type": "keyUp", "value": control }])
        } else {
            json!([])
        };
        self.act(json!([
            { "type": "key", "id": "keys", "actions": keys },
            { "type": "wheel", "id": "wheel", "actions": [pause, scroll, pause] },
        ]));
    }

    fn picture(&mut self) -> String {
        let answer = self.ask("WebDriver:TakeScreenshot", json!({ "full": false }));
        answer["value"].as_str().unwrap().to_owned()
    }

    fn complaints(&mut self) -> Vec<String> {
        let complaints = self.in_window(COMPLAINTS, json!([]));
        let complaints = complaints.as_array().unwrap().iter();
        complaints.map(|complaint| complaint.as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Marionette {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
