//! A panel to read, drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};

use crate::app::panels::info::{Info, InfoRow};
use crate::base::text::{sanitize, width, wrap};

use super::flow;
use super::theme::{Role, Theme};

/// Columns of the left column of pairs at most; more of the panel belongs to what they mean.
const NAME_COLUMNS_MAX: usize = 26;

/// Rows that the panel would like, borders included.
pub fn height(panel: &Info, columns: u16, theme: &Theme) -> u16 {
    let lines = lines(panel, columns.saturating_sub(2), theme).len();
    u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2)
}

pub fn draw(panel: &Info, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.style(Role::BorderActive))
        .title(format!(" {} ", panel.title))
        .title_bottom(" ↑↓ scroll · Esc closes ");
    let inner = block.inner(area);
    block.render(area, buf);
    let lines = lines(panel, inner.width, theme);
    let top = panel.top.min(lines.len().saturating_sub(usize::from(inner.height)));
    for (line, y) in lines[top..].iter().zip(inner.y..inner.bottom()) {
        buf.set_line(inner.x, y, line, inner.width);
    }
}

fn lines(panel: &Info, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let name_columns = panel
        .rows
        .iter()
        .map(|row| match row {
            InfoRow::Pair(name, _) => width::columns(&sanitize::line(name)),
            InfoRow::Heading(_) | InfoRow::Text(_) => 0,
        })
        .max()
        .unwrap_or(0)
        .min(NAME_COLUMNS_MAX)
        .min(usize::from(columns) / 2);
    let mut out = Vec::new();
    for row in &panel.rows {
        match row {
            InfoRow::Heading(text) => {
                out.push(Line::default());
                out.push(Line::styled(format!(" {text}"), theme.style(Role::Heading)));
            }
            InfoRow::Text(text) => {
                let line = Line::raw(format!(" {}", sanitize::line(text)));
                out.extend(flow::wrap(&line, columns, 1));
            }
            InfoRow::Pair(name, value) => {
                out.extend(pair(name, value, name_columns, columns, theme));
            }
        }
    }
    out
}

fn pair(
    name: &str,
    value: &str,
    name_columns: usize,
    columns: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let left = wrapped(&sanitize::line(name), name_columns);
    let right =
        wrapped(&sanitize::line(value), usize::from(columns).saturating_sub(name_columns + 4));
    (0..left.len().max(right.len()))
        .map(|row| {
            let name = left.get(row).cloned().unwrap_or_default();
            let gap = " ".repeat(name_columns.saturating_sub(width::columns(&name)) + 2);
            Line::from(vec![
                Span::raw(" "),
                Span::styled(name, theme.style(Role::Accent)),
                Span::raw(gap),
                Span::raw(right.get(row).cloned().unwrap_or_default()),
            ])
        })
        .collect()
}

/// Rows of one column, without the spaces at their ends.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let rows = wrap::rows(text, columns.max(1));
    rows.into_iter().map(|range| text[range].trim_end().to_owned()).collect()
}
