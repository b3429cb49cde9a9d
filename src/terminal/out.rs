//! Output beside the cells: title, clipboard, bell, notification, the two ends of a frame.
//!
//! Invariants: no text that comes in here can end the sequence it is put into (T03); nothing is written
//! while the terminal is not ours; the clipboard is written only by a person's action, which the caller
//! guarantees.

use std::io::{self, Write};
use std::os::fd::AsFd;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::facts::Multiplexer;
use super::guard;

/// Begins and ends a synchronized update (DECSET 2026); terminals that do not know it skip both.
pub const FRAME_BEGIN: &[u8] = b"\x1b[?2026h";
pub const FRAME_END: &[u8] = b"\x1b[?2026l";

/// Rings the terminal's bell.
pub const BELL: &[u8] = b"\x07";

/// Characters of a window title: window lists show fewer.
const TITLE_CHARS_MAX: usize = 120;

/// Characters of a notification: desktops cut longer ones.
const NOTIFICATION_CHARS_MAX: usize = 200;

/// Bytes of text that OSC 52 carries: with base64 and its frame 100,000 bytes, the limit of common terminals.
pub const CLIPBOARD_BYTES_MAX: usize = 74_994;

/// Why a text cannot go to the terminal's clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "too long for the terminal's clipboard: {bytes} bytes, at most {CLIPBOARD_BYTES_MAX}; \
     press F2 and select it with the mouse"
)]
pub struct ClipboardTooLong {
    pub bytes: usize,
}

/// Returns the sequence that sets the window title.
pub fn title(text: &str) -> Vec<u8> {
    format!("\x1b]0;{}\x07", harmless(text, TITLE_CHARS_MAX)).into_bytes()
}

/// Returns the sequence of a desktop notification (OSC 9).
pub fn notification(text: &str) -> Vec<u8> {
    // The name comes first because OSC 9 followed by a number means something else to some terminals.
    format!("\x1b]9;crystal: {}\x07", harmless(text, NOTIFICATION_CHARS_MAX)).into_bytes()
}

/// Returns the sequence that puts the original text into the clipboard (OSC 52).
pub fn clipboard(text: &str, multiplexer: Multiplexer) -> Result<Vec<u8>, ClipboardTooLong> {
    if text.len() > CLIPBOARD_BYTES_MAX {
        return Err(ClipboardTooLong { bytes: text.len() });
    }
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    Ok(match multiplexer {
        Multiplexer::None => sequence.into_bytes(),
        // Either tmux takes the first itself or it passes the second on: that is its user's setting.
        Multiplexer::Tmux => {
            let inner = sequence.replace('\x1b', "\x1b\x1b");
            format!("{sequence}\x1bPtmux;{inner}\x1b\\").into_bytes()
        }
        Multiplexer::Screen => screen_passthrough(&sequence),
    })
}

/// Bytes of one string that GNU screen passes on: its buffer has 768, with the frame.
const SCREEN_CHUNK_BYTES: usize = 700;

fn screen_passthrough(sequence: &str) -> Vec<u8> {
    sequence
        .as_bytes()
        .chunks(SCREEN_CHUNK_BYTES)
        .flat_map(|chunk| [b"\x1bP", chunk, b"\x1b\\"].concat())
        .collect()
}

/// Text without anything that could end a sequence or reorder what a window list shows.
fn harmless(text: &str, chars_max: usize) -> String {
    let is_hidden = |c: char| {
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}')
    };
    let spaced = text.chars().map(|c| if matches!(c, '\n' | '\t' | '\r') { ' ' } else { c });
    spaced.filter(|c| !c.is_control() && !is_hidden(*c)).take(chars_max).collect()
}

/// Writes to the terminal if it is ours, else drops the bytes: another program's screen is not ours to draw on.
#[derive(Debug, Default)]
pub struct TerminalWriter;

impl TerminalWriter {
    /// Sends a whole sequence, such as a title or the bell.
    pub fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.write_all(sequence)
    }
}

impl Write for TerminalWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if guard::is_entered() { write_some(bytes) } else { Ok(bytes.len()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes straight to standard output: no lock, no buffer, so it may run in a panic hook.
pub(super) fn write_terminal(bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = write_some(rest)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        rest = &rest[written..];
    }
    Ok(())
}

fn write_some(bytes: &[u8]) -> io::Result<usize> {
    let stdout = io::stdout();
    loop {
        match rustix::io::write(stdout.as_fd(), bytes) {
            // Another program on this terminal switched waiting off for all of them; a frame must not be cut.
            Err(Errno::AGAIN) => {
                let flags = fcntl_getfl(stdout.as_fd())?;
                fcntl_setfl(stdout.as_fd(), flags - OFlags::NONBLOCK)?;
            }
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTACK: &str = "a\x1b]52;c;eA==\x07\u{9b}2J\u{9c}\u{202e}\r\nb\u{e0041}";

    // T03: a title or notification cannot carry another sequence.
    #[test]
    fn text_cannot_end_the_sequence_it_is_in() {
        for (bytes, begin) in
            [(title(ATTACK), "\x1b]0;"), (notification(ATTACK), "\x1b]9;crystal: ")]
        {
            let text = String::from_utf8(bytes).unwrap();
            let body = text.strip_prefix(begin).and_then(|t| t.strip_suffix('\x07')).unwrap();
            assert_eq!(body, "a]52;c;eA==2J  b");
        }
    }

    #[test]
    fn a_title_is_cut_to_what_a_window_list_shows() {
        assert_eq!(title(&"漢".repeat(10_000)).len(), TITLE_CHARS_MAX * 3 + 5);
    }

    // T16: what is copied is the text itself, and a text that cannot go is refused with its size.
    #[test]
    fn the_clipboard_gets_the_original_text_or_none() {
        let sequence = clipboard("\tlet x = 1;\n", Multiplexer::None).unwrap();
        assert_eq!(sequence, b"\x1b]52;c;CWxldCB4ID0gMTsK\x07");
        assert_eq!(
            clipboard(&"x".repeat(200_000), Multiplexer::None),
            Err(ClipboardTooLong { bytes: 200_000 })
        );
    }

    #[test]
    fn multiplexers_are_asked_in_their_own_way() {
        let tmux = String::from_utf8(clipboard("hi", Multiplexer::Tmux).unwrap()).unwrap();
        assert_eq!(tmux, "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\");
        let screen = clipboard(&"x".repeat(3_000), Multiplexer::Screen).unwrap();
        assert!(screen.starts_with(b"\x1bP\x1b]52;c;"));
        assert_eq!(screen.windows(2).filter(|pair| pair == b"\x1bP").count(), 6);
    }

    // T16: OSC 52 of the largest text stays within what terminals accept.
    #[test]
    fn the_largest_clipboard_text_fits_a_terminal() {
        let sequence = clipboard(&"x".repeat(CLIPBOARD_BYTES_MAX), Multiplexer::None).unwrap();
        assert!(sequence.len() <= 100_000, "{}", sequence.len());
    }

    #[test]
    fn nothing_is_written_while_the_terminal_is_not_ours() {
        assert_eq!(TerminalWriter.write(b"\x1b[2J").unwrap(), 4);
    }
}
