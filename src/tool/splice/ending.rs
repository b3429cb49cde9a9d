//! Line endings: the view in which an edit is looked for, and the way back to bytes.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// What ends a line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// LF or CRLF, also mixed; a lone CR is data.
    Newlines,
    /// A file without any LF whose lines end in CR.
    ReturnsOnly,
}

impl Style {
    pub(super) fn of(body: &[u8]) -> Self {
        if body.contains(&b'\r') && !body.contains(&b'\n') {
            Self::ReturnsOnly
        } else {
            Self::Newlines
        }
    }

    /// The model's text with LF for every line ending.
    pub(super) fn normalize(self, text: &str) -> Vec<u8> {
        View::of(text.as_bytes(), self).text
    }

    /// Bytes of the line ending at `at`: 0 if none is there.
    fn length_at(self, bytes: &[u8], at: usize) -> usize {
        match (bytes.get(at), bytes.get(at + 1), self) {
            (Some(b'\r'), Some(b'\n'), _) => 2,
            (Some(b'\n'), _, _) | (Some(b'\r'), _, Self::ReturnsOnly) => 1,
            _ => 0,
        }
    }
}

/// A body with LF endings, and where its bytes are in the real one.
pub(super) struct View {
    pub(super) text: Vec<u8>,
    /// View positions at which a line ending of two bytes begins, ascending.
    shortened: Vec<usize>,
}

impl View {
    pub(super) fn of(body: &[u8], style: Style) -> Self {
        let mut view = Self { text: Vec::with_capacity(body.len()), shortened: Vec::new() };
        let mut at = 0;
        while at < body.len() {
            match style.length_at(body, at) {
                0 => view.text.push(body[at]),
                length => {
                    if length == 2 {
                        view.shortened.push(view.text.len());
                    }
                    view.text.push(b'\n');
                    at += length - 1;
                }
            }
            at += 1;
        }
        view
    }

    /// The real position of a view position.
    pub(super) fn raw(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|shortened| *shortened < at)
    }
}

/// The bytes that replace `body[range]`, which reads `old` in the view.
pub(super) fn replacement(
    body: &[u8],
    range: Range<usize>,
    old: &[u8],
    new: &[u8],
    style: Style,
) -> Vec<u8> {
    let endings = endings(&body[range.clone()], style);
    let neighbour = neighbour(body, range.start, style);
    let (old_lines, new_lines) = (lines(old), lines(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines);
    let mut result = Vec::with_capacity(new.len() + endings.len());
    let mut last: &[u8] = neighbour;
    for op in ops {
        let old_range = op.old_range();
        for (offset, index) in op.new_range().enumerate() {
            let line = new_lines[index];
            let Some(text) = line.strip_suffix(b"\n") else {
                result.extend_from_slice(line);
                continue;
            };
            let counterpart = match op {
                DiffOp::Equal { .. } | DiffOp::Replace { .. } if offset < old_range.len() => {
                    endings.get(old_range.start + offset).copied()
                }
                _ => None,
            };
            last = counterpart.unwrap_or(last);
            result.extend_from_slice(text);
            result.extend_from_slice(last);
        }
    }
    result
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The endings in a piece of the body, in order.
fn endings(bytes: &[u8], style: Style) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = style.length_at(bytes, at);
        if length > 0 {
            found.push(&bytes[at..at + length]);
        }
        at += length.max(1);
    }
    found
}

/// The ending of the line before `at`; of the line at it if there is none before; LF if there is neither.
fn neighbour(body: &[u8], at: usize, style: Style) -> &[u8] {
    let before = body[..at].iter().rposition(|byte| {
        matches!(byte, b'\n' | b'\r') && { style == Style::ReturnsOnly || *byte == b'\n' }
    });
    if let Some(end) = before {
        let start =
            if end > 0 && body[end] == b'\n' && body[end - 1] == b'\r' { end - 1 } else { end };
        return &body[start..=end];
    }
    endings(&body[at..], style).first().copied().unwrap_or(b"\n")
}
