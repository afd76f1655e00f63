//! `view` in a pseudo-terminal: keys, the screen, exit codes, and the modes of the terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use super::profiles::{MAIN, RUN, STEP, profile, usual};
use super::support::{put, run, scratch};

const LINES: u16 = 24;
const COLUMNS: u16 = 100;
const PATIENCE: Duration = Duration::from_secs(60);

/// The command in a terminal of its own.
struct Session {
    child: Child,
    keys: File,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Everything that the command wrote.
    written: Vec<u8>,
    terminal: OwnedFd,
    modes: String,
}

/// The modes of the terminal.
fn modes(terminal: &OwnedFd) -> String {
    let modes = tcgetattr(terminal).unwrap();
    format!("{:?} {:?} {:?}", modes.input_modes, modes.output_modes, modes.local_modes)
}

/// A new terminal: where keys are written and the screen is read, and the end for a program.
fn open_terminal() -> (File, OwnedFd) {
    let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&keys).unwrap();
    unlockpt(&keys).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(ptsname(&keys, Vec::new()).unwrap(), flags, Mode::empty()).unwrap();
    let size = Winsize { ws_row: LINES, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    (File::from(keys), terminal)
}

/// Starts `view` in a folder and a terminal. `setsid` separates it from the terminal in which the
/// tests run.
fn start(folder: &Path, arguments: &[&str], colours: bool, terminal: &OwnedFd) -> Child {
    let stdio = || Stdio::from(terminal.try_clone().unwrap());
    let mut command = Command::new("setsid");
    // Under `nohup` the tests ignore SIGHUP, and so would the command.
    command.args(["env", "--default-signal=HUP", env!("CARGO_BIN_EXE_cctrewrite"), "view"]);
    command.args(arguments).current_dir(folder);
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("CLICOLOR");
    if !colours {
        command.env("NO_COLOR", "1");
    }
    command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap()
}

