//! Enter and leave: the modes of the terminal and the order of changing them.
//!
//! | step | on entering | on leaving (the reverse) |
//! |---|---|---|
//! | 1 | raw mode, so that nothing typed is echoed | last: cooked mode, when no more reports can come |
//! | 2 | title saved | title restored |
//! | 3 | alternate screen, cleared | shown cursor, main screen |
//! | 4 | hidden cursor, paste and focus reports | reports off |
//! | 5 | mouse reports | off |
//! | 6 | keyboard protocol: each screen has its own stack of it | popped while still on that screen |
//!
//! Invariant: [`restore`] can be called from anywhere, any number of times; it acts once for each entering,
//! writes straight to the terminal and takes no lock that a panicking thread could hold.
//!
//! The keyboard protocol is asked for without a query: terminals that do not know `CSI > u` skip it, and
//! waiting for an answer would delay the first frame. Those that print it instead are excluded by
//! [`super::facts`].

use std::cell::Cell;
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::termios;

use super::out;

/// Whether the terminal reports clicks and the wheel, or keeps them for selecting text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseCapture {
    Captured,
    Free,
}

/// Whether the kitty keyboard protocol is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyboardProtocol {
    Enhanced,
    Plain,
}

/// What to switch on beside the modes that are always on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub mouse: MouseCapture,
    pub keyboard: KeyboardProtocol,
}

const ENTERED: u8 = 1;
const MOUSE: u8 = 1 << 1;
const KEYBOARD: u8 = 1 << 2;

/// The modes that are on now; 0 while the terminal is not ours.
static MODES: AtomicU8 = AtomicU8::new(0);

