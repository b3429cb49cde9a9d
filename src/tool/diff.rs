//! A change as unified text, made from the real bytes.
//!
//! Invariants: at most about [`limits::DIFF_BYTES_MAX`] bytes; the work has a deadline; lines are compared as
//! bytes with their endings, and are shown lossily.

#![expect(clippy::disallowed_methods, reason = "the edge reads the clock")]

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::base::limits;
use crate::base::text::cut;

/// After this a coarser comparison must do.
const TIME_MAX: Duration = Duration::from_millis(500);

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// Bytes of one line of a diff.
const LINE_BYTES_MAX: usize = 2_000;

pub(super) struct Diff {
    pub(super) text: String,
    pub(super) added: usize,
    pub(super) removed: usize,
    /// The whole change is in the text.
    pub(super) is_whole: bool,
}

impl Diff {
    /// Such as `+12 -3`.
    pub(super) fn summary(&self) -> String {
        format!("+{} -{}", self.added, self.removed)
    }
}

/// Compares two contents of the file that people know as `shown`.
pub(super) fn unified(shown: &str, old: &[u8], new: &[u8], bytes_max: usize) -> Diff {
    let (old, new) = (lines(old), lines(new));
    let deadline = Some(Instant::now() + TIME_MAX);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let mut diff = Diff { text: String::new(), added: 0, removed: 0, is_whole: true };
    for op in &ops {
        if !matches!(op, DiffOp::Equal { .. }) {
            diff.removed += op.old_range().len();
            diff.added += op.new_range().len();
        }
    }
    let page = Page { old: &old, new: &new, marks_cr: marks_cr(&old, &new), bytes_max };
    for group in group_diff_ops(ops, CONTEXT_LINES) {
        if diff.text.is_empty() {
            let _ = writeln!(diff.text, "--- {shown}\n+++ {shown}");
        }
        if !page.write_group(&mut diff.text, &group) {
            diff.text.push_str("[… the rest of the change is left out here …]\n");
            diff.is_whole = false;
            break;
        }
    }
    diff
}

/// The diff kept with a result for the screen.
pub(super) fn for_screen(shown: &str, old: &[u8], new: &[u8]) -> Diff {
    unified(shown, old, new, limits::DIFF_BYTES_MAX)
}

pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Whether a CR must be visible: not where every line has one.
fn marks_cr(old: &[&[u8]], new: &[&[u8]]) -> bool {
    let mut lines = old.iter().chain(new).filter(|line| line.ends_with(b"\n"));
    let has_cr = |line: &[u8]| line.ends_with(b"\r\n");
    let first = lines.next().is_some_and(|line| has_cr(line));
    lines.any(|line| has_cr(line) != first)
}

struct Page<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    marks_cr: bool,
    bytes_max: usize,
}

impl Page<'_> {
    /// Returns whether the group was written whole.
    fn write_group(&self, text: &mut String, group: &[DiffOp]) -> bool {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return true };
        let range = |start: Range<usize>, end: Range<usize>| {
            let count = end.end - start.start;
            // An empty range names the line before it.
            (start.start + usize::from(count > 0), count)
        };
        let (old_start, old_count) = range(first.old_range(), last.old_range());
        let (new_start, new_count) = range(first.new_range(), last.new_range());
        let _ = writeln!(text, "@@ -{old_start},{old_count} +{new_start},{new_count} @@");
        group.iter().all(|op| match op {
            DiffOp::Equal { .. } => self.write(text, ' ', &self.old[op.old_range()]),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                self.write(text, '-', &self.old[op.old_range()])
                    && self.write(text, '+', &self.new[op.new_range()])
            }
        })
    }

    fn write(&self, text: &mut String, sign: char, lines: &[&[u8]]) -> bool {
        for line in lines {
            if text.len() >= self.bytes_max {
                return false;
            }
            let (body, is_ended) = match line.strip_suffix(b"\n") {
                Some(body) => (body, true),
                None => (*line, false),
            };
            let (body, has_cr) = match body.strip_suffix(b"\r") {
                Some(body) if is_ended => (body, true),
                Some(_) | None => (body, false),
            };
            let shown = String::from_utf8_lossy(body);
            text.push(sign);
            let end = cut::floor_boundary(&shown, LINE_BYTES_MAX.min(self.bytes_max));
            text.push_str(&shown[..end]);
            if end < shown.len() {
                text.push_str(" […]");
            }
            text.push_str(if has_cr && self.marks_cr { "␍\n" } else { "\n" });
            if !is_ended {
                text.push_str("\\ No newline at end of file\n");
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_unified_text() {
        let diff = for_screen("a", b"1\n2\n3\n4\n5\n", b"1\n2\n3\n4\nfive");
        assert_eq!(
            diff.text,
            "--- a\n+++ a\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n\\ No newline at end of file\n"
        );
        assert_eq!(diff.summary(), "+1 -1");
    }

    #[test]
    fn a_new_file_begins_at_line_zero() {
        assert_eq!(for_screen("a", b"", b"x\n").text, "--- a\n+++ a\n@@ -0,0 +1,1 @@\n+x\n");
    }

    // X04
    #[test]
    fn a_changed_line_ending_is_visible_and_a_uniform_one_is_not() {
        assert!(for_screen("a", b"x\r\ny\n", b"x\ny\n").text.contains("-x␍\n+x\n"));
        assert!(!for_screen("a", b"x\r\ny\r\n", b"x\r\nz\r\n").text.contains('␍'));
    }

    #[test]
    fn a_huge_change_is_cut_and_says_so() {
        let new: Vec<u8> = (0..100_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let diff = for_screen("a", b"", &new);
        assert!(diff.text.len() < limits::DIFF_BYTES_MAX + 3 * LINE_BYTES_MAX);
        assert!(!diff.is_whole && diff.added == 100_000);
    }
}
