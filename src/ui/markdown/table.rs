//! Tables fitted to the width.

use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::Look;
use crate::ui::flow;
use crate::ui::theme::Role;

/// Columns that a cell needs at least; with less, the table becomes rows of names and values.
const CELL_COLUMNS_MIN: usize = 3;

#[derive(Debug, Default)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    /// The first row is the head.
    pub rows: Vec<Vec<Line<'static>>>,
}

pub fn lines(table: &Table, look: Look<'_>) -> Vec<Line<'static>> {
    let column_count = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let room = usize::from(look.width).saturating_sub(3 * column_count + 1);
    if column_count == 0 {
        return Vec::new();
    }
    if room < column_count * CELL_COLUMNS_MIN
        && natural(table, column_count).iter().sum::<usize>() > room
    {
        return pairs(table, look);
    }
    let widths = fitted(natural(table, column_count), room);
    let rule = |left: char, middle: char, right: char| {
        let bars: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
        let text = format!("{left}{}{right}", bars.join(&middle.to_string()));
        Line::from(Span::styled(text, look.theme.style(Role::Border)))
    };
    let rows: Vec<_> = table.rows.iter().map(|row| row_lines(table, row, &widths, look)).collect();
    let has_tall_rows = rows.iter().skip(1).any(|row| row.len() > 1);
    let mut lines = vec![rule('┌', '┬', '┐')];
    for (index, row) in rows.into_iter().enumerate() {
        if index == 1 || (index > 1 && has_tall_rows) {
            lines.push(rule('├', '┼', '┤'));
        }
        lines.extend(row);
    }
    lines.push(rule('└', '┴', '┘'));
    lines
}

fn natural(table: &Table, column_count: usize) -> Vec<usize> {
    let width = |row: &Vec<Line<'_>>, column: usize| row.get(column).map_or(0, flow::line_width);
    (0..column_count)
        .map(|column| table.rows.iter().map(|row| width(row, column)).max().unwrap_or(0).max(1))
        .collect()
}

/// Lowers the widest columns to one level until all fit.
fn fitted(natural: Vec<usize>, room: usize) -> Vec<usize> {
    let at = |level: usize| natural.iter().map(|width| (*width).min(level)).sum::<usize>();
    if at(usize::MAX) <= room {
        return natural;
    }
    let level = (1..=room).rev().find(|level| at(*level) <= room).unwrap_or(1);
    let mut spare = room.saturating_sub(at(level));
    natural
        .iter()
        .map(|width| {
            let more = usize::from(*width > level && spare > 0);
            spare -= more;
            (*width).min(level) + more
        })
        .collect()
}

fn row_lines(
    table: &Table,
    row: &[Line<'static>],
    widths: &[usize],
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let empty = Line::default();
    let cells: Vec<_> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| flow::wrap(row.get(column).unwrap_or(&empty), *width as u16, 0))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    let border = look.theme.style(Role::Border);
    (0..height)
        .map(|index| {
            let mut spans = vec![Span::styled("│ ", border)];
            for (column, width) in widths.iter().enumerate() {
                let cell = cells[column].get(index).unwrap_or(&empty);
                let free = width.saturating_sub(flow::line_width(cell));
                let left = match table.alignments.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    Some(Alignment::Left | Alignment::None) | None => 0,
                };
                spans.push(Span::raw(" ".repeat(left)));
                spans.extend(cell.spans.iter().cloned());
                spans.push(Span::raw(" ".repeat(free - left)));
                let end = if column + 1 == widths.len() { " │" } else { " │ " };
                spans.push(Span::styled(end, border));
            }
            spans.retain(|span| !span.content.is_empty());
            Line::from(spans)
        })
        .collect()
}

fn pairs(table: &Table, look: Look<'_>) -> Vec<Line<'static>> {
    let head = table.rows.first().map_or(&[][..], Vec::as_slice);
    let mut lines = Vec::new();
    for row in table.rows.iter().skip(1) {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        for (column, cell) in row.iter().enumerate() {
            let mut spans = head.get(column).map_or_else(Vec::new, |name| name.spans.clone());
            spans
                .push(Span::styled(": ", look.theme.style(Role::Dim).add_modifier(Modifier::BOLD)));
            spans.extend(cell.spans.iter().cloned());
            lines.extend(flow::wrap(&Line::from(spans), look.width, 2));
        }
    }
    if table.rows.len() == 1 {
        lines.extend(head.iter().flat_map(|name| flow::wrap(name, look.width, 2)));
    }
    lines
}
