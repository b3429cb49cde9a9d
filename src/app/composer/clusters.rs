//! Grapheme clusters of one line: boundaries, words, columns.
//!
//! Invariant: a caret only ever stands on a boundary that is found here, so that a family emoji or a letter
//! with its accent moves and vanishes as one. Offsets are in bytes.

use std::borrow::Cow;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::base::text::width;

use super::chips::{self, Chips};

/// Columns between tab stops.
const TAB_COLUMNS: usize = 4;

/// Returns the boundary before `offset`, or `None` at the beginning of the line.
pub(super) fn before(line: &str, offset: usize) -> Option<usize> {
    GraphemeCursor::new(offset, line.len(), true).prev_boundary(line, 0).ok().flatten()
}

/// Returns the boundary after `offset`, or `None` at the end of the line.
pub(super) fn after(line: &str, offset: usize) -> Option<usize> {
    GraphemeCursor::new(offset, line.len(), true).next_boundary(line, 0).ok().flatten()
}

/// Returns `offset`, or the next boundary if it is inside a cluster.
pub(super) fn snap(line: &str, offset: usize) -> usize {
    match GraphemeCursor::new(offset, line.len(), true).is_boundary(line, 0) {
        Ok(false) => after(line, offset).unwrap_or(line.len()),
        _ => offset,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Mark,
}

fn class(cluster: &str) -> Class {
    match cluster.chars().next() {
        Some(first) if first.is_whitespace() => Class::Space,
        Some(first) if first.is_alphanumeric() || first == '_' => Class::Word,
        _ => Class::Mark,
    }
}

/// Returns where the word before `offset` begins: over spaces, then over one run of a kind.
pub(super) fn word_before(line: &str, offset: usize) -> usize {
    let mut backwards = line[..offset].grapheme_indices(true).rev().peekable();
    let mut start = offset;
    while let Some((at, _)) = backwards.next_if(|(_, cluster)| class(cluster) == Class::Space) {
        start = at;
    }
    if let Some((at, first)) = backwards.next() {
        start = at;
        while let Some((at, _)) =
            backwards.next_if(|(_, cluster)| class(cluster) == class(first) && !chips::is_in(first))
        {
            start = at;
        }
    }
    start
}

/// Returns where the word after `offset` ends: over spaces, then over one run of a kind.
pub(super) fn word_after(line: &str, offset: usize) -> usize {
    let mut forwards = line[offset..].graphemes(true).peekable();
    let mut end = offset;
    while let Some(space) = forwards.next_if(|cluster| class(cluster) == Class::Space) {
        end += space.len();
    }
    if let Some(first) = forwards.next() {
        end += first.len();
        while let Some(more) =
            forwards.next_if(|cluster| class(cluster) == class(first) && !chips::is_in(first))
        {
            end += more.len();
        }
    }
    end
}

/// One cluster as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown<'a> {
    /// Offset of the cluster in its line, and of its end.
    pub start: usize,
    pub end: usize,
    /// What is drawn: spaces for a tab, the label for a chip.
    pub text: Cow<'a, str>,
    pub columns: usize,
    /// A row may end after it.
    pub is_break: bool,
}

/// Returns the cluster at `start` as it is drawn at `column` of a row of `columns_max` columns.
pub(super) fn shown<'a>(
    line: &'a str,
    start: usize,
    column: usize,
    columns_max: usize,
    chips: &Chips,
) -> Option<Shown<'a>> {
    let end = after(line, start)?;
    let cluster = &line[start..end];
    let (text, columns) = if cluster == "\t" {
        let columns = (TAB_COLUMNS - column % TAB_COLUMNS).min(columns_max.max(1));
        (Cow::Owned(" ".repeat(columns)), columns)
    } else if chips::is_in(cluster) {
        let label = width::ellipsis(&chips.label(cluster), columns_max.max(1));
        let columns = width::columns(&label);
        (Cow::Owned(label), columns)
    } else {
        (Cow::Borrowed(cluster), width::columns(cluster))
    };
    let is_break = columns == 2 || class(cluster) == Class::Space || chips::is_in(cluster);
    Some(Shown { start, end, text, columns, is_break })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_run_of_one_kind_and_the_spaces_before_it() {
        for (line, offset, wanted) in [
            ("one two", 7, 4),
            ("one two  ", 9, 4),
            ("a.b", 3, 2),
            ("x", 0, 0),
            ("日本 x", 6, 0),
            ("--flag", 2, 0),
        ] {
            assert_eq!(word_before(line, offset), wanted, "{line:?} from {offset}");
        }
        for (line, offset, wanted) in
            [("one two", 0, 3), ("one two", 3, 7), ("a..b", 1, 3), ("x", 1, 1)]
        {
            assert_eq!(word_after(line, offset), wanted, "{line:?} from {offset}");
        }
    }
}