impl Session {
    fn start(folder: &Path, arguments: &[&str], colours: bool) -> Session {
        let (keys, terminal) = open_terminal();
        let modes = modes(&terminal);
        let child = start(folder, arguments, colours, &terminal);
        let (sender, output) = channel();
        let mut source = keys.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = source.read(&mut bytes) {
                if sender.send(bytes[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let size = |cells| NonZero::new(cells).unwrap();
        let screen = vt100::Parser::new(size(LINES), size(COLUMNS), 0);
        Session { child, keys, output, screen, written: Vec::new(), terminal, modes }
    }

    /// Waits until the screen has what is looked for.
    fn sees(&mut self, what: &str) {
        let start = Instant::now();
        while !self.screen.screen().contents().contains(what) {
            let left = PATIENCE.saturating_sub(start.elapsed());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                panic!("{what:?} is not on the screen:\n{}", self.screen.screen().contents());
            };
            self.hears(&bytes);
        }
    }

    fn hears(&mut self, bytes: &[u8]) {
        self.screen.process(bytes);
        self.written.extend(bytes);
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// The row with a name, without the spaces around it.
    fn row(&self, name: &str) -> String {
        let screen = self.screen.screen().contents();
        screen.lines().find(|line| line.contains(name)).unwrap_or_default().trim().to_owned()
    }

    /// Whether a cell of the screen has a colour.
    fn has_colours(&self) -> bool {
        let cells = (0..LINES).flat_map(|line| (0..COLUMNS).map(move |column| (line, column)));
        let mut cells = cells.filter_map(|(line, column)| self.screen.screen().cell(line, column));
        cells.any(|cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default)
    }

    /// Waits for the end.
    fn status(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end; the terminal must be as it was.
    fn ends(&mut self) -> ExitStatus {
        let status = self.status();
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.hears(&bytes);
        }
        assert_eq!(modes(&self.terminal), self.modes);
        assert!(!self.screen.screen().alternate_screen() && !self.screen.screen().hide_cursor());
        status
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "cctrewrite.cct", &usual());
    folder
}

#[test]
fn keys_lead_through_a_profile() {
    let folder = stored();
    let mut session = Session::start(folder.path(), &[], true);
    session.sees("? help  q quit");
    assert!(session.screen.screen().alternate_screen());
    assert_ne!(modes(&session.terminal), session.modes);
    session.sees("app.Main on Java 25.0.1: ");
    // Opens `main`, goes to `step`, opens it.
    session.press("\r\x1b[C\x1b[C");
    session.sees("java.lang.String.charAt(int)");
    assert!(session.has_colours());
    let page = include_str!("../../../../docs/use/view.md");
    let example = page.lines().skip_while(|line| !line.starts_with("    app.Main")).map(str::trim_end);
    let example: Vec<&str> = example.map_while(|line| line.strip_prefix("    ")).collect();
    let screen = session.screen.screen().contents();
    let screen: Vec<&str> = screen.lines().map(str::trim_end).collect();
    assert_eq!(screen[..example.len()], example, "docs/use/view.md");
    assert_eq!(session.row("charAt"), "1,234  1,234   11.23    250        java.lang.String.charAt(int)");
    session.press("/HashCode\r");
    session.sees("HashCode: match 1 of 2");
    session.press("n");
    session.sees("match 2 of 2");
    session.press("c");
    session.sees("Callers of java.lang.Object.hashCode()");
    session.press("?");
    session.sees("next sort order");
    session.press("xq");
    assert_eq!(session.ends().code(), Some(0));
}

#[test]
fn control_c_and_signals_restore_the_terminal() {
    let folder = stored();
    let mut session = Session::start(folder.path(), &["cctrewrite.cct"], true);
    session.sees("? help  q quit");
    session.press("\x03");
    assert_eq!(session.ends().code(), Some(0));
    let mut session = Session::start(folder.path(), &["cctrewrite.cct"], true);
    session.sees("? help  q quit");
    kill_process(Pid::from_child(&session.child), Signal::TERM).unwrap();
    assert_eq!(session.ends().signal(), Some(Signal::TERM.as_raw()));
}

/// It read the end of a closed terminal for ever.
#[test]
fn the_view_ends_with_its_terminal() {
    let folder = stored();
    let (mut screen, terminal) = open_terminal();
    let mut child = start(folder.path(), &[], true, &terminal);
    drop(terminal);
    let (mut shown, mut bytes) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&shown).contains("quit") {
        let length = screen.read(&mut bytes).unwrap();
        shown.extend(&bytes[..length]);
    }
    drop(screen);
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut session = Session::start(folder.path(), &[], true);
    session.sees("? help  q quit");
    kill_process(Pid::from_child(&session.child), Signal::HUP).unwrap();
    assert_eq!(session.status().signal(), Some(Signal::HUP.as_raw()));
}

#[test]
fn there_are_no_colours_with_no_color() {
    let folder = stored();
    let mut session = Session::start(folder.path(), &[], false);
    session.sees("? help  q quit");
    session.press("\r/lambda\r");
    session.sees("lambda: match 1 of 1");
    assert_eq!(session.row("step"), "10,234  9,000   93.17  1,000    ▸ app.Main.step(int)");
    assert!(!session.has_colours());
    session.press("q");
    session.ends();
}

#[test]
fn two_files_are_a_difference_and_damage_is_said() {
    let folder = stored();
    let new = profile(&[], &[("main", &[(1, MAIN, 1, 120), (2, STEP, 1000, 9500)])]);
    put(folder.path(), "new.cct", &new);
    put(folder.path(), "cut.cct", &profile(&[], &[("main", &RUN)])[..300]);
    let mut session = Session::start(folder.path(), &["cctrewrite.cct", "new.cct"], true);
    session.sees("Contexts: bytecodes, change from 10,984 to 9,620; by inclusive");
    session.press("/step\r");
    session.sees("match 1 of 2");
    session.press("q");
    assert_eq!(session.ends().code(), Some(0));
    let mut session = Session::start(folder.path(), &["cut.cct"], true);
    session.sees("INCOMPLETE: the profile is truncated after 300 bytes");
    session.press("q");
    assert_eq!(session.ends().code(), Some(3));
    session.sees("cctrewrite: cut.cct: the profile is truncated after 300 bytes");
    let mut session = Session::start(folder.path(), &["no.cct"], true);
    session.sees("cctrewrite: cannot open no.cct");
    assert_eq!(session.ends().code(), Some(2));
    assert!(!session.written.contains(&0x1b), "the screen was never taken");
}

#[test]
fn without_a_terminal_report_is_named() {
    let folder = stored();
    let run = run(folder.path(), &["view"]);
    let message = "cctrewrite: `view` needs a terminal as standard input and output; use `cctrewrite report` for files and pipes\n";
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(2), "", message));
}
