//! A command's output as plain text: escape sequences removed, progress lines at their last state.
//!
//! Invariant: the result has no control character but newline and tab. A sequence ends with its line at
//! the latest, so that one which is never finished cannot swallow what follows.

use vte::{Params, Parser, Perform};

/// Returns what a person would have seen on a very wide terminal.
pub(super) fn plain(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (line, end) = match line.strip_suffix(b"\n") {
            Some(line) => (line.strip_suffix(b"\r").unwrap_or(line), "\n"),
            None => (line, ""),
        };
        match std::str::from_utf8(line) {
            Ok(plain) if !plain.chars().any(|c| c.is_control() && c != '\t') => {
                text.push_str(plain);
            }
            Ok(_) | Err(_) => {
                let mut seen = Line::default();
                Parser::new().advance(&mut seen, line);
                text.extend(seen.chars);
                if line.last().is_some_and(|byte| !byte.is_ascii()) && ends_within_a_character(line)
                {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        text.push_str(end);
    }
    text
}

/// The parser waits for the rest of a character that never comes.
fn ends_within_a_character(line: &[u8]) -> bool {
    let tail = &line[line.len().saturating_sub(4)..];
    std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
        || tail.utf8_chunks().last().is_some_and(|chunk| {
            !chunk.invalid().is_empty() && {
                std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none())
            }
        })
}

/// One line and the place where the next character goes.
#[derive(Default)]
struct Line {
    chars: Vec<char>,
    column: usize,
}

impl Perform for Line {
    fn print(&mut self, c: char) {
        if c.is_control() {
            return;
        }
        self.put(c);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.column = 0,
            b'\t' => self.put('\t'),
            0x08 => self.column = self.column.saturating_sub(1),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first()).copied().unwrap_or(0);
        match (action, first) {
            ('K', 0) => self.chars.truncate(self.column),
            ('K', 2) => {
                self.chars.clear();
                self.column = 0;
            }
            ('G', column) => self.column = usize::from(column.max(1) - 1).min(self.chars.len()),
            _ => {}
        }
    }
}

impl Line {
    fn put(&mut self, c: char) {
        // After `ESC [2K` the cursor may stand beyond the end.
        self.column = self.column.min(self.chars.len());
        match self.chars.get_mut(self.column) {
            Some(place) => *place = c,
            None => self.chars.push(c),
        }
        self.column += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // T03
    #[test]
    fn no_sequence_reaches_the_text() {
        for (bytes, wanted) in [
            (&b"a\x1b[31mred\x1b[0m b"[..], "ared b"),
            (b"\x1b[2J\x1b[10A\x1bcx", "x"),
            (b"\x1b]52;c;aGk=\x07x\x1b]0;title\x1b\\y", "xy"),
            (b"\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bPq#0\x1b\\dcs\x1b_apc\x1b\\!", "dcs!"),
            (b"\x1b]0;never ended\nnext line\n", "\nnext line\n"),
            (b"10%\r50%\r100%\n", "100%\n"),
            (b"downloading\rdone\x1b[K\n", "done\n"),
            (b"ab\x08c\n", "ac\n"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"a\tb\x7f\x07\0", "a\tb"),
            (b"caf\xe9!", "caf\u{fffd}!"),
            (b"caf\xe9", "caf\u{fffd}"),
            ("\u{9b}31mx\u{9d}0;t".as_bytes(), "31mx0;t"),
            ("漢字".as_bytes(), "漢字"),
        ] {
            assert_eq!(plain(bytes), wanted, "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_bytes_become_text_without_controls(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let text = plain(&bytes);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        }
    }
}
