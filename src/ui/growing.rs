//! The rows of a text that grows: only what is new is cleaned and laid out.
//!
//! Invariant: at every step the rows are those of the whole text. Any doubt whether a text continues the one
//! before: all of it is done again.

use super::cache::Rows;
use super::markdown::StreamLayout;
use super::theme::Theme;
use crate::app::cells::CellId;
use crate::base::text::sanitize;

/// Rows that are shared between frames as one piece. Fewer are copied into each frame, which costs less than
/// a piece for every few rows.
const PIECE_ROWS: u32 = 32;

/// Bytes before the cleaned end that are compared to notice a text that was replaced.
const CHECK_BYTES: usize = 64;

/// One cell's text and its layout, while it grows.
#[derive(Debug)]
pub struct Growing {
    cell: CellId,
    width: u16,
    theme: u64,
    text: CleanText,
    layout: StreamLayout,
    /// Rows that further text cannot change.
    kept: Rows,
    /// The layout's restarts that `kept` belongs to.
    restarts: u64,
}

impl Growing {
    pub fn new(cell: CellId, width: u16, theme: &Theme) -> Self {
        Self {
            cell,
            width,
            theme: theme.id,
            text: CleanText::default(),
            layout: StreamLayout::new(width, theme.clone()),
            kept: Rows::default(),
            restarts: 0,
        }
    }

    /// Whether this can go on with the cell in this look.
    pub fn fits(&self, cell: CellId, width: u16, theme: &Theme) -> bool {
        (self.cell, self.width, self.theme) == (cell, width, theme.id)
    }

    /// Lays out what is new in the raw text and returns all rows.
    pub fn rows(&mut self, raw: &str) -> Rows {
        let lines = self.layout.update(self.text.update(raw)).len();
        if self.restarts != self.layout.restarts() {
            self.restarts = self.layout.restarts();
            self.kept = Rows::default();
        }
        let frozen = self.layout.frozen_rows();
        let kept = self.kept.height();
        if frozen as u32 >= kept + PIECE_ROWS {
            self.kept.push(self.layout.lines()[kept as usize..frozen].into());
        }
        let mut rows = self.kept.clone();
        if lines > rows.height() as usize {
            rows.push(self.layout.lines()[rows.height() as usize..].into());
        }
        rows
    }
}

/// A text cleaned as far as it came. Nothing in a line reaches beyond its end, so whole lines are done once.
#[derive(Debug, Default)]
struct CleanText {
    text: String,
    /// Bytes of the cleaned text that come from whole lines.
    whole: usize,
    /// Bytes of the raw text in whole lines, and the last of them.
    raw: usize,
    check: Vec<u8>,
}

impl CleanText {
    fn update(&mut self, raw: &str) -> &str {
        let is_continued =
            raw.as_bytes().get(..self.raw).is_some_and(|bytes| bytes.ends_with(&self.check));
        if !is_continued || !raw.is_char_boundary(self.raw) {
            *self = Self::default();
        }
        self.text.truncate(self.whole);
        let open = &raw[self.raw..];
        let (lines, rest) = open.split_at(open.rfind('\n').map_or(0, |at| at + 1));
        if !lines.is_empty() {
            self.text.push_str(&sanitize::clean_code(lines));
            self.whole = self.text.len();
            self.raw += lines.len();
            self.check.clear();
            let from = self.raw.saturating_sub(CHECK_BYTES);
            self.check.extend_from_slice(&raw.as_bytes()[from..self.raw]);
        }
        self.text.push_str(&sanitize::clean_code(rest));
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::markdown;
    use proptest::prelude::*;

    const PIECES: [&str; 22] = [
        "word ",
        "漢",
        "\n",
        "\n\n",
        "\t",
        "\r",
        "\r\n",
        "\u{1b}[31m",
        "\u{1b}]0;x",
        "\u{7}",
        "👩",
        "\u{200d}",
        "\u{fe0f}",
        "\u{2028}",
        "```rust\n",
        "```\n",
        "- ",
        "# ",
        "[x]",
        "[x]: http://a\n",
        "| a |\n|---|\n",
        "\0",
    ];

    fn texts() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn every_step_has_the_rows_of_the_whole_text(pieces in texts(), width in 1_u16..30) {
            let theme = Theme::plain();
            let mut growing = Growing::new(CellId(1), width, &theme);
            let mut text = String::new();
            for piece in pieces {
                text.push_str(piece);
                let rows: Vec<_> = growing.rows(&text).from(0).cloned().collect();
                let wanted = markdown::render(&sanitize::clean_code(&text), width, &theme);
                prop_assert_eq!(rows, wanted, "{:?}", text);
            }
        }
    }

    #[test]
    fn a_text_that_was_replaced_is_laid_out_anew() {
        let theme = Theme::plain();
        let mut growing = Growing::new(CellId(1), 20, &theme);
        for text in ["# one\n\ntwo\n\nthree\n", "# two\n\none\n\nthree\n", "", "four"] {
            let rows: Vec<_> = growing.rows(text).from(0).cloned().collect();
            assert_eq!(rows, markdown::render(text, 20, &theme), "{text:?}");
        }
    }
}
