//! What a command printed, in bounded memory.
//!
//! Invariants: at most [`limits::OUTPUT_BYTES_MAX`] bytes are held, the first half from the beginning, the
//! other from the end; what is missing between them is counted. Bytes keep their order.

use std::collections::VecDeque;

use super::plain::plain;
use crate::base::limits;
use crate::base::text::cut;

const HALF: usize = limits::OUTPUT_BYTES_MAX / 2;

/// Bytes that wait for the screen; older ones are skipped, the screen shows the end.
const FRESH_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    fresh: VecDeque<u8>,
    read_to: u64,
}

impl Output {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        push_bounded(&mut self.fresh, bytes, FRESH_BYTES_MAX);
        let room = HALF - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        push_bounded(&mut self.tail, rest, HALF);
    }

    /// Takes what came since the last time, for the screen: whole characters, lossy.
    pub(super) fn take_fresh(&mut self) -> String {
        let bytes = self.fresh.make_contiguous();
        // The last character may still be on its way.
        let whole = match std::str::from_utf8(&bytes[bytes.len().saturating_sub(3)..]) {
            Err(error) if error.error_len().is_none() => {
                bytes.len().saturating_sub(3) + error.valid_up_to()
            }
            Ok(_) | Err(_) => bytes.len(),
        };
        let taken: Vec<u8> = self.fresh.drain(..whole).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }

    /// All that is kept as plain text, with a mark where something was left out.
    pub(super) fn text(&self) -> String {
        self.text_from(0)
    }

    /// What came since the last call of this function.
    pub(super) fn text_unread(&mut self) -> String {
        let text = self.text_from(self.read_to);
        self.read_to = self.total;
        text
    }

    fn text_from(&self, from: u64) -> String {
        let tail_start = self.total - self.tail.len() as u64;
        let missing = tail_start.saturating_sub((self.head.len() as u64).max(from));
        let head = self.head.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default();
        let skipped = usize::try_from(from.saturating_sub(tail_start)).unwrap_or(usize::MAX);
        let tail: Vec<u8> = self.tail.iter().skip(skipped).copied().collect();
        if missing == 0 {
            return bounded(&plain(&[head, &tail].concat()), 0);
        }
        // A lost byte may have become three: cut again as text.
        let (head, tail) = (plain(head), plain(&tail));
        let head = &head[..cut::floor_boundary(&head, HALF)];
        let tail = &tail[cut::ceil_boundary(&tail, tail.len().saturating_sub(HALF))..];
        format!("{head}{}{tail}", mark(missing))
    }
}

fn bounded(text: &str, missing: u64) -> String {
    if text.len() <= limits::OUTPUT_BYTES_MAX {
        return text.to_owned();
    }
    let head = cut::floor_boundary(text, HALF);
    let tail = cut::ceil_boundary(text, text.len() - HALF);
    let missing = missing + (tail - head) as u64;
    format!("{}{}{}", &text[..head], mark(missing), &text[tail..])
}

fn mark(missing: u64) -> String {
    format!("\n[… {missing} bytes of output were left out here and are not kept …]\n")
}

fn push_bounded(queue: &mut VecDeque<u8>, bytes: &[u8], bytes_max: usize) {
    let bytes = &bytes[bytes.len().saturating_sub(bytes_max)..];
    let surplus = (queue.len() + bytes.len()).saturating_sub(bytes_max);
    queue.drain(..surplus);
    queue.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    // X03
    #[test]
    fn endless_output_keeps_its_ends_and_counts_the_rest() {
        let mut output = Output::default();
        output.push(b"first\n");
        for _ in 0..40 {
            output.push(&vec![b'x'; 512 * 1024]);
        }
        output.push(b"\nlast\n");
        assert!(output.head.len() + output.tail.len() <= limits::OUTPUT_BYTES_MAX);
        let text = output.text();
        assert!(text.starts_with("first\n") && text.ends_with("\nlast\n"));
        let missing = output.total - limits::OUTPUT_BYTES_MAX as u64;
        assert!(text.contains(&format!("{missing} bytes of output were left out")));
    }

    #[test]
    fn what_was_read_is_not_read_again() {
        let mut output = Output::default();
        output.push(b"one\n");
        assert_eq!(output.text_unread(), "one\n");
        assert_eq!(output.text_unread(), "");
        output.push(b"two\n");
        assert_eq!(output.text_unread(), "two\n");
        assert_eq!(output.text(), "one\ntwo\n");
    }

    // T14
    #[test]
    fn the_screen_gets_whole_characters() {
        let mut output = Output::default();
        let bytes = "a漢".as_bytes();
        output.push(&bytes[..2]);
        assert_eq!(output.take_fresh(), "a");
        output.push(&bytes[2..]);
        assert_eq!(output.take_fresh(), "漢");
        output.push(b"\xff");
        assert_eq!(output.take_fresh(), "\u{fffd}");
    }
}
