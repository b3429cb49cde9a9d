//! One logical line to rows, as byte ranges.
//!
//! Invariants: no row is wider than the limit; rows are in order and do not overlap; between them only
//! spaces at which a row ended, and clusters wider than the limit, are left out. Stable under appending:
//! for a text cut at a cluster border, all rows of the first part but its last are rows of the whole.
//! The text must be sanitized and hold no line end.

use std::ops::Range;

use super::width;

/// Returns the rows of one line: at least one, empty for an empty line.
///
/// Breaks after spaces; a word longer than `columns_max` is cut between clusters. With `columns_max` 0
/// nothing can be shown: one empty row.
pub fn rows(text: &str, columns_max: usize) -> Vec<Range<usize>> {
    if columns_max == 0 || text.is_empty() {
        return vec![Range { start: 0, end: 0 }];
    }
    if text.is_ascii() && text.len() <= columns_max {
        return vec![Range { start: 0, end: text.len() }];
    }
    let mut wrapper = Wrapper::new(columns_max);
    let mut at = 0;
    for (cluster, columns) in width::graphemes(text) {
        wrapper.push(at, cluster, columns);
        at += cluster.len();
    }
    wrapper.finish()
}

/// Returns the number of rows of a text of several lines.
pub fn height(text: &str, columns_max: usize) -> usize {
    text.split('\n').map(|line| rows(line, columns_max).len()).sum()
}

struct Wrapper {
    limit: usize,
    rows: Vec<Range<usize>>,
    /// Of the current row: where it starts, where it ends, its columns.
    start: usize,
    end: usize,
    columns: usize,
    /// Of the word at the end of the current row: where it starts, its columns.
    word: usize,
    word_columns: usize,
    /// Something precedes the word in this row, if only spaces.
    is_led: bool,
    /// Spaces that did not fit: they belong to no row, and what follows them begins one.
    is_full: bool,
}

impl Wrapper {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            rows: Vec::new(),
            start: 0,
            end: 0,
            columns: 0,
            word: 0,
            word_columns: 0,
            is_led: false,
            is_full: false,
        }
    }

    fn push(&mut self, at: usize, cluster: &str, columns: usize) {
        let end = at + cluster.len();
        if columns > self.limit {
            self.is_full = self.is_full || self.end > self.start;
            if !self.is_full {
                self.begin(end);
            }
        } else if cluster == " " {
            self.space(end);
        } else {
            self.letter(at, end, columns);
        }
    }

    fn space(&mut self, end: usize) {
        if self.is_full || self.columns + 1 > self.limit {
            self.is_full = true;
            return;
        }
        self.is_led = true;
        (self.end, self.columns) = (end, self.columns + 1);
        (self.word, self.word_columns) = (end, 0);
    }

    fn letter(&mut self, at: usize, end: usize, columns: usize) {
        if self.is_full {
            self.close(self.end);
            self.begin(at);
        } else if self.columns + columns > self.limit {
            if self.is_led && self.word_columns + columns <= self.limit {
                let (word, word_columns) = (self.word, self.word_columns);
                self.close(word);
                self.begin(word);
                (self.end, self.columns, self.word_columns) = (at, word_columns, word_columns);
            } else {
                self.close(self.end);
                self.begin(at);
            }
        }
        self.end = end;
        self.columns += columns;
        self.word_columns += columns;
    }

    fn close(&mut self, end: usize) {
        self.rows.push(self.start..end);
    }

    fn begin(&mut self, at: usize) {
        (self.start, self.end, self.word) = (at, at, at);
        (self.columns, self.word_columns) = (0, 0);
        (self.is_led, self.is_full) = (false, false);
    }

    fn finish(mut self) -> Vec<Range<usize>> {
        if self.end > self.start || self.rows.is_empty() {
            self.close(self.end);
        }
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, columns_max: usize, wanted: &[&str]) {
        let shown: Vec<&str> = rows(text, columns_max).into_iter().map(|row| &text[row]).collect();
        assert_eq!(shown, wanted, "{text:?} in {columns_max}");
    }

    #[test]
    fn lines_break_after_spaces_and_long_words_between_clusters() {
        check("", 5, &[""]);
        check("one two", 7, &["one two"]);
        check("one two", 5, &["one ", "two"]);
        check("one two", 3, &["one", "two"]);
        check("one    two", 4, &["one ", "two"]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("xx abcdefgh", 4, &["xx ", "abcd", "efgh"]);
        check("   indented text", 9, &["   ", "indented ", "text"]);
        check("漢字漢字", 5, &["漢字", "漢字"]);
        check("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]);
    }

    // T04: widths at which nothing fits.
    #[test]
    fn tiny_widths_are_safe() {
        check("abc", 0, &[""]);
        check("a漢b", 1, &["a", "b"]);
        check("漢", 1, &[""]);
    }

    /// What may stand in no row: spaces, and marks without a letter.
    fn lost(text: &str) -> bool {
        text.chars().all(|c| matches!(c, ' ' | '\u{301}'))
    }

    proptest! {
        // T14
        #[test]
        fn rows_fit_and_lose_only_spaces(text in "[a-c 漢é👩🏽\u{301}]{0,40}", limit in 2_usize..12) {
            let rows = rows(&text, limit);
            let mut at = 0;
            for row in &rows {
                prop_assert!(row.start >= at);
                prop_assert!(lost(&text[at..row.start]));
                prop_assert!(width::columns(&text[row.clone()]) <= limit);
                at = row.end;
            }
            prop_assert!(lost(&text[at..]));
        }

        #[test]
        fn appending_changes_only_the_last_row(text in "[ab 漢é]{1,40}", cut in 0_usize..40, limit in 1_usize..9) {
            let cut = text.char_indices().map(|(i, _)| i).nth(cut).unwrap_or(text.len());
            let (part, whole) = (rows(&text[..cut], limit), rows(&text, limit));
            prop_assert_eq!(&part[..part.len() - 1], &whole[..part.len() - 1]);
        }
    }
}