thread_local! {
    /// Whether this thread entered the terminal: its panic ends the workspace, another's does not.
    static IS_SCREEN_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Holds the terminal; dropping it gives the terminal back.
#[derive(Debug)]
pub struct TerminalGuard {
    options: Options,
}

impl TerminalGuard {
    /// Takes the terminal. The calling thread becomes the one whose panic restores it.
    ///
    /// Fails if standard input or output is no terminal; everything is then as before.
    pub fn enter(options: Options) -> io::Result<Self> {
        IS_SCREEN_THREAD.set(true);
        let guard = Self { options };
        guard.reenter()?;
        Ok(guard)
    }

    /// Gives the terminal back for a while (an editor, Ctrl+Z).
    pub fn leave(&self) {
        restore();
    }

    /// Takes the terminal again; also when it was never left, because another program may have
    /// changed its modes while this one was stopped.
    pub fn reenter(&self) -> io::Result<()> {
        // A program in the background that sets modes is stopped by the system for it.
        if !is_in_foreground() {
            return Ok(());
        }
        restore();
        crossterm::terminal::enable_raw_mode()?;
        let modes = modes_of(self.options);
        MODES.store(modes, Ordering::SeqCst);
        let entered = out::write_terminal(&entering(modes));
        if entered.is_err() {
            restore();
        }
        entered
    }

    pub fn mouse(&self) -> MouseCapture {
        self.options.mouse
    }

    /// Switches mouse reports on or off (F2).
    pub fn set_mouse(&mut self, mouse: MouseCapture) -> io::Result<()> {
        self.options.mouse = mouse;
        if !is_entered() {
            return Ok(());
        }
        MODES.store(modes_of(self.options), Ordering::SeqCst);
        out::write_terminal(match mouse {
            MouseCapture::Captured => MOUSE_ON,
            MouseCapture::Free => MOUSE_OFF,
        })
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
        IS_SCREEN_THREAD.set(false);
    }
}

/// Whether the terminal is ours to write to.
pub fn is_entered() -> bool {
    MODES.load(Ordering::SeqCst) & ENTERED != 0
}

/// Whether this process may set the terminal's modes without being stopped for it.
pub fn is_in_foreground() -> bool {
    // Where the question fails (no controlling terminal), nobody stops us either.
    termios::tcgetpgrp(io::stdin()).map_or(true, |group| group == rustix::process::getpgrp())
}

/// Gives the terminal back; does nothing if it is not taken.
pub fn restore() {
    let modes = MODES.swap(0, Ordering::SeqCst);
    if modes & ENTERED == 0 {
        return;
    }
    // The terminal may be gone; there is nobody left to tell.
    let _ = out::write_terminal(&leaving(modes));
    if modes & MOUSE != 0 {
        // Reports of the mouse that are already under way would be printed by the shell.
        let _ = termios::tcflush(io::stdin(), termios::QueueSelector::IFlush);
    }
    let _ = crossterm::terminal::disable_raw_mode();
}

/// Makes a panic of the screen's thread restore the terminal before it says anything.
///
/// It then prints one line to standard error with the place of the log. A panic of any other thread while
/// the terminal is taken goes to the log alone: its task reports it, and the workspace goes on.
pub fn install_panic_hook(log: PathBuf) {
    panic::set_hook(Box::new(move |info| {
        let line = panic_line(info);
        tracing::error!("{line}");
        if is_entered() && !IS_SCREEN_THREAD.get() {
            return;
        }
        restore();
        // Without CRYSTAL_LOG there is none.
        let place = if log.is_file() {
            format!("; the log is in {}", log.display())
        } else {
            String::new()
        };
        let _ = writeln!(io::stderr(), "crystal: {line}{place}");
    }));
}

fn panic_line(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("unknown cause");
    let what: String = what.chars().filter(|c| !c.is_control()).take(PANIC_CHARS_MAX).collect();
    match info.location() {
        Some(place) => format!("internal error at {}:{}: {what}", place.file(), place.line()),
        None => format!("internal error: {what}"),
    }
}

/// Characters of a panic's text on the screen: about two lines; the log has all of it.
const PANIC_CHARS_MAX: usize = 160;

const TITLE_SAVE: &[u8] = b"\x1b[22;0;0t";
const TITLE_RESTORE: &[u8] = b"\x1b[23;0;0t";
// The explicit clear is for consoles without an alternate screen; it happens once.
const SCREEN_ON: &[u8] = b"\x1b[?1049h\x1b[H\x1b[2J";
const SCREEN_OFF: &[u8] = b"\x1b[?1049l";
const REPORTS_ON: &[u8] = b"\x1b[?25l\x1b[?2004h\x1b[?1004h";
const REPORTS_OFF: &[u8] = b"\x1b[?1004l\x1b[?2004l";
const CURSOR_SHOWN: &[u8] = b"\x1b[?25h";
// Presses and the wheel only: reports of each movement would wake the program for nothing.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1000l";
// 1: keys told apart; 2: repeats marked, so that a held key does not answer a question.
const KEYBOARD_ON: &[u8] = b"\x1b[>3u";
const KEYBOARD_OFF: &[u8] = b"\x1b[<1u";
const STYLE_RESET: &[u8] = b"\x1b[0m";

fn modes_of(options: Options) -> u8 {
    let mouse = if options.mouse == MouseCapture::Captured { MOUSE } else { 0 };
    let keyboard = if options.keyboard == KeyboardProtocol::Enhanced { KEYBOARD } else { 0 };
    ENTERED | mouse | keyboard
}

fn only_if(modes: u8, mode: u8, bytes: &'static [u8]) -> &'static [u8] {
    if modes & mode == 0 { &[] } else { bytes }
}

fn entering(modes: u8) -> Vec<u8> {
    [
        TITLE_SAVE,
        SCREEN_ON,
        REPORTS_ON,
        only_if(modes, MOUSE, MOUSE_ON),
        only_if(modes, KEYBOARD, KEYBOARD_ON),
    ]
    .concat()
}

fn leaving(modes: u8) -> Vec<u8> {
    [
        // A panic may have come between the two ends of a frame.
        out::FRAME_END,
        STYLE_RESET,
        only_if(modes, KEYBOARD, KEYBOARD_OFF),
        only_if(modes, MOUSE, MOUSE_OFF),
        REPORTS_OFF,
        SCREEN_OFF,
        CURSOR_SHOWN,
        TITLE_RESTORE,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    // T05: each mode that is switched on is switched off.
    #[test]
    fn each_private_mode_entered_is_left() {
        for mouse in [MouseCapture::Captured, MouseCapture::Free] {
            for keyboard in [KeyboardProtocol::Enhanced, KeyboardProtocol::Plain] {
                let modes = modes_of(Options { mouse, keyboard });
                let entering = String::from_utf8(entering(modes)).unwrap();
                let leaving = String::from_utf8(leaving(modes)).unwrap();
                for mode in ["1049", "1000", "1006", "2004", "1004"] {
                    let on = entering.contains(&format!("\x1b[?{mode}h"));
                    let off = leaving.contains(&format!("\x1b[?{mode}l"));
                    assert_eq!(on, off, "mode {mode} with {mouse:?}");
                }
                assert_eq!(entering.contains("\x1b[>3u"), leaving.contains("\x1b[<1u"));
                assert!(leaving.ends_with("\x1b[?25h\x1b[23;0;0t"), "{leaving:?}");
            }
        }
    }

    #[test]
    fn the_keyboard_is_popped_on_the_screen_that_it_was_pushed_on() {
        let leaving = String::from_utf8(leaving(ENTERED | KEYBOARD)).unwrap();
        assert!(leaving.find("\x1b[<1u").unwrap() < leaving.find("\x1b[?1049l").unwrap());
    }

    #[test]
    fn restoring_what_was_not_taken_does_nothing() {
        restore();
        restore();
        assert!(!is_entered());
    }
}
