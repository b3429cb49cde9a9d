//! Soft wrap: lines to rows, places to columns and back.
//!
//! Invariant: every byte of the text is in exactly one row, and a row's columns are measured as they are
//! drawn. One column is kept free at the end of each row for the caret, so the caret is always visible.

use super::buffer::Place;
use super::chips::Chips;
use super::clusters;

/// One row of the wrapped text: a piece of a line, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub line: usize,
    pub start: usize,
    pub end: usize,
}

/// Rows of a text for a width. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    columns: usize,
    rows: Vec<Row>,
}

impl Default for Layout {
    fn default() -> Self {
        Self::new(&[], &Chips::default(), 80)
    }
}

impl Layout {
    /// Wraps `lines` for an area of `columns` columns; any width is possible, 0 too.
    pub(super) fn new(lines: &[String], chips: &Chips, columns: u16) -> Self {
        let columns = usize::from(columns).saturating_sub(1).max(1);
        let mut rows = Vec::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            wrap(line, index, columns, chips, &mut rows);
        }
        if rows.is_empty() {
            rows.push(Row { line: 0, start: 0, end: 0 });
        }
        Self { columns, rows }
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the row and column where `place` is drawn.
    pub(super) fn position(&self, lines: &[String], chips: &Chips, place: Place) -> (usize, usize) {
        let after =
            self.rows.partition_point(|row| (row.line, row.start) <= (place.line, place.byte));
        let index = after.saturating_sub(1);
        let row = self.rows[index];
        let line = lines.get(row.line).map_or("", String::as_str);
        let mut column = 0;
        let mut at = row.start;
        while at < place.byte {
            let Some(shown) = clusters::shown(line, at, column, self.columns, chips) else { break };
            column += shown.columns;
            at = shown.end;
        }
        (index, column)
    }

    /// Returns the place nearest to `column` of a row, never beyond the row's end.
    pub(super) fn place(
        &self,
        lines: &[String],
        chips: &Chips,
        row_index: usize,
        column: usize,
    ) -> Place {
        let row = self.rows[row_index.min(self.rows.len() - 1)];
        let line = lines.get(row.line).map_or("", String::as_str);
        // The end of a wrapped row is the beginning of the next, so the caret stops before it.
        let is_wrapped = row.end < line.len();
        let (mut at, mut used) = (row.start, 0);
        while at < row.end {
            let Some(shown) = clusters::shown(line, at, used, self.columns, chips) else { break };
            used += shown.columns;
            if used > column || (is_wrapped && shown.end >= row.end) {
                break;
            }
            at = shown.end;
        }
        Place { line: row.line, byte: at }
    }
}

fn wrap(line: &str, index: usize, columns: usize, chips: &Chips, rows: &mut Vec<Row>) {
    let mut start = 0;
    let mut at = 0;
    let mut column = 0;
    let mut last_break = None;
    while let Some(shown) = clusters::shown(line, at, column, columns, chips) {
        if column + shown.columns > columns && at > start {
            // A row ends after its last space, or where it is full; a space that no longer fits opens
            // the next row, so that the word before it stays.
            let end = if shown.text.trim().is_empty() { at } else { last_break.unwrap_or(at) };
            rows.push(Row { line: index, start, end });
            (start, at, column, last_break) = (end, end, 0, None);
            continue;
        }
        column += shown.columns;
        at = shown.end;
        if shown.is_break {
            last_break = Some(at);
        }
    }
    rows.push(Row { line: index, start, end: line.len() });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, columns: u16) -> Vec<String> {
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        Layout::new(&lines, &Chips::default(), columns)
            .rows()
            .iter()
            .map(|row| lines[row.line][row.start..row.end].to_owned())
            .collect()
    }

    #[test]
    fn rows_end_after_words_and_keep_every_byte() {
        for (text, columns, wanted) in [
            ("one two three", 9, vec!["one two ", "three"]),
            ("one two three", 8, vec!["one two", " three"]),
            ("abcdefgh", 5, vec!["abcd", "efgh"]),
            ("漢字漢字", 6, vec!["漢字", "漢字"]),
            ("a\n\nb", 9, vec!["a", "", "b"]),
            ("\tx", 4, vec!["\t", "x"]),
            ("漢", 0, vec!["漢"]),
            ("", 0, vec![""]),
        ] {
            assert_eq!(rows(text, columns), wanted, "{text:?} in {columns}");
        }
    }

    // T02: the caret's column over a tab is the column that is drawn.
    #[test]
    fn a_tab_moves_the_caret_to_the_next_stop() {
        let lines = vec!["a\tb".to_owned()];
        let chips = Chips::default();
        let layout = Layout::new(&lines, &chips, 40);
        let columns: Vec<usize> = (0..=3)
            .map(|byte| layout.position(&lines, &chips, Place { line: 0, byte }).1)
            .collect();
        assert_eq!(columns, [0, 1, 4, 5]);
    }
}
