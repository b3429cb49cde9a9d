//! Draws a picker: box, filter, rows with what the filter matched.
//!
//! Reads only, and draws into any rectangle. The highlighted row has a mark of its own, so that it is seen
//! without colours. Not here: where the panel stands (`ui::layout`).

use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use super::theme::{Role, Theme};
use crate::app::panels::picker::{Picker, ShownRow};
use crate::base::text::width;

/// Shown instead of rows.
pub const NO_MATCH: &str = "no match";

/// Shown while nothing is typed.
pub const FILTER_HINT: &str = "type to filter";

const MARK: &str = "› ";
const NO_MARK: &str = "  ";

/// Columns between label, detail and hint.
const GAP: usize = 2;

/// Below these a border would take more than it gives.
const BORDER_COLUMNS_MIN: u16 = 12;
const BORDER_ROWS_MIN: u16 = 4;

/// Returns the rows that the picker wants, border and filter line included; filtering does not change them.
pub fn height(picker: &Picker) -> u16 {
    let (_, all) = picker.counts();
    u16::try_from(all.max(1)).unwrap_or(u16::MAX).saturating_add(3)
}

/// Draws into `area`, whatever its size; returns where the cursor stands.
pub fn draw(picker: &Picker, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return None;
    }
    Clear.render(area, buffer);
    buffer.set_style(area, theme.style(Role::Text));
    let inner = if has_border(area) { area.inner(Margin::new(1, 1)) } else { area };
    if has_border(area) {
        draw_border(picker, theme, area, buffer);
    }
    let cursor = draw_filter(picker, theme, Rect { height: 1, ..inner }, buffer);
    let list = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    if picker.is_empty() && list.height > 0 {
        let mut line = Line::new(list, list.y, buffer);
        line.put(NO_MARK, Style::new());
        line.put(NO_MATCH, theme.style(Role::Dim));
    }
    let rows = picker.shown(usize::from(list.height));
    let label_columns = label_columns(&rows, usize::from(list.width));
    for (row, y) in rows.iter().zip(list.top()..) {
        draw_row(row, theme, label_columns, Line::new(list, y, buffer));
    }
    Some(cursor)
}

fn has_border(area: Rect) -> bool {
    area.width >= BORDER_COLUMNS_MIN && area.height >= BORDER_ROWS_MIN
}

fn draw_border(picker: &Picker, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let style = theme.style(Role::BorderActive);
    Block::bordered().border_type(BorderType::Rounded).border_style(style).render(area, buffer);
    let (matching, all) = picker.counts();
    let count = format!(" {matching}/{all} ");
    let room = usize::from(area.width - 2);
    let count_columns = width::columns(&count);
    let title = format!(" {} ", width::ellipsis(picker.title(), room.saturating_sub(4)));
    buffer.set_stringn(area.x + 1, area.y, &title, room, theme.style(Role::Heading));
    if width::columns(&title) + count_columns < room {
        let x = area.right() - 1 - u16::try_from(count_columns).unwrap_or(0);
        buffer.set_stringn(x, area.y, &count, count_columns, theme.style(Role::Dim));
    }
}

/// Draws the filter; of a long one the end, where the cursor is.
fn draw_filter(picker: &Picker, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Position {
    let mut line = Line::new(area, area.y, buffer);
    line.put("/ ", theme.style(Role::Accent));
    let filter = end_of(picker.filter(), line.room().saturating_sub(1));
    if filter.is_empty() {
        let x = line.x;
        line.put(FILTER_HINT, theme.style(Role::Dim));
        return Position { x: x.min(area.right() - 1), y: area.y };
    }
    line.put(filter, theme.style(Role::Text));
    Position { x: line.x.min(area.right() - 1), y: area.y }
}

/// Returns the longest end of `text` within `columns_max`.
fn end_of(text: &str, columns_max: usize) -> &str {
    let mut over = width::columns(text).saturating_sub(columns_max);
    let mut start = 0;
    for (cluster, columns) in width::graphemes(text) {
        if over == 0 {
            break;
        }
        over = over.saturating_sub(columns);
        start += cluster.len();
    }
    &text[start..]
}

/// Columns of the label column: as wide as the widest, at most two fifths where there are details.
fn label_columns(rows: &[ShownRow<'_>], columns_max: usize) -> usize {
    let widest = rows.iter().map(|shown| width::columns(&shown.row.label)).max().unwrap_or(0);
    let has_details = rows.iter().any(|shown| !shown.row.detail.is_empty());
    if has_details { widest.min(columns_max * 2 / 5) } else { widest }
}

fn draw_row(shown: &ShownRow<'_>, theme: &Theme, label_columns: usize, mut line: Line<'_>) {
    let selection = if shown.is_selected { theme.style(Role::Selection) } else { Style::new() };
    let style = |role: Role| theme.style(role).patch(selection);
    let matched = style(Role::Text).patch(theme.style(Role::Match));
    line.fill(style(Role::Text));
    line.put(if shown.is_selected { MARK } else { NO_MARK }, style(Role::Accent));

    // The hint gives way first: label and detail say which row it is.
    let hint_columns = width::columns(&shown.row.hint);
    let shows_hint = hint_columns > 0 && label_columns + 2 * GAP + hint_columns <= line.room();
    if shows_hint {
        line.put_right(&shown.row.hint, hint_columns, style(Role::Dim));
        line.end -= u16::try_from(hint_columns + GAP).unwrap_or(line.end);
    }
    let label_room = if shown.row.detail.is_empty() { line.room() } else { label_columns };
    let label = width::ellipsis(&shown.row.label, label_room.min(line.room()));
    let after_label = line.x.saturating_add(u16::try_from(label_columns + GAP).unwrap_or(u16::MAX));
    line.put_matched(&label, &shown.matches.label, style(Role::Text), matched);
    if shown.row.detail.is_empty() || after_label >= line.end {
        return;
    }
    line.x = after_label;
    let detail = width::ellipsis(&shown.row.detail, line.room());
    line.put_matched(&detail, &shown.matches.detail, style(Role::Dim), matched);
}

/// One line of the screen that is written from left to right and never beyond its end.
struct Line<'b> {
    buffer: &'b mut Buffer,
    x: u16,
    end: u16,
    y: u16,
}

impl<'b> Line<'b> {
    fn new(area: Rect, y: u16, buffer: &'b mut Buffer) -> Self {
        Self { buffer, x: area.left(), end: area.right(), y }
    }

    fn room(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    fn fill(&mut self, style: Style) {
        let width = self.end.saturating_sub(self.x);
        self.buffer.set_style(Rect { x: self.x, y: self.y, width, height: 1 }, style);
    }

    fn put(&mut self, text: &str, style: Style) {
        let room = self.room();
        if room > 0 {
            (self.x, _) = self.buffer.set_stringn(self.x, self.y, text, room, style);
        }
    }

    fn put_right(&mut self, text: &str, columns: usize, style: Style) {
        let x = self.end.saturating_sub(u16::try_from(columns).unwrap_or(u16::MAX)).max(self.x);
        self.buffer.set_stringn(x, self.y, text, usize::from(self.end - x), style);
    }

    /// Writes `text` with the clusters of `matches` in another style.
    fn put_matched(&mut self, text: &str, matches: &[usize], plain: Style, matched: Style) {
        for (index, (cluster, _)) in width::graphemes(text).enumerate() {
            let is_match = matches.binary_search(&index).is_ok();
            self.put(cluster, if is_match { matched } else { plain });
        }
    }
}
