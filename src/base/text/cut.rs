//! The middle cut: what the model sees of a long result.
//!
//! Invariants: a cut falls on a character boundary and, where there is one near, on a line boundary; head,
//! mark and tail together name how much is missing; text within the limits is returned unchanged.

use serde::{Deserialize, Serialize};

/// How a long text was cut: bytes kept of its head and tail, and the mark between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    pub head: usize,
    pub tail: usize,
    pub mark: String,
}

impl Cut {
    /// Returns the shown form of `whole`, or `None` if the cut does not fit it (a damaged record).
    pub fn apply(&self, whole: &str) -> Option<String> {
        let tail_start = whole.len().checked_sub(self.tail)?;
        if self.head > tail_start {
            return None;
        }
        Some([whole.get(..self.head)?, &self.mark, whole.get(tail_start..)?].concat())
    }
}

/// Returns how to cut `whole` so that it has at most `bytes_max` bytes and `lines_max` lines beside the
/// mark; `None` if it fits as it is.
pub fn middle(whole: &str, bytes_max: usize, lines_max: usize) -> Option<Cut> {
    let line_count = whole.bytes().filter(|byte| *byte == b'\n').count() + 1;
    if whole.len() <= bytes_max && line_count <= lines_max {
        return None;
    }
    let head = head_end(whole, bytes_max / 2, lines_max / 2);
    let tail_start = tail_start(whole, bytes_max / 2, lines_max / 2).max(head);
    let missing = &whole[head..tail_start];
    let lines = missing.bytes().filter(|byte| *byte == b'\n').count();
    let mark = format!(
        "\n[… {} bytes, {lines} lines left out here; the whole is in the session's archive …]\n",
        missing.len()
    );
    Some(Cut { head, tail: whole.len() - tail_start, mark })
}

/// The largest character boundary at or below `index`.
pub fn floor_boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// The smallest character boundary at or above `index`.
pub fn ceil_boundary(text: &str, index: usize) -> usize {
    (index.min(text.len())..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len())
}

/// Returns at most the first `chars_max` characters of `text`.
pub fn chars(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

fn head_end(text: &str, bytes_max: usize, lines_max: usize) -> usize {
    let by_bytes = floor_boundary(text, bytes_max);
    let by_lines = nth_newline(text.bytes().enumerate(), lines_max).map_or(text.len(), |i| i + 1);
    let end = by_bytes.min(by_lines);
    // A whole last line reads better, but one enormous line must not leave nothing.
    text[..end].rfind('\n').map(|i| i + 1).filter(|i| *i >= end / 2).unwrap_or(end)
}

fn tail_start(text: &str, bytes_max: usize, lines_max: usize) -> usize {
    let by_bytes = ceil_boundary(text, text.len().saturating_sub(bytes_max));
    let by_lines = nth_newline(text.bytes().enumerate().rev(), lines_max).map_or(0, |i| i + 1);
    let start = by_bytes.max(by_lines);
    let kept = text.len() - start;
    text[start..]
        .find('\n')
        .map(|i| start + i + 1)
        .filter(|i| text.len() - i >= kept / 2)
        .unwrap_or(start)
}

fn nth_newline(bytes: impl Iterator<Item = (usize, u8)>, n: usize) -> Option<usize> {
    bytes.filter(|(_, byte)| *byte == b'\n').nth(n.saturating_sub(1)).map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_within_the_limits_is_whole() {
        assert_eq!(middle("a\nb\n", 100, 10), None);
    }

    #[test]
    fn the_mark_says_how_much_is_missing() {
        let whole: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let shown = middle(&whole, 1_000, 10).and_then(|cut| cut.apply(&whole)).unwrap();
        assert!(shown.starts_with("line 0\nline 1\n"), "{shown}");
        assert!(shown.ends_with("line 98\nline 99\n"), "{shown}");
        assert!(shown.contains("lines left out here"), "{shown}");
    }

    proptest! {
        // T14: a cut inside a character must neither panic nor lose the rest.
        #[test]
        fn a_cut_is_within_its_limits_for_any_text(whole in "(\\PC|\n){0,400}", bytes in 2_usize..200, lines in 2_usize..20) {
            if let Some(cut) = middle(&whole, bytes, lines) {
                prop_assert!(cut.head + cut.tail <= bytes);
                prop_assert!(cut.apply(&whole).is_some());
            }
        }
    }
}
