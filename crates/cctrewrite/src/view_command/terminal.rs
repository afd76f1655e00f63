//! The terminal: its modes, keys and signals.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::view_command::draw::draw;
use crate::view_command::state::{Key, State};

/// Time between two looks at signals.
const PAUSE: Duration = Duration::from_millis(200);

/// Signals that end the view. Not SIGHUP: when it arrives, the terminal is gone, and there is
/// nothing to restore.
#[cfg(unix)]
const ENDS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// Whether standard input and output are terminals.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The terminal in the modes of the view. Dropping it restores the terminal; so does a panic.
struct Modes;

impl Drop for Modes {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Shows the state until the user ends it. A signal that ends it has its usual effect, after the
/// terminal is restored.
pub fn show(state: &mut State, has_colours: bool) -> Result<()> {
    let signal = Arc::new(AtomicUsize::new(0));
    #[cfg(unix)]
    for end in ENDS {
        signal_hook::flag::register_usize(end, Arc::clone(&signal), end as usize)
            .context("cannot handle signals")?;
    }
    let ended = {
        let mut terminal = ratatui::try_init().context("cannot use the terminal")?;
        let _modes = Modes;
        run(state, has_colours, &mut terminal, &signal)
    };
    #[cfg(unix)]
    if let end @ 1.. = signal.load(Ordering::Relaxed) {
        signal_hook::low_level::emulate_default_handler(end as i32)?;
    }
    ended
}

fn run(
    state: &mut State,
    has_colours: bool,
    terminal: &mut ratatui::DefaultTerminal,
    signal: &AtomicUsize,
) -> Result<()> {
    while !state.has_ended() {
        terminal.draw(|frame| draw(state, has_colours, frame)).context("cannot write to the terminal")?;
        loop {
            if signal.load(Ordering::Relaxed) != 0 {
                return Ok(());
            }
            if !wait()? {
                return Ok(());
            }
            if event::poll(Duration::ZERO).context("cannot read keys")? {
                break;
            }
        }
        // Keys that are already there, before the next drawing.
        while event::poll(Duration::ZERO).context("cannot read keys")? && !state.has_ended() {
            if let Event::Key(event) = event::read().context("cannot read keys")?
                && let Some(key) = key(event)
            {
                state.press(key);
            }
        }
    }
    Ok(())
}

/// Waits for input, at most [`PAUSE`]. Returns whether the terminal is still there: crossterm would
/// read its end for ever.
#[cfg(unix)]
fn wait() -> Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    let pause = Timespec { tv_sec: 0, tv_nsec: PAUSE.subsec_nanos().into() };
    match poll(&mut ready, Some(&pause)) {
        // A signal; a change of the window's size is one.
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error).context("cannot read keys"),
    }
    let ends = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(!ready[0].revents().intersects(ends))
}

/// Waits for input, at most [`PAUSE`].
#[cfg(not(unix))]
fn wait() -> Result<bool> {
    event::poll(PAUSE).context("cannot read keys")?;
    Ok(true)
}

/// The key of an event.
fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char(_) if is_control || event.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) if c.is_control() => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}
