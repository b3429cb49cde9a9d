//! The stored summary: a rounded panel titled `Earlier context`.

use ratatui::text::{Line, Span};

use crate::app::cells::cell::Fold;
use crate::base::text::{sanitize, width as columns};
use crate::ui::markdown;
use crate::ui::theme::{Role, Theme};

pub const TITLE: &str = "Earlier context";

/// Columns of the borders and the space inside them.
const FRAME_COLUMNS: u16 = 4;
/// Rows of text while folded.
const FOLDED_ROWS: usize = 3;

pub fn render(text: &str, fold: Fold, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let clean = sanitize::clean_code(text);
    // A frame needs room for its title and some text.
    if usize::from(width) < TITLE.len() + 5 {
        return markdown::render(&clean, width, theme);
    }
    let inner = width - FRAME_COLUMNS;
    let mut rows = markdown::render(&clean, inner, theme);
    if fold == Fold::Folded && rows.len() > FOLDED_ROWS + 1 {
        let hidden = rows.len() - FOLDED_ROWS;
        rows.truncate(FOLDED_ROWS);
        rows.push(super::more(hidden, inner, theme));
    }
    framed(rows, inner, theme)
}

fn framed(rows: Vec<Line<'static>>, inner: u16, theme: &Theme) -> Vec<Line<'static>> {
    let border = theme.style(Role::Border);
    let inner = usize::from(inner);
    let top = vec![
        Span::styled("╭ ", border),
        Span::styled(TITLE, theme.style(Role::Heading)),
        Span::styled(format!(" {}╮", "─".repeat(inner - TITLE.len())), border),
    ];
    let mut framed = vec![Line::from(top)];
    for row in rows {
        let used: usize = row.spans.iter().map(|span| columns::columns(&span.content)).sum();
        let mut spans = vec![Span::styled("│ ", border)];
        spans.extend(row.spans.into_iter().map(|span| span.patch_under(row.style)));
        spans.push(Span::styled(format!("{} │", " ".repeat(inner.saturating_sub(used))), border));
        framed.push(Line::from(spans));
    }
    framed.push(Line::styled(format!("╰{}╯", "─".repeat(inner + 2)), border));
    framed
}

/// A row's own style lies below that of its spans.
trait PatchUnder {
    fn patch_under(self, below: ratatui::style::Style) -> Self;
}

impl PatchUnder for Span<'static> {
    fn patch_under(mut self, below: ratatui::style::Style) -> Self {
        self.style = below.patch(self.style);
        self
    }
}
