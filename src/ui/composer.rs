//! Draws the composer: box, text, chips, and where the terminal's cursor stands.
//!
//! Reads only: the rows were measured when the text or the width changed. Not here: which rectangle it
//! gets (`ui::layout`).

use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Widget};

use super::theme::{Role, Theme};
use crate::app::composer::{BORDER_COLUMNS_MIN, Composer, PieceKind};
use crate::base::text::width;

/// Shown while there is no text.
pub const PLACEHOLDER: &str = "Ask, or / for commands";

/// Rows that the composer may take: 40 % of the height (spec, workspace-ui, Composer).
const HEIGHT_SHARE_PERCENT: u32 = 40;

/// Below this a border would take more than it gives.
const BORDER_ROWS_MIN: u16 = 3;

/// What the box says about what Enter will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    Work,
    Plan,
    /// The text begins with `!` and will run in the shell.
    Shell,
}

impl Border {
    fn role(self) -> Role {
        match self {
            Self::Work => Role::ModeWork,
            Self::Plan => Role::ModePlan,
            Self::Shell => Role::Warning,
        }
    }
    /// The word that stands for the colour where there is none.
    fn title(self) -> Option<&'static str> {
        match self {
            Self::Work => None,
            Self::Plan => Some(" plan "),
            Self::Shell => Some(" shell "),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Focused,
    /// A panel has the keys: no cursor, dim border.
    Unfocused,
}

/// What the composer looks like.
#[derive(Debug)]
pub struct ComposerView<'a> {
    pub composer: &'a Composer,
    pub theme: &'a Theme,
    pub focus: Focus,
    pub border: Border,
}

/// Returns the rows that the composer wants on a screen of this size, borders included.
pub fn height(composer: &Composer, screen: Rect) -> u16 {
    let share = u32::from(screen.height) * HEIGHT_SHARE_PERCENT / 100;
    let share = u16::try_from(share).unwrap_or(u16::MAX);
    let rows = u16::try_from(composer.row_count()).unwrap_or(u16::MAX);
    let borders = if screen.width < BORDER_COLUMNS_MIN { 0 } else { 2 };
    rows.saturating_add(borders).min(share.max(BORDER_ROWS_MIN)).min(screen.height)
}

/// Draws into `area`, whatever its size; returns where the cursor stands.
pub fn draw(view: &ComposerView<'_>, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return None;
    }
    let has_border = area.width >= BORDER_COLUMNS_MIN && area.height >= BORDER_ROWS_MIN;
    let inner = if has_border { area.inner(Margin::new(2, 1)) } else { area };
    buffer.set_style(area, view.theme.style(Role::Text));
    let rows = usize::from(inner.height);
    let (caret_row, caret_column) = view.composer.caret();
    let top =
        caret_row.saturating_sub(rows / 2).min(view.composer.row_count().saturating_sub(rows));
    if has_border {
        draw_border(view, top, rows, area, buffer);
    }
    if view.composer.is_empty() {
        let hint = width::ellipsis(PLACEHOLDER, usize::from(inner.width));
        buffer.set_string(inner.x, inner.y, hint, view.theme.style(Role::Dim));
    }
    for (row, y) in (top..).zip(inner.top()..inner.bottom()) {
        draw_row(view, row, y, inner, buffer);
    }
    let cursor = Position {
        x: inner.x + u16::try_from(caret_column).unwrap_or(u16::MAX).min(inner.width - 1),
        y: inner.y + u16::try_from(caret_row - top).unwrap_or(u16::MAX).min(inner.height - 1),
    };
    (view.focus == Focus::Focused).then_some(cursor)
}

fn draw_border(view: &ComposerView<'_>, top: usize, rows: usize, area: Rect, buffer: &mut Buffer) {
    let style = match view.focus {
        Focus::Focused => view.theme.style(view.border.role()),
        Focus::Unfocused => view.theme.style(Role::Border),
    };
    let block = Block::bordered().border_type(BorderType::Rounded).border_style(style);
    block.render(area, buffer);
    if let Some(title) = view.border.title() {
        on_border(title, area.x + 2, area.y, style, area, buffer);
    }
    let below = view.composer.row_count().saturating_sub(top + rows);
    let dim = view.theme.style(Role::Dim);
    for (count, arrow, y) in [(top, '↑', area.top()), (below, '↓', area.bottom() - 1)] {
        if count > 0 {
            let mark = format!(" {arrow} {count} more ");
            let columns = u16::try_from(width::columns(&mark)).unwrap_or(u16::MAX);
            let x = area.right().saturating_sub(columns.saturating_add(2)).max(area.x + 1);
            on_border(&mark, x, y, dim, area, buffer);
        }
    }
}

/// Writes on a horizontal border, leaving the corners alone.
fn on_border(text: &str, x: u16, y: u16, style: Style, area: Rect, buffer: &mut Buffer) {
    let room = (area.right() - 1).saturating_sub(x);
    buffer.set_stringn(x, y, text, usize::from(room), style);
}

fn draw_row(view: &ComposerView<'_>, row: usize, y: u16, inner: Rect, buffer: &mut Buffer) {
    let mut x = inner.x;
    for piece in view.composer.row(row) {
        let room = usize::from(inner.right().saturating_sub(x));
        if room == 0 {
            break;
        }
        let role = match piece.kind {
            PieceKind::Text => Role::Text,
            PieceKind::Chip => Role::Accent,
        };
        let style = view.theme.style(role);
        buffer.set_stringn(x, y, &piece.text, room.min(piece.columns.max(1)), style);
        x = x.saturating_add(u16::try_from(piece.columns).unwrap_or(u16::MAX));
    }
}
